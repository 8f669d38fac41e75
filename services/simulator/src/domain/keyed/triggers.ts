import type { ResponseCode } from '@gateway/contracts';
import { RESPONSE_CODES, isRegisteredCode, TEST_CURRENCY } from '@gateway/contracts';

/** How a bank goes wrong on purpose: not by a wrong answer only, but by what it does and does not do. */
export type Misbehaviour =
  | 'commits-and-never-answers'
  | 'commits-and-answers-garbage'
  | 'drops-connection-before-commit'
  | 'commits-and-says-unknown'
  | 'fails-before-commit'
  | 'commits-after-first-inquiry';

/** What an amount makes a bank do. */
export type Behaviour =
  { kind: 'approve' } | { kind: 'decline'; code: ResponseCode } | { kind: 'misbehave'; how: Misbehaviour };

/** No bank declines with it: the registry leaves it out. */
const UNREGISTERED_TRIGGER = 3_133;

const misbehaviours: ReadonlyMap<number, Misbehaviour> = new Map([
  [RESPONSE_CODES.BANK_TIMEOUT, 'commits-and-never-answers'],
  [RESPONSE_CODES.BANK_RESPONSE_MALFORMED, 'commits-and-answers-garbage'],
  [RESPONSE_CODES.BANK_CONNECTION_ERROR, 'drops-connection-before-commit'],
  [RESPONSE_CODES.BANK_STATUS_UNKNOWN, 'commits-and-says-unknown'],
  [RESPONSE_CODES.BANK_INTERNAL_ERROR, 'fails-before-commit'],
  [UNREGISTERED_TRIGGER, 'commits-after-first-inquiry'],
]);

const FIRST_CODE = RESPONSE_CODES.DECLINED_BY_NETWORK;
const LAST_CARD_CODE = RESPONSE_CODES.TRUST_LIST_REVIEW;
/** Payouts have codes of their own. */
const LAST_PAYOUT_CODE = RESPONSE_CODES.CARD_NOT_REGISTERED;
/** A code is the amount times 100, so one unit of it is this many 1/10000. */
const E4_PER_CODE = 100;
/** An authorization of 10.00 more than a code's amount is approved, and its void behaves like that code. */
const VOID_OFFSET_E4 = 100_000;

/** What the amount of an authorize, sale, capture or refund forces. Amounts of other currencies force nothing. */
export function behaviourOfAmount(amountE4: number, currency: string): Behaviour {
  return forcedUpTo(LAST_CARD_CODE, amountE4, currency);
}

/** What the amount of a payout forces. */
export function behaviourOfPayout(amountE4: number, currency: string): Behaviour {
  return forcedUpTo(LAST_PAYOUT_CODE, amountE4, currency);
}

/** What the void of an authorization of this amount does: 41.01 declines it with 3101. */
export function behaviourOfVoid(authorizedE4: number, currency: string): Behaviour {
  return authorizedE4 < VOID_OFFSET_E4
    ? { kind: 'approve' }
    : behaviourOfAmount(authorizedE4 - VOID_OFFSET_E4, currency);
}

function forcedUpTo(lastCode: number, amountE4: number, currency: string): Behaviour {
  if (currency !== TEST_CURRENCY || amountE4 % E4_PER_CODE !== 0) return { kind: 'approve' };
  const code = amountE4 / E4_PER_CODE;
  if (code < FIRST_CODE || code > lastCode) return { kind: 'approve' };
  const how = misbehaviours.get(code);
  if (how !== undefined) return { kind: 'misbehave', how };
  return isRegisteredCode(code) ? { kind: 'decline', code } : { kind: 'approve' };
}
