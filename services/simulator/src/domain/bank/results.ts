import type { ResponseCode } from '@gateway/contracts';
import { RESPONSE_CODES, messageOfCode } from '@gateway/contracts';
import type { CancellationAnswer } from '../keyed/cancellation';
import type { InquiryAnswer } from '../keyed/inquiry';
import type { PayoutOrder } from './payout';
import type { OutcomeRecord, Settlement } from './record';
import { refusalOf } from './record';

export interface Bank {
  id: string;
  name: string;
  advice: string;
  reasonCode: string;
  reasonDescription: string;
}

/** What a payout that ended is answered with. */
export type PayoutResult =
  | { result: 'settled'; transactionId: string; bank: Bank }
  | { result: 'declined' | 'frauded' | 'failed'; code: ResponseCode; reason: string; bank: Bank };

const bankItself = { id: '990002', name: 'Sandbox SEPA Bank' };

export function resultOf(record: OutcomeRecord): PayoutResult {
  if (record.state === 'approved') {
    const bank = {
      ...bankItself,
      advice: 'none',
      reasonCode: '0',
      reasonDescription: messageOfCode(RESPONSE_CODES.SUCCESS),
    };
    return { result: 'settled', transactionId: record.approval.transactionId, bank };
  }
  const { code } = record;
  const reason = messageOfCode(code);
  const bank = { ...bankItself, advice: 'do not retry', reasonCode: String(code), reasonDescription: reason };
  return { result: refusalOf(code), code, reason, bank };
}

/** Of an inquiry or a cancellation: the outcome in the words of the result, as `status`, or that there is none. */
export function statusOf(answer: InquiryAnswer<PayoutOrder, Settlement> | CancellationAnswer<PayoutOrder, Settlement>) {
  if (answer.kind !== 'outcome') return { status: answer.kind };
  const { result: status, ...rest } = resultOf(answer.record);
  return { status, ...rest };
}
