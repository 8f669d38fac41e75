import { Secret } from '@gateway/contracts';
import type { Collection } from '@gateway/mongo';
import type { Sealed } from '@gateway/vault';
import type { Account, AccountSettings, FormerSigning, Terminal } from './account';
import type { StoredSecret } from './stored-secret';
import type { AccountState, SuspendedFrom } from './account-state';
import { toCardRule } from './card-rules';
import { toPayoutRule } from './payout-rules';
import type { RequestLimits } from './request-limits';
import { requestLimitsOf } from './request-limits';

export const ACCOUNTS = 'accounts';

/** The stored document; `_id` is the merchant account. */
export interface AccountRecord extends Omit<AccountSettings, keyof RequestLimits>, Partial<RequestLimits> {
  _id: string;
  state: AccountState;
  suspendedFrom?: SuspendedFrom;
  passwordHash: string;
  passwordVerifier?: Sealed;
  signingPassword: StoredSecret;
  payoutSecret: StoredSecret;
  formerSigning?: FormerSigning;
  terminals: readonly Terminal[];
  revision: number;
}

/** Reads one account without mongoose, which only changes need: a service that makes none never loads it. */
export async function loadAccount(
  accounts: Collection<AccountRecord>,
  merchantAccount: string,
): Promise<Account | undefined> {
  // Only pages show a logo, and thousands of them would fill the caches of all services.
  const record = await accounts.findOne({ _id: merchantAccount }, { projection: { logo: 0 } });
  return record === null ? undefined : toAccount(record);
}

/** The account's logo; undefined if it has none. */
export async function loadLogo(
  accounts: Collection<AccountRecord>,
  merchantAccount: string,
): Promise<string | undefined> {
  const record = await accounts.findOne({ _id: merchantAccount }, { projection: { logo: 1 } });
  return record?.logo;
}

/** Lists the fields, so that fields of a later release do not appear in this one's output. */
export function toAccount(record: AccountRecord): Account {
  return {
    merchantAccount: record._id,
    state: record.state,
    ...(record.displayName === undefined ? {} : { displayName: record.displayName }),
    ...(record.logo === undefined ? {} : { logo: record.logo }),
    transactionTypes: [...record.transactionTypes],
    terminals: record.terminals.map(toTerminal),
    limits: record.limits.map(({ currency: code, minE4, maxE4 }) => ({ currency: code, minE4, maxE4 })),
    ipAllowlist: [...record.ipAllowlist],
    returnHosts: [...record.returnHosts],
    ...requestLimitsOf(record),
    ...(record.holdCallbackHours === undefined ? {} : { holdCallbackHours: record.holdCallbackHours }),
    customParameters: [...record.customParameters],
    ...(record.cardHashBesideDigits === undefined ? {} : { cardHashBesideDigits: record.cardHashBesideDigits }),
    ...(record.cardNumbers === undefined
      ? {}
      : { cardNumbers: { perBin: record.cardNumbers.perBin, inAll: record.cardNumbers.inAll } }),
    payoutFee: { fixedE4: record.payoutFee.fixedE4, percentE4: record.payoutFee.percentE4 },
    // Accounts of earlier releases lack both.
    payoutInstant: record.payoutInstant ?? false,
    ...(record.payoutDebtor === undefined ? {} : { payoutDebtor: record.payoutDebtor }),
    payoutRules: (record.payoutRules ?? []).map(toPayoutRule),
    ...(record.cardRules === undefined ? {} : { cardRules: record.cardRules.map(toCardRule) }),
    ...(record.testCardRules === undefined ? {} : { testCardRules: record.testCardRules.map(toCardRule) }),
    revision: record.revision,
    credentials: new Secret({
      passwordHash: record.passwordHash,
      ...(record.passwordVerifier === undefined ? {} : { passwordVerifier: toSealed(record.passwordVerifier) }),
      signingPassword: toStoredSecret(record.signingPassword),
      payoutSecret: toStoredSecret(record.payoutSecret),
      ...(record.formerSigning === undefined ? {} : { formerSigning: toFormerSigning(record.formerSigning) }),
    }),
  };
}

function toTerminal(stored: Terminal): Terminal {
  const { midReference, midId, name, currency: code, acquirer, active, holdSeconds, lateVoid } = stored;
  const terminal = { midReference, midId, name, currency: code, acquirer, active, lateVoid };
  return holdSeconds === undefined ? terminal : { ...terminal, holdSeconds };
}

function toFormerSigning({ password, until }: FormerSigning): FormerSigning {
  return { password: toStoredSecret(password), until };
}

interface Stored {
  keyId: string;
  /** The driver's documents hold its Binary, mongoose's a Buffer. */
  data: Buffer | { buffer: Uint8Array };
  writerKeyId?: string;
}

export function toStoredSecret(stored: Stored): StoredSecret {
  const sealed = toSealed(stored);
  return stored.writerKeyId === undefined ? sealed : { ...sealed, writerKeyId: stored.writerKeyId };
}

function toSealed({ keyId, data }: Stored): Sealed {
  return { keyId, data: Buffer.from(Buffer.isBuffer(data) ? data : data.buffer) };
}
