import { isRegisteredCode, TEST_CURRENCY } from '@gateway/contracts';

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
  { kind: 'approve' } | { kind: 'decline'; code: number } | { kind: 'misbehave'; how: Misbehaviour };

const misbehaviours: ReadonlyMap<number, Misbehaviour> = new Map([
  [3109, 'commits-and-never-answers'],
  [3117, 'commits-and-answers-garbage'],
  [3118, 'drops-connection-before-commit'],
  [3124, 'commits-and-says-unknown'],
  [3125, 'fails-before-commit'],
  [3133, 'commits-after-first-inquiry'],
]);

const FIRST_CODE = 3100;
const LAST_CARD_CODE = 3221;
/** Payouts have codes of their own, from 3300. */
const LAST_PAYOUT_CODE = 3330;
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
