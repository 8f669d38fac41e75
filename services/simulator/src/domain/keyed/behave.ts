import type { KeyedRecord, KeyedRequest, OutcomeRecord } from './record';
import { approved, declined, held } from './record';
import type { Behaviour, Misbehaviour } from './triggers';

/** What the caller gets to see, or does not. */
export type Reaction<Request, Approval> =
  | { kind: 'outcome'; record: OutcomeRecord<Request, Approval> }
  | { kind: 'unknown' }
  /** The key came before with another body. */
  | { kind: 'other-request' }
  | { kind: 'cancelled' }
  | { kind: 'silence' }
  | { kind: 'garbage' }
  | { kind: 'dropped-connection' }
  | { kind: 'failure' };

/** What is to be stored under the key, if anything, and the reaction once it is. */
export interface Decision<Request, Approval> {
  record: KeyedRecord<Request, Approval> | undefined;
  reaction: Reaction<Request, Approval>;
}

const UNKNOWN_INQUIRIES = 2;

/** Decides on a key that nobody used before, by what its amount forces. `now` in epoch ms. */
export function behave<R extends KeyedRequest, A>(
  request: R,
  approval: A,
  behaviour: Behaviour,
  now: number,
): Decision<R, A> {
  switch (behaviour.kind) {
    case 'approve':
      return answered(approved(request, approval, now));
    case 'decline':
      return answered(declined(request, behaviour.code, now));
    case 'misbehave':
      return misbehave(request, approval, behaviour.how, now);
  }
}

function misbehave<R extends KeyedRequest, A>(request: R, approval: A, how: Misbehaviour, now: number): Decision<R, A> {
  const record = approved(request, approval, now);
  switch (how) {
    case 'commits-and-never-answers':
      return { record, reaction: { kind: 'silence' } };
    case 'commits-and-answers-garbage':
      return { record, reaction: { kind: 'garbage' } };
    case 'commits-and-says-unknown':
      return { record: { ...record, unknownInquiriesLeft: UNKNOWN_INQUIRIES }, reaction: { kind: 'unknown' } };
    case 'commits-after-first-inquiry':
      return { record: held(request, approval, now), reaction: { kind: 'silence' } };
    case 'drops-connection-before-commit':
      return { record: undefined, reaction: { kind: 'dropped-connection' } };
    case 'fails-before-commit':
      return { record: undefined, reaction: { kind: 'failure' } };
  }
}

export function answered<R, A>(record: OutcomeRecord<R, A>): Decision<R, A> {
  return { record, reaction: { kind: 'outcome', record } };
}

/** A key that came before: its first result again, never a second effect. `same`: the request is the first one's. */
export function decideRepetition<R, A>(
  known: KeyedRecord<R, A>,
  request: R,
  same: (a: R, b: R) => boolean,
): Reaction<R, A> {
  if (known.state === 'cancelled') return { kind: 'cancelled' };
  if (!same(known.request, request)) return { kind: 'other-request' };
  switch (known.state) {
    case 'approved':
      return known.unknownInquiriesLeft > 0 ? { kind: 'unknown' } : { kind: 'outcome', record: known };
    case 'declined':
      return { kind: 'outcome', record: known };
    case 'held':
      return { kind: 'silence' };
  }
}
