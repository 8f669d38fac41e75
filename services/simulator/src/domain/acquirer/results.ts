import type { ResponseCode } from '@gateway/contracts';
import { RESPONSE_CODES, messageOfCode } from '@gateway/contracts';
import type { CancellationAnswer } from '../keyed/cancellation';
import type { InquiryAnswer } from '../keyed/inquiry';
import type { OperationRequest } from './operation';
import type { Approval, OutcomeRecord } from './record';

export interface Bank {
  id: string;
  name: string;
  descriptor: string;
  advice: string;
  reasonCode: string;
  reasonDescription: string;
}

/** What an operation that ended is answered with. */
export type OperationResult =
  | { result: 'approved'; transactionId: string; authcode: string | null; bank: Bank }
  | { result: 'declined'; code: ResponseCode; reason: string; bank: Bank };

const bankItself = { id: '990001', name: 'Sandbox Acquiring Bank', descriptor: 'SANDBOX MERCHANT' };

export function resultOf(record: OutcomeRecord): OperationResult {
  if (record.state === 'approved') {
    const { transactionId, authcode } = record.approval;
    const bank = {
      ...bankItself,
      advice: 'none',
      reasonCode: '0',
      reasonDescription: messageOfCode(RESPONSE_CODES.SUCCESS),
    };
    return { result: 'approved', transactionId, authcode, bank };
  }
  const { code } = record;
  const reason = messageOfCode(code);
  const bank = { ...bankItself, advice: 'do not retry', reasonCode: String(code), reasonDescription: reason };
  return { result: 'declined', code, reason, bank };
}

/** The outcome is told in the words of the result, as `status`. */
export function inquiryAnswer(answer: InquiryAnswer<OperationRequest, Approval>) {
  switch (answer.kind) {
    case 'outcome': {
      const { result: status, ...rest } = resultOf(answer.record);
      return { status, ...rest };
    }
    case 'not-found':
      return { status: 'not_found' };
    case 'unknown':
    case 'cancelled':
      return { status: answer.kind };
  }
}

export function cancellationAnswer(answer: CancellationAnswer<OperationRequest, Approval>) {
  return answer.kind === 'outcome'
    ? { status: 'already_processed', ...resultOf(answer.record) }
    : { status: answer.kind };
}
