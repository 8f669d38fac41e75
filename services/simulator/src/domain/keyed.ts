import type { Misbehaviour, ResponseCode } from '@gateway/contracts';
import { RESPONSE_CODES } from '@gateway/contracts';
import type { LedgerEntry } from './ledger';
import type { Behaviour } from './triggers';

/** Common to every request that moves money under an idempotency key. */
export interface KeyedRequest {
  idempotencyKey: string;
  /** The gateway's reference; its first 16 characters name the payment or payout. */
  reference: string;
  /** In 1/10000 of the currency; null if the request has no amount. */
  amountE4: number | null;
  currency: string | null;
}

interface Keyed {
  idempotencyKey: string;
  reference: string;
  /** When the record reached this state, epoch ms. */
  at: number;
}

/** `Approval` is what a commit stores besides the request. */
export type ApprovedRecord<Request, Approval> = Keyed & {
  state: 'approved';
  request: Request;
  approval: Approval;
  /** This many more inquiries are answered "unknown". */
  unknownInquiriesLeft: number;
};

/** Accepted but not committed. The first inquiry is answered "not found" and triggers the commit. */
export type HeldRecord<Request, Approval> = Keyed & {
  state: 'held';
  request: Request;
  approval: Approval;
  /** Set by the first inquiry: commit now, or at the next inquiry at the latest. */
  commitDue: boolean;
};

export type DeclinedRecord<Request> = Keyed & { state: 'declined'; request: Request; code: ResponseCode };

/** The key is refused from now on. `request` is null if the cancellation arrived first. */
export type CancelledRecord<Request> = Keyed & { state: 'cancelled'; request: Request | null };

/** Final states of a request that ran. */
export type OutcomeRecord<Request, Approval> = ApprovedRecord<Request, Approval> | DeclinedRecord<Request>;

/** Everything a counterpart knows about one idempotency key. */
export type KeyedRecord<Request, Approval> =
  OutcomeRecord<Request, Approval> | HeldRecord<Request, Approval> | CancelledRecord<Request>;

/** "Invalid acquirer reference": the books do not allow the request. If you see it, the gateway has a bug. */
export const NO_SUCH_TRANSACTION = RESPONSE_CODES.ACQUIRER_REFERENCE_INVALID;

/** The bank's transaction id contains the key, so looking one up needs no second index. */
export const TRANSACTION_PREFIX = 'SIM-';

export function transactionIdOf(idempotencyKey: string): string {
  return TRANSACTION_PREFIX + idempotencyKey;
}

export function approved<R extends KeyedRequest, A>(request: R, approval: A, now: number): ApprovedRecord<R, A> {
  return { state: 'approved', ...keyedAt(request, now), request, approval, unknownInquiriesLeft: 0 };
}

export function declined<R extends KeyedRequest>(request: R, code: ResponseCode, now: number): DeclinedRecord<R> {
  return { state: 'declined', ...keyedAt(request, now), request, code };
}

function keyedAt({ idempotencyKey, reference }: KeyedRequest, at: number): Keyed {
  return { idempotencyKey, reference, at };
}

/** The ledger fields that every record fills the same way. The counterpart adds `operation` and `effect`. */
export function ledgerLineOf<R extends KeyedRequest, A>(
  record: KeyedRecord<R, A>,
): Omit<LedgerEntry, 'operation' | 'effect'> {
  const { idempotencyKey, reference, at, request } = record;
  const { amountE4 = null, currency = null } = request ?? {};
  return { at, idempotencyKey, reference, amountE4, currency, eci: null };
}

/** How the counterpart answers a request, or fails to. */
export type Reaction<Request, Approval> =
  | { kind: 'outcome'; record: OutcomeRecord<Request, Approval> }
  | { kind: 'unknown' }
  /** The key was used with another body. */
  | { kind: 'other-request' }
  | { kind: 'cancelled' }
  | { kind: 'silence' }
  | { kind: 'garbage' }
  | { kind: 'dropped-connection' }
  | { kind: 'failure' };

/** Store `record`, if there is one, then react. */
export interface Decision<Request, Approval> {
  record: KeyedRecord<Request, Approval> | undefined;
  reaction: Reaction<Request, Approval>;
}

const UNKNOWN_INQUIRIES = 2;

/** Decides on a new key. `now` in epoch ms. */
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
    case 'commits-after-first-inquiry': {
      const held = { state: 'held', ...keyedAt(request, now), request, approval, commitDue: false } as const;
      return { record: held, reaction: { kind: 'silence' } };
    }
    case 'drops-connection-before-commit':
      return { record: undefined, reaction: { kind: 'dropped-connection' } };
    case 'fails-before-commit':
      return { record: undefined, reaction: { kind: 'failure' } };
  }
}

export function answered<R, A>(record: OutcomeRecord<R, A>): Decision<R, A> {
  return { record, reaction: { kind: 'outcome', record } };
}

/** Repeats the first result for a known key, without a second effect. `same` compares the request with the first. */
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

export type InquiryAnswer<Request, Approval> =
  | { kind: 'outcome'; record: OutcomeRecord<Request, Approval> }
  /** `not-found` is not final: the request may still be on its way. */
  | { kind: 'not-found' | 'unknown' | 'cancelled' };

/** Store `next`, if there is one, then answer. */
export interface InquiryDecision<Request, Approval> {
  answer: InquiryAnswer<Request, Approval>;
  next?: KeyedRecord<Request, Approval>;
  /** Commit once the answer has been sent. */
  commitsAfterwards?: true;
}

/** `now` in epoch ms. */
export function decideInquiry<R extends KeyedRequest, A>(
  known: KeyedRecord<R, A> | undefined,
  now: number,
): InquiryDecision<R, A> {
  if (known === undefined) return { answer: { kind: 'not-found' } };
  switch (known.state) {
    case 'approved': {
      const left = known.unknownInquiriesLeft;
      if (left > 0) return { answer: { kind: 'unknown' }, next: { ...known, unknownInquiriesLeft: left - 1 } };
      return { answer: { kind: 'outcome', record: known } };
    }
    case 'declined':
      return { answer: { kind: 'outcome', record: known } };
    case 'cancelled':
      return { answer: { kind: 'cancelled' } };
    case 'held': {
      if (!known.commitDue) {
        return { answer: { kind: 'not-found' }, next: { ...known, commitDue: true }, commitsAfterwards: true };
      }
      const next = approved(known.request, known.approval, now);
      return { answer: { kind: 'outcome', record: next }, next };
    }
  }
}

export type CancellationAnswer<Request, Approval> =
  /** Nothing happened under this key, and nothing ever will. */
  | { kind: 'cancelled' }
  /** Too late. */
  | { kind: 'outcome'; record: OutcomeRecord<Request, Approval> };

/** Store `next`, if there is one, then answer. */
export interface CancellationDecision<Request, Approval> {
  answer: CancellationAnswer<Request, Approval>;
  next?: CancelledRecord<Request>;
}

/** The gateway uses the reference as key, so an unknown key also serves as the reference. */
export function decideCancellation<R, A>(
  idempotencyKey: string,
  known: KeyedRecord<R, A> | undefined,
  now: number,
): CancellationDecision<R, A> {
  const answer = { kind: 'cancelled' } as const;
  if (known === undefined) {
    return { answer, next: { state: 'cancelled', idempotencyKey, reference: idempotencyKey, at: now, request: null } };
  }
  switch (known.state) {
    case 'approved':
    case 'declined':
      return { answer: { kind: 'outcome', record: known } };
    case 'cancelled':
      return { answer };
    case 'held': {
      const { reference, request } = known;
      return { answer, next: { state: 'cancelled', idempotencyKey, reference, at: now, request } };
    }
  }
}
