import { paymentIdOf } from '@gateway/contracts';
import { decideOperation } from '../../domain/acquirer/decide';
import type { OperationRequest } from '../../domain/acquirer/operation';
import { sameRequest } from '../../domain/acquirer/operation';
import type { Approval, ApprovedRecord } from '../../domain/acquirer/record';
import type { Reaction } from '../../domain/keyed/behave';
import { perform } from '../keyed/perform';
import type { AcquirerPorts, AcquirerRecords } from './ports';

/** Authorization, capture, and a refund or late void. */
const CHAIN_MAX = 3;

/** Races are decided by the key, and by the transaction that a capture, void or refund uses up. */
export function performOperation(
  ports: AcquirerPorts,
  request: OperationRequest,
): Promise<Reaction<OperationRequest, Approval>> {
  const decide = async (lost: number) => {
    // Followers are looked up only after one was in the way: rare, while captures are on the hot path.
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
): Promise<ApprovedRecord[]> {
  const original = await originalOf(records, request);
  if (original === undefined) return [];
  const before = request.operation === 'void' ? await transactionsBefore(records, original) : [];
  const after = withFollowers ? await transactionsAfter(records, original) : [];
  return [...before, original, ...after];
}

async function originalOf(records: AcquirerRecords, request: OperationRequest): Promise<ApprovedRecord | undefined> {
  if (request.originalTransactionId !== null) return records.approvedTransaction(request.originalTransactionId);
  return request.operation === 'void' ? records.authorizationOf(paymentIdOf(request.reference)) : undefined;
}

async function transactionsBefore(records: AcquirerRecords, record: ApprovedRecord): Promise<ApprovedRecord[]> {
  const { follows } = record.approval;
  const authorization = follows === null ? undefined : await records.approvedTransaction(follows);
  return authorization === undefined ? [] : [authorization];
}

async function transactionsAfter(records: AcquirerRecords, record: ApprovedRecord): Promise<ApprovedRecord[]> {
  const found: ApprovedRecord[] = [];
  let next = await records.followerOf(record.approval.transactionId);
  while (next !== undefined && found.length < CHAIN_MAX) {
    found.push(next);
    next = await records.followerOf(next.approval.transactionId);
  }
  return found;
}
