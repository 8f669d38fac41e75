import { paymentIdOf } from '@gateway/contracts';
import type { ApprovedOperation, Approval, OperationRequest } from '../domain/acquirer';
import { decideOperation, sameRequest } from '../domain/acquirer';
import type { Reaction } from '../domain/keyed';
import type { KeyedPorts, KeyedRecords } from './keyed';
import { perform } from './keyed';

/** Authorization, capture, and a refund or late void. */
const CHAIN_MAX = 3;

/** A second approved follower of a transaction does not fit the books. */
export interface AcquirerRecords extends KeyedRecords<OperationRequest, Approval> {
  /** For decisions that end in a write: sees the newest state, even before it is durable. */
  approvedTransaction(transactionId: string): Promise<ApprovedOperation | undefined>;
  followerOf(transactionId: string): Promise<ApprovedOperation | undefined>;
  authorizationOf(paymentId: string): Promise<ApprovedOperation | undefined>;
}

export interface AcquirerPorts extends KeyedPorts<OperationRequest, Approval> {
  records: AcquirerRecords;
  /** 6 alphanumerics. */
  newAuthcode(): string;
}

/** Races are decided by the key, and by the transaction that a capture, void or refund uses up. */
export function performOperation(
  ports: AcquirerPorts,
  request: OperationRequest,
): Promise<Reaction<OperationRequest, Approval>> {
  const decide = async (lost: number) => {
    // Captures are on the hot path, so look up followers only after one got in the way.
    const chain = await chainOf(ports.records, request, { withFollowers: lost > 0 });
    return decideOperation(request, chain, { now: ports.now(), newAuthcode: ports.newAuthcode() });
  };
  return perform(ports, request, decide, sameRequest);
}

/** The payment's transactions around the one that the request names, oldest first. */
async function chainOf(
  records: AcquirerRecords,
  request: OperationRequest,
  { withFollowers }: { withFollowers: boolean },
): Promise<ApprovedOperation[]> {
  const original = await originalOf(records, request);
  if (original === undefined) return [];
  const before = request.operation === 'void' ? await transactionsBefore(records, original) : [];
  const after = withFollowers ? await transactionsAfter(records, original) : [];
  return [...before, original, ...after];
}

async function originalOf(records: AcquirerRecords, request: OperationRequest): Promise<ApprovedOperation | undefined> {
  if (request.originalTransactionId !== null) return records.approvedTransaction(request.originalTransactionId);
  return request.operation === 'void' ? records.authorizationOf(paymentIdOf(request.reference)) : undefined;
}

async function transactionsBefore(records: AcquirerRecords, record: ApprovedOperation): Promise<ApprovedOperation[]> {
  const { follows } = record.approval;
  const authorization = follows === null ? undefined : await records.approvedTransaction(follows);
  return authorization === undefined ? [] : [authorization];
}

async function transactionsAfter(records: AcquirerRecords, record: ApprovedOperation): Promise<ApprovedOperation[]> {
  const found: ApprovedOperation[] = [];
  let next = await records.followerOf(record.approval.transactionId);
  while (next !== undefined && found.length < CHAIN_MAX) {
    found.push(next);
    next = await records.followerOf(next.approval.transactionId);
  }
  return found;
}
