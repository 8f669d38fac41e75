import type { KeyedRecord, KeyedRequest, OutcomeRecord } from './record';
import { approved } from './record';

export type InquiryAnswer<Request, Approval> =
  | { kind: 'outcome'; record: OutcomeRecord<Request, Approval> }
  /** `not-found` is not final: the request may still be on its way. */
  | { kind: 'not-found' | 'unknown' | 'cancelled' };

/** The answer, and the state that must be stored before it is given. */
export interface InquiryDecision<Request, Approval> {
  answer: InquiryAnswer<Request, Approval>;
  next?: KeyedRecord<Request, Approval>;
  /** The commit is set off by this very answer, and begins once it is out. */
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
