import type { OperationRequest } from '../../domain/acquirer/operation';
import type { Approval, ApprovedRecord } from '../../domain/acquirer/record';
import type { KeyedPorts, KeyedRecords } from '../keyed/ports';

/** No transaction has two approved followers: that does not fit the books. */
export interface AcquirerRecords extends KeyedRecords<OperationRequest, Approval> {
  /** For decisions that end in a write: sees the newest state, even before it is durable. */
  approvedTransaction(transactionId: string): Promise<ApprovedRecord | undefined>;
  followerOf(transactionId: string): Promise<ApprovedRecord | undefined>;
  authorizationOf(paymentId: string): Promise<ApprovedRecord | undefined>;
}

export interface AcquirerPorts extends KeyedPorts<OperationRequest, Approval> {
  records: AcquirerRecords;
  /** 6 alphanumerics. */
  newAuthcode(): string;
}
