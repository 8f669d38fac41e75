import type { KeyedRecord, KeyedRequest } from '../../domain/keyed/record';
import { declined, NO_SUCH_TRANSACTION } from '../../domain/keyed/record';
import type { KeyedPorts, StoredRecord } from './ports';

/**
 * Stores the next state of a record. A late commit that the books do not allow any more is declined instead; either
 * way of not storing `next` means: read again.
 */
export async function storeNext<R extends KeyedRequest, A>(
  { records, now }: KeyedPorts<R, A>,
  previous: StoredRecord<R, A>,
  next: KeyedRecord<R, A>,
): Promise<boolean> {
  const outcome = await records.replace(previous, next);
  if (outcome === 'does-not-fit' && next.state === 'approved') {
    await records.replace(previous, declined(next.request, NO_SUCH_TRANSACTION, now()));
  }
  return outcome === 'stored';
}
