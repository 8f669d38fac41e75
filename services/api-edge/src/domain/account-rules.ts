import type { TransactionType } from '@gateway/contracts';
import { RESPONSE_CODES, TEST_CURRENCY, isWholeInMinorUnits } from '@gateway/contracts';

/** Facts about the account that the rules need. */
export interface AccountForRules {
  /** False: test currency only. */
  readonly activated: boolean;
  readonly terminals: readonly { readonly currency: string; readonly midReference: string; readonly active: boolean }[];
  /** Bounds are inclusive. A currency without an entry is unlimited. */
  readonly limits: readonly { readonly currency: string; readonly minE4: number; readonly maxE4: number }[];
  /** Currencies in which the account may pay out. */
  readonly payoutCurrencies: readonly string[];
}

/** The part of a request that the rules read. Every `CardRequest` has this shape; one without money passes. */
export interface RequestForRules {
  readonly transactionType: TransactionType;
  readonly amountE4?: number;
  readonly currency?: string;
  readonly midReference?: string;
}

/** Codes of step 6. Each has its reason in `whyAccountRefuses`. */
export type AccountRefusal = (typeof RESPONSE_CODES)[
  | 'ACCOUNT_NOT_ACTIVATED'
  | 'NO_MID_FOR_CURRENCY'
  | 'AMOUNT_OUT_OF_LIMITS'
  | 'MID_NOT_ACTIVE'
  | 'AMOUNT_INCORRECT'
  | 'QUERY_TIMES_OUT_OF_ORDER'];

/** A zero amount verifies the card; it moves nothing. */
const MAY_BE_ZERO: ReadonlySet<TransactionType> = new Set(['AUTH', 'AUTH3D']);

/** A follow-up goes to its base transaction's terminal, even if that one accepts no new payments. */
const FOLLOW_UPS: ReadonlySet<TransactionType> = new Set(['SETTLE', 'VOID', 'REFUND']);

/**
 * Step 6 of the order of checks (decisions.md, section 2): the first refusing code, or undefined. Without
 * `mid_reference`, a currency whose terminals are all inactive has none (2006). With it, the named terminal must be an
 * active one of the request's currency (2005).
 */
export function checkAccountRules(
  request: RequestForRules,
  account: Omit<AccountForRules, 'payoutCurrencies'>,
): AccountRefusal | undefined {
  const { transactionType, amountE4, currency, midReference } = request;
  if (currency === undefined || amountE4 === undefined) return undefined;

  if (!isActivatedFor(account, currency)) return RESPONSE_CODES.ACCOUNT_NOT_ACTIVATED;

  const inactiveCount = midReference !== undefined || FOLLOW_UPS.has(transactionType);
  const terminals = account.terminals.filter((terminal) => terminal.currency === currency);
  if (!terminals.some((terminal) => terminal.active || inactiveCount)) return RESPONSE_CODES.NO_MID_FOR_CURRENCY;

  if (!isWithinLimits(account, { amountE4, currency })) return RESPONSE_CODES.AMOUNT_OUT_OF_LIMITS;

  const isNamed = terminals.some((terminal) => terminal.active && terminal.midReference === midReference);
  if (midReference !== undefined && !isNamed) return RESPONSE_CODES.MID_NOT_ACTIVE;

  if (amountE4 === 0 && !MAY_BE_ZERO.has(transactionType)) return RESPONSE_CODES.AMOUNT_INCORRECT;
  return isWholeInMinorUnits(amountE4, currency) ? undefined : RESPONSE_CODES.AMOUNT_INCORRECT;
}

interface Money {
  readonly amountE4: number;
  readonly currency: string;
}

/** Step 6 for payouts, which have no terminals. The account's limits bound the amount without its fee. */
export function checkPayoutRules(
  { amountE4, currency }: Money,
  account: Pick<AccountForRules, 'activated' | 'limits' | 'payoutCurrencies'>,
): AccountRefusal | undefined {
  if (!isActivatedFor(account, currency)) return RESPONSE_CODES.ACCOUNT_NOT_ACTIVATED;
  if (!account.payoutCurrencies.includes(currency)) return RESPONSE_CODES.NO_MID_FOR_CURRENCY;
  if (!isWithinLimits(account, { amountE4, currency })) return RESPONSE_CODES.AMOUNT_OUT_OF_LIMITS;
  return amountE4 > 0 && isWholeInMinorUnits(amountE4, currency) ? undefined : RESPONSE_CODES.AMOUNT_INCORRECT;
}

function isActivatedFor({ activated }: Pick<AccountForRules, 'activated'>, currency: string): boolean {
  return activated || currency === TEST_CURRENCY;
}

function isWithinLimits({ limits }: Pick<AccountForRules, 'limits'>, { amountE4, currency }: Money): boolean {
  return limits.every((limit) => limit.currency !== currency || (amountE4 >= limit.minE4 && amountE4 <= limit.maxE4));
}
