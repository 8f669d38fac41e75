import type { InquiryAnswer } from '../../domain/keyed/inquiry';
import { decideInquiry } from '../../domain/keyed/inquiry';
import type { KeyedRequest } from '../../domain/keyed/record';
import { untilSettled } from '../until-settled';
import type { KeyedPorts } from './ports';
import { storeNext } from './store-next';

export interface Inquired<Request, Approval> {
  answer: InquiryAnswer<Request, Approval>;
  /** To be run once the answer is out. Whatever keeps it from running, the next inquiry commits. */
  afterwards?: () => Promise<void>;
}

export function inquire<R extends KeyedRequest, A>(
  ports: KeyedPorts<R, A>,
  idempotencyKey: string,
): Promise<Inquired<R, A>> {
  return untilSettled(async (lost) => {
    const { records } = ports;
    const stored = await (lost === 0 ? records.find(idempotencyKey) : records.findLatest(idempotencyKey));
    const { answer, next, commitsAfterwards } = decideInquiry(stored?.record, ports.now());
    if (stored === undefined || next === undefined) return { answer };
    if (!(await storeNext(ports, stored, next))) return undefined;
    return commitsAfterwards === true ? { answer, afterwards: () => commitLate(ports, idempotencyKey) } : { answer };
  });
}

/** A cancellation may have come first: then nothing is left to commit. */
async function commitLate<R extends KeyedRequest, A>(ports: KeyedPorts<R, A>, idempotencyKey: string): Promise<void> {
  const stored = await ports.records.find(idempotencyKey);
  if (stored?.record.state !== 'held') return;
  const { next } = decideInquiry(stored.record, ports.now());
  if (next !== undefined) await storeNext(ports, stored, next);
}
