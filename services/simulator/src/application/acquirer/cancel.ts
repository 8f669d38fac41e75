import type { CancellationAnswer } from '../../domain/acquirer/cancellation';
import { decideCancellation } from '../../domain/acquirer/cancellation';
import type { AcquirerPorts } from './ports';
import { untilSettled } from '../until-settled';

/** Either the key is refused for ever or what was committed under it is told: whoever writes first decides. */
export function cancel(ports: AcquirerPorts, idempotencyKey: string): Promise<CancellationAnswer> {
  const { records } = ports;
  return untilSettled(async (lost) => {
    const stored = await (lost === 0 ? records.find(idempotencyKey) : records.findLatest(idempotencyKey));
    const { answer, next } = decideCancellation(idempotencyKey, stored?.record, ports.now());
    if (next === undefined) return answer;
    const written =
      stored === undefined ? await records.insert(next) : (await records.replace(stored, next)) === 'stored';
    return written ? answer : undefined;
  });
}
