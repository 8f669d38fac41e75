import { messageOfCode } from '@gateway/contracts';
import type { ApprovedRecord, DeclinedRecord } from './record';

export interface Bank {
  id: string;
  name: string;
  descriptor: string;
  advice: string;
  reasonCode: string;
  reasonDescription: string;
}

export type ApprovedResult = { result: 'approved'; transactionId: string; authcode: string | null; bank: Bank };
export type DeclinedResult = { result: 'declined'; code: number; reason: string; bank: Bank };
/** What an operation is answered with. */
export type OperationResult = ApprovedResult | DeclinedResult | { result: 'unknown' };

const bankItself = { id: '990001', name: 'Sandbox Acquiring Bank', descriptor: 'SANDBOX MERCHANT' };

export function approvedResult({ approval }: ApprovedRecord): ApprovedResult {
  const bank = { ...bankItself, advice: 'none', reasonCode: '0', reasonDescription: messageOfCode(0) };
  return { result: 'approved', transactionId: approval.transactionId, authcode: approval.authcode, bank };
}

export function declinedResult({ code }: DeclinedRecord): DeclinedResult {
  const reason = messageOfCode(code);
  const bank = { ...bankItself, advice: 'do not retry', reasonCode: String(code), reasonDescription: reason };
  return { result: 'declined', code, reason, bank };
}
