import type { AcquirerRecord } from '../../domain/acquirer/record';
import { declined } from '../../domain/acquirer/record';
import type { AcquirerPorts, StoredRecord } from './ports';

/** "Invalid acquirer reference" */
const NO_SUCH_TRANSACTION = 3122;

/**
 * Stores the next state of a record. A late commit whose original was used up meanwhile is declined instead; either
 * way of not storing `next` means: read again.
 */
export async function storeNext(ports: AcquirerPorts, previous: StoredRecord, next: AcquirerRecord): Promise<boolean> {
  const outcome = await ports.records.replace(previous, next);
  if (outcome === 'already-followed' && next.state === 'approved') {
    await ports.records.replace(previous, declined(next.request, NO_SUCH_TRANSACTION, ports.now()));
  }
  return outcome === 'stored';
}
