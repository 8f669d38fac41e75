import type { AcquirerRecord } from './record';
import { committed } from './record';
import type { ApprovedResult, DeclinedResult } from './results';
import { approvedResult, declinedResult } from './results';

export type InquiryAnswer =
  | ({ status: 'approved' } & Omit<ApprovedResult, 'result'>)
  | ({ status: 'declined' } & Omit<DeclinedResult, 'result'>)
  | { status: 'not_found' | 'unknown' | 'cancelled' };

/** The answer, and the state that must be stored before it is given. */
export interface InquiryDecision {
  answer: InquiryAnswer;
  next?: AcquirerRecord;
  /** The commit is set off by this very answer, and begins once it is out. */
  commitsAfterwards?: true;
}

export function decideInquiry(known: AcquirerRecord | undefined, now: number): InquiryDecision {
  if (known === undefined) return { answer: { status: 'not_found' } };
  switch (known.state) {
    case 'approved': {
      const left = known.unknownInquiriesLeft;
      if (left > 0) return { answer: { status: 'unknown' }, next: { ...known, unknownInquiriesLeft: left - 1 } };
      return { answer: outcomeOf(known) };
    }
    case 'declined':
      return { answer: outcomeOf(known) };
    case 'cancelled':
      return { answer: { status: 'cancelled' } };
    case 'held': {
      if (!known.commitDue) {
        return { answer: { status: 'not_found' }, next: { ...known, commitDue: true }, commitsAfterwards: true };
      }
      const next = committed(known, now);
      return { answer: outcomeOf(next), next };
    }
  }
}

/** The outcome in an inquiry's words. */
function outcomeOf(record: Extract<AcquirerRecord, { state: 'approved' | 'declined' }>): InquiryAnswer {
  if (record.state === 'approved') {
    const { result: status, ...rest } = approvedResult(record);
    return { status, ...rest };
  }
  const { result: status, ...rest } = declinedResult(record);
  return { status, ...rest };
}
