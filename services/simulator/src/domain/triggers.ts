import type { ResponseCode } from '@gateway/contracts';
import { RESPONSE_CODES, isRegisteredCode, TEST_CURRENCY } from '@gateway/contracts';

/** How a bank misbehaves on purpose, in what it commits as well as in what it answers. */
export type Misbehaviour =
  | 'commits-and-never-answers'
  | 'commits-and-answers-garbage'
  | 'drops-connection-before-commit'
  | 'commits-and-says-unknown'
  | 'fails-before-commit'
  | 'commits-after-first-inquiry';

/** How a bank reacts to an amount. */
export type Behaviour =
  { kind: 'approve' } | { kind: 'decline'; code: ResponseCode } | { kind: 'misbehave'; how: Misbehaviour };

/** Not a registered code, so no bank declines with it. */
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
/** Payouts add the codes from 3300. */
const LAST_PAYOUT_CODE = RESPONSE_CODES.CARD_NOT_REGISTERED;
/** A code is the amount times 100, so one step of the code is 100/10000. */
const E4_PER_CODE = 100;
/** An authorization of a code's amount plus 10.00 is approved, and its void behaves like that code. */
const VOID_OFFSET_E4 = 100_000;

/** Behaviour forced by the amount of an authorize, sale, capture or refund. Only XTS amounts force anything. */
export function behaviourOfAmount(amountE4: number, currency: string): Behaviour {
  return forcedUpTo(LAST_CARD_CODE, amountE4, currency);
}

/** Behaviour forced by the amount of a payout. */
export function behaviourOfPayout(amountE4: number, currency: string): Behaviour {
  return forcedUpTo(LAST_PAYOUT_CODE, amountE4, currency);
}

/** Behaviour of the void of an authorization of this amount: 41.01 declines the void with 3101. */
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
