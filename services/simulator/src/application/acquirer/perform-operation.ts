import { paymentIdOf } from '@gateway/contracts';
import type { Reaction } from '../../domain/acquirer/decide';
import { decideOperation, decideRepetition } from '../../domain/acquirer/decide';
import type { OperationRequest } from '../../domain/acquirer/operation';
import type { ApprovedRecord } from '../../domain/acquirer/record';
import type { AcquirerPorts, AcquirerRecords } from './ports';
import { untilSettled } from '../until-settled';

/** Authorization, capture, and a refund or late void. */
const CHAIN_MAX = 3;

/**
 * Performs an operation once per idempotency key. The ordinary one costs one insert, whose unique indexes decide all
 * races: on the key, and on the transaction that a capture, void or refund uses up.
 */
export function performOperation(ports: AcquirerPorts, request: OperationRequest): Promise<Reaction> {
  return untilSettled(async (lost) => {
    // Followers are looked up only after one was in the way: rare, while captures are on the hot path.
    const chain = await chainOf(ports.records, request, { withFollowers: lost > 0 });
    const { record, reaction } = decideOperation(request, chain, {
      now: ports.now(),
      newAuthcode: ports.newAuthcode(),
    });
    if (record !== undefined && (await ports.records.insert(record))) return reaction;
    const known = await ports.records.findLatest(request.idempotencyKey);
    if (known !== undefined) return decideRepetition(known.record, request);
    // Nothing to store, or the original was used up by another key: then decide again, on what is there now.
    return record === undefined ? reaction : undefined;
  });
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
