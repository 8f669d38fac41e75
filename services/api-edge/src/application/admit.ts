import type { Account } from '@gateway/accounts';
import { isAllowedSource, isOpen } from '@gateway/accounts';
import type { RawText } from '@gateway/contracts';
import { maskCardNumbers, RESPONSE_CODES } from '@gateway/contracts';
import type { RefusalReason, Slot } from '@gateway/service-kit';
import { assertNever } from '@gateway/service-kit';
import type { RawFields } from '../domain/body';
import { ENVELOPE_HINTS, INVALID, readApiVersion, readText } from '../domain/envelope-fields';
import { hintOf } from '../domain/field-table';
import type { Ports } from './ports';
import type { Answer, Session, Why } from './responses';
import { failure, fieldFailure, problem, refusal, tooManyRequests, unavailable } from './responses';

export interface Incoming {
  fields: RawFields;
  /** The client's address: the socket's, or a trusted proxy's statement. */
  sourceIp: string;
  endpoint: string;
  idempotencyKey?: RawText | undefined;
  /** Aborted when the client leaves before its answer. */
  gone(): AbortSignal;
  session: Session;
}

const TOO_MANY_AT_ONCE = { reason: 'too-many-at-once', retryAfterSeconds: 1 } as const;

/** Fields that the endpoint's answers repeat from the request, as soon as they are known. */
export type Echoed = readonly ('merchant_account' | 'transaction_unique_id')[];

export const CARD_ECHOES: Echoed = ['merchant_account', 'transaction_unique_id'];

export function sessionOf({ session, fields }: Incoming, echoed: Echoed): Session {
  const text = (name: Echoed[number], min: number, max: number): string | undefined => {
    const value = echoed.includes(name) ? readText(fields, name, min, max) : undefined;
    return value === INVALID ? undefined : value;
  };
  return {
    ...session,
    merchantAccount: text('merchant_account', 6, 32),
    transactionUniqueId: text('transaction_unique_id', 1, 45),
  };
}

/** An account within its limits, and its slot, which the caller releases. */
export interface Admitted {
  readonly account: Account;
  readonly slot: Slot;
}

/** Steps 2 and 3 of the order of checks: version, then credentials. Only authenticated requests take a slot. */
export async function admit(
  ports: Ports,
  incoming: Incoming,
  session: Session,
): Promise<Admitted | { refused: Answer }> {
  const now = ports.now();
  const refuse = (answer: Answer): { refused: Answer } => ({ refused: { ...answer, toStranger: true } });
  const version = readApiVersion(incoming.fields);
  if (version !== 'ok') {
    return refuse(fieldFailure(session, now, [versionProblem(version)]));
  }
  const merchantAccount = readText(incoming.fields, 'merchant_account');
  const password = readText(incoming.fields, 'merchant_password');
  const absent = [
    ...(merchantAccount === undefined ? [missing('merchant_account')] : []),
    ...(password === undefined ? [missing('merchant_password')] : []),
  ];
  if (absent.length > 0) return refuse(fieldFailure(session, now, absent));
  const verdict = await ports.credentials.verify({ merchantAccount, password, source: incoming.sourceIp });
  switch (verdict.kind) {
    case 'throttled':
      noteRefusal(ports, incoming, 'throttled');
      return refuse(
        tooManyRequests(session, now, { reason: 'too-many-logins', retryAfterSeconds: verdict.retryAfterSeconds }),
      );
    case 'refused':
      noteRefusal(ports, incoming, 'wrong-credentials');
      return refuse(failure(session, now, RESPONSE_CODES.WRONG_CREDENTIALS));
    case 'ok':
      return admitAccount(ports, verdict.account, incoming, session);
    default:
      return assertNever(verdict);
  }
}

/** The name that an unauthenticated request gives may be anything. */
function noteRefusal(ports: Ports, { fields, sourceIp }: Incoming, reason: RefusalReason<'login'>): void {
  const name = readText(fields, 'merchant_account', 6, 32);
  const named = name === undefined || name === INVALID ? {} : { merchantAccount: maskCardNumbers(name) };
  ports.refuseLogin(reason, { source: sourceIp, ...named });
}

function versionProblem(version: 'missing' | 'unsupported') {
  return version === 'missing'
    ? missing('api_version')
    : problem(RESPONSE_CODES.API_VERSION_UNSUPPORTED, 'api_version', 'version', hintOf(ENVELOPE_HINTS.api_version));
}

function missing(field: keyof typeof ENVELOPE_HINTS) {
  return problem(RESPONSE_CODES.FIELD_MISSING, field, 'missing', hintOf(ENVELOPE_HINTS[field]));
}

const NOT_ACTIVE: Why = {
  field: 'merchant_account',
  reason: 'account-not-active',
  hint: 'The account is suspended or closed: ask the operator',
};

/** The address is as the gateway sees it, which the merchant may not know. */
function notAllowed({ sourceIp }: Incoming): Why {
  const hint = `The request came from ${sourceIp}: send from an address on the account's list, or ask the operator to add it`;
  return { field: 'IP address', reason: 'address-not-allowed', hint };
}

async function admitAccount(
  ports: Ports,
  account: Account,
  incoming: Incoming,
  session: Session,
): Promise<Admitted | { refused: Answer }> {
  const now = ports.now();
  if (!isOpen(account)) {
    noteRefusal(ports, incoming, 'account-not-active');
    return { refused: refusal(session, now, RESPONSE_CODES.ACCOUNT_NOT_ACTIVE, NOT_ACTIVE) };
  }
  if (!isAllowedSource(account, incoming.sourceIp)) {
    noteRefusal(ports, incoming, 'address-not-allowed');
    return { refused: refusal(session, now, RESPONSE_CODES.IP_ADDRESS_NOT_ALLOWED, notAllowed(incoming)) };
  }
  const taken = ports.rateLimiter.take(account, incoming.fields.bytes);
  if (!taken.allowed) {
    const { retryAfterSeconds } = taken;
    return { refused: tooManyRequests(session, now, { reason: 'rate-limit', retryAfterSeconds }) };
  }
  const slot = await ports.requestSlots.take(account);
  if (slot === 'share') return { refused: tooManyRequests(session, now, TOO_MANY_AT_ONCE) };
  return slot === 'full' ? { refused: unavailable(session, ports.now()) } : { account, slot };
}
