import { untilWritten } from '@gateway/service-kit';
import * as keyed from '../domain/keyed';
import type { KeyedRecord, KeyedRequest } from '../domain/keyed';

/** A record with the version that guards its next change. */
export interface StoredRecord<Request, Approval> {
  record: KeyedRecord<Request, Approval>;
  version: number;
}

/** `does-not-fit`: the books have changed and no longer allow it. */
export type ReplaceOutcome = 'stored' | 'changed-meanwhile' | 'does-not-fit';

/** One record per idempotency key. All replicas share the records. Writes are durable when they return. */
export interface KeyedRecords<Request extends KeyedRequest, Approval> {
  /** False if the key is known, or if the books do not allow it. */
  insert(record: KeyedRecord<Request, Approval>): Promise<boolean>;
  /** Succeeds only if the record has not changed since `previous` was read. */
  replace(previous: StoredRecord<Request, Approval>, next: KeyedRecord<Request, Approval>): Promise<ReplaceOutcome>;
  /** Sees durable records only: an insert may not be visible before it is acknowledged. */
  find(idempotencyKey: string): Promise<StoredRecord<Request, Approval> | undefined>;
  /** Sees the record that just refused an insert, and waits until it is durable. */
  findLatest(idempotencyKey: string): Promise<StoredRecord<Request, Approval> | undefined>;
}

export interface KeyedPorts<Request extends KeyedRequest, Approval> {
  records: KeyedRecords<Request, Approval>;
  /** Epoch ms. */
  now(): number;
}

/**
 * Performs a request once per idempotency key. An ordinary request costs one insert, whose unique indexes decide all
 * races. `decide` gets the number of rounds lost to other writers; `same` compares a repetition with the first request.
 */
export function perform<R extends KeyedRequest, A>(
  { records }: KeyedPorts<R, A>,
  request: R,
  decide: (lost: number) => Promise<keyed.Decision<R, A>> | keyed.Decision<R, A>,
  same: (a: R, b: R) => boolean,
): Promise<keyed.Reaction<R, A>> {
  return untilWritten(async (lost) => {
    const { record, reaction } = await decide(lost);
    if (record !== undefined && (await records.insert(record))) return reaction;
    const known = await records.findLatest(request.idempotencyKey);
    if (known !== undefined) return keyed.decideRepetition(known.record, request, same);
    // Either there is nothing to store, or another key changed the books: then decide again.
    return record === undefined ? reaction : undefined;
  });
}

export interface Inquired<Request, Approval> {
  answer: keyed.InquiryAnswer<Request, Approval>;
  /** Run this once the answer has been sent. If it does not run, the next inquiry commits. */
  afterwards?: () => Promise<void>;
}

export function inquire<R extends KeyedRequest, A>(
  ports: KeyedPorts<R, A>,
  idempotencyKey: string,
): Promise<Inquired<R, A>> {
  return untilWritten(async (lost) => {
    const stored = await read(ports, idempotencyKey, lost);
    const { answer, next, commitsAfterwards } = keyed.decideInquiry(stored?.record, ports.now());
    if (stored === undefined || next === undefined) return { answer };
    if (!(await storeNext(ports, stored, next))) return undefined;
    return commitsAfterwards === true ? { answer, afterwards: () => commitLate(ports, idempotencyKey) } : { answer };
  });
}

/** Does nothing if a cancellation came first. */
async function commitLate<R extends KeyedRequest, A>(ports: KeyedPorts<R, A>, idempotencyKey: string): Promise<void> {
  const stored = await ports.records.find(idempotencyKey);
  if (stored?.record.state !== 'held') return;
  const { next } = keyed.decideInquiry(stored.record, ports.now());
  if (next !== undefined) await storeNext(ports, stored, next);
}

/** False means "read again". A late commit that the books no longer allow is declined. */
async function storeNext<R extends KeyedRequest, A>(
  { records, now }: KeyedPorts<R, A>,
  previous: StoredRecord<R, A>,
  next: KeyedRecord<R, A>,
): Promise<boolean> {
  const outcome = await records.replace(previous, next);
  if (outcome === 'does-not-fit' && next.state === 'approved') {
    await records.replace(previous, keyed.declined(next.request, keyed.NO_SUCH_TRANSACTION, now()));
  }
  return outcome === 'stored';
}

/** Refuses the key from now on, or reports what was committed under it. The first write decides. */
export function cancel<R extends KeyedRequest, A>(
  ports: KeyedPorts<R, A>,
  idempotencyKey: string,
): Promise<keyed.CancellationAnswer<R, A>> {
  const { records, now } = ports;
  return untilWritten(async (lost) => {
    const stored = await read(ports, idempotencyKey, lost);
    const { answer, next } = keyed.decideCancellation(idempotencyKey, stored?.record, now());
    if (next === undefined) return answer;
    const written =
      stored === undefined ? await records.insert(next) : (await records.replace(stored, next)) === 'stored';
    return written ? answer : undefined;
  });
}

/** A lost round must see the write that it lost to. */
function read<R extends KeyedRequest, A>({ records }: KeyedPorts<R, A>, idempotencyKey: string, lost: number) {
  return lost === 0 ? records.find(idempotencyKey) : records.findLatest(idempotencyKey);
}
