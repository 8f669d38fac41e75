import { TRANSACTION_TYPES } from '@gateway/contracts';
import type { NumberLimits, Sealed } from '@gateway/vault';
import type { StoredSecret } from './stored-secret';
import type { AccountState } from './account-state';
import type { CardRules } from './card-rules';
import type { CustomParameter, Secret } from '@gateway/contracts';

/** What can be enabled for an account: the card requests, and SEPA payouts. */
export const ACCOUNT_TRANSACTION_TYPES = [...TRANSACTION_TYPES, 'PAYOUT'] as const;
export type AccountTransactionType = (typeof ACCOUNT_TRANSACTION_TYPES)[number];

/** An account's access to an acquirer in one currency. */
export interface Terminal {
  /** `MD` and 14 upper-case hex digits: the merchants' `mid_reference`. */
  readonly midReference: string;
  /** 1 to 20 digits. */
  readonly midId: string;
  readonly name: string;
  /** ISO 4217 alpha-3. */
  readonly currency: string;
  /** Name of the connector. */
  readonly acquirer: string;
  readonly active: boolean;
  /** Hold of an authorization; if absent, the gateway's default. */
  readonly holdSeconds?: number;
  /** True if a settled authorization can still be voided. */
  readonly lateVoid: boolean;
}

/** Bounds of an amount, both inclusive, in 1/10000 of the currency. */
export interface AmountLimit {
  readonly currency: string;
  readonly minE4: number;
  readonly maxE4: number;
}

/** `fixedE4` in 1/10000 of the payout's currency, `percentE4` in 1/10000 of a percent (1 % is 10000). */
export interface PayoutFee {
  readonly fixedE4: number;
  readonly percentE4: number;
}

/**
 * One rule that an account's payouts are screened by. Amounts are in 1/10000 of the currency, days in UTC. A country is
 * that of the IBAN or of the receiver's address, ISO 3166-1 alpha-2. IBANs are in electronic form.
 */
export type PayoutRule =
  | { readonly kind: 'daily-amount'; readonly currency: string; readonly maxE4: number }
  | { readonly kind: 'daily-count'; readonly max: number }
  | { readonly kind: 'blocked-countries'; readonly countries: readonly string[] }
  | { readonly kind: 'blocked-ibans'; readonly ibans: readonly string[] }
  /** Largest sum to a receiver until payouts of some age and volume have made it known (ADR 0019). */
  | { readonly kind: 'first-time-receiver'; readonly currency: string; readonly maxE4: number };

export type PayoutRuleKind = PayoutRule['kind'];

/** Set by an operator. */
export interface AccountSettings extends CardRules {
  /** What cardholders know the merchant by; see display-name.ts. If absent, the account's name. */
  readonly displayName?: string | undefined;
  /** Shown on card-entry pages; see logo.ts. In base64. Only administration and `logos` read it. */
  readonly logo?: string | undefined;
  readonly transactionTypes: readonly AccountTransactionType[];
  /** At most one per currency; if absent, the interface's own bounds apply. */
  readonly limits: readonly AmountLimit[];
  /** Allowed sources of requests: addresses and CIDRs. Empty allows all. */
  readonly ipAllowlist: readonly string[];
  /** Allowed hosts, without port, of a 3-D Secure `TermUrl`. */
  readonly returnHosts: readonly string[];
  /** Requests per second, in each replica of api-edge. */
  readonly rateLimitPerSecond: number;
  /** Concurrent requests per replica of api-edge. */
  readonly maxConcurrentRequests: number;
  /**
   * Callbacks before and at the end of a hold, and the hold's end in CHECK: so many hours before. Absent: none of them.
   */
  readonly holdCallbackHours?: number | undefined;
  /** Activated optional response and callback parameters. */
  readonly customParameters: readonly CustomParameter[];
  /** Shows a hash of the card's number beside its first six and last four digits. */
  readonly cardHashBesideDigits?: boolean | undefined;
  /** Different card numbers in a day; if absent, `DEFAULT_NUMBER_LIMITS`. */
  readonly cardNumbers?: NumberLimits | undefined;
  readonly payoutFee: PayoutFee;
  /** Payouts go as SEPA instant credit transfers. */
  readonly payoutInstant?: boolean;
  /** IBAN of the operator's own account that pays this account's payouts in EUR. Without it there are none. */
  readonly payoutDebtor?: string;
  /** At most one per kind and currency. Without a daily amount there are no payouts in that currency. */
  readonly payoutRules?: readonly PayoutRule[];
}

export interface AccountCredentials {
  /** See passwords.ts. */
  readonly passwordHash: string;
  /** Tells whether a request's password is right. Accounts that an earlier release wrote lack it. */
  readonly passwordVerifier?: Sealed;
  readonly signingPassword: StoredSecret;
  readonly payoutSecret: StoredSecret;
  /** The previous password, if the operator wants it to sign callbacks for a while. */
  readonly formerSigning?: FormerSigning;
}

export interface FormerSigning {
  readonly password: StoredSecret;
  /** Epoch ms from which the new one signs. */
  readonly until: number;
}

/** A merchant account as services see it. The cache shares it with all readers, so never change it in place. */
export interface Account extends AccountSettings {
  readonly merchantAccount: string;
  readonly state: AccountState;
  readonly terminals: readonly Terminal[];
  /** Counts the changes. */
  readonly revision: number;
  readonly credentials: Secret<AccountCredentials>;
}

/** interface.md: `merchant_account` and `merchant_password` have 6 to 32 characters. */
export const MIN_CREDENTIAL_LENGTH = 6;
export const MAX_CREDENTIAL_LENGTH = 32;
