import type { CancellationAnswer } from '../../domain/keyed/cancellation';
import { decideCancellation } from '../../domain/keyed/cancellation';
import type { KeyedRequest } from '../../domain/keyed/record';
import { untilSettled } from '../until-settled';
import type { KeyedPorts } from './ports';

/** Either the key is refused for ever or what was committed under it is told: whoever writes first decides. */
export function cancel<R extends KeyedRequest, A>(
  { records, now }: KeyedPorts<R, A>,
  idempotencyKey: string,
): Promise<CancellationAnswer<R, A>> {
  return untilSettled(async (lost) => {
    const stored = await (lost === 0 ? records.find(idempotencyKey) : records.findLatest(idempotencyKey));
    const { answer, next } = decideCancellation(idempotencyKey, stored?.record, now());
    if (next === undefined) return answer;
    const written =
      stored === undefined ? await records.insert(next) : (await records.replace(stored, next)) === 'stored';
    return written ? answer : undefined;
  });
}
