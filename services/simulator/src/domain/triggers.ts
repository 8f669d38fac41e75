import type { Misbehaviour, ResponseCode } from '@gateway/contracts';
import {
  E4_PER_CODE,
  FORCED_CODES,
  isRegisteredCode,
  MISBEHAVIOURS,
  misbehaviours,
  TEST_CURRENCY,
  VOID_OFFSET_E4,
} from '@gateway/contracts';

/** How a bank reacts to an amount. */
export type Behaviour =
  { kind: 'approve' } | { kind: 'decline'; code: ResponseCode } | { kind: 'misbehave'; how: Misbehaviour };

const misbehaviourOf: ReadonlyMap<number, Misbehaviour> = new Map(
  misbehaviours.map((how) => [MISBEHAVIOURS[how].trigger, how]),
);

/** Behaviour forced by the amount of an authorize, sale, capture or refund. Only XTS amounts force anything. */
export function behaviourOfAmount(amountE4: number, currency: string): Behaviour {
  return forcedUpTo(FORCED_CODES.lastOfCards, amountE4, currency);
}

/** Behaviour forced by the amount of a payout. */
export function behaviourOfPayout(amountE4: number, currency: string): Behaviour {
  return forcedUpTo(FORCED_CODES.lastOfPayouts, amountE4, currency);
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
  if (code < FORCED_CODES.first || code > lastCode) return { kind: 'approve' };
  const how = misbehaviourOf.get(code);
  if (how !== undefined) return { kind: 'misbehave', how };
  return isRegisteredCode(code) ? { kind: 'decline', code } : { kind: 'approve' };
}
