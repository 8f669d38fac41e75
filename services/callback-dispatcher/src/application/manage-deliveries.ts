import { decideResend } from '../domain/delivery';
import type { Attempt, DeliveryQuery, Ports, StoredDelivery } from './ports';
import { record, writeDelivery } from './record';

type Managing = Pick<Ports, 'deliveries' | 'attempts' | 'publishEvents' | 'newId' | 'now' | 'logger'>;

export function listDeliveries(ports: Pick<Ports, 'deliveries'>, query: DeliveryQuery): Promise<StoredDelivery[]> {
  return ports.deliveries.list(query);
}

/** Undefined when there is none of that id. */
export async function showDelivery(
  ports: Pick<Ports, 'deliveries' | 'attempts'>,
  id: string,
): Promise<{ delivery: StoredDelivery; attempts: Attempt[] } | undefined> {
  const [delivery, attempts] = await Promise.all([ports.deliveries.load(id), ports.attempts.list(id)]);
  return delivery === null ? undefined : { delivery, attempts };
}

/** Makes a delivery due now, whatever became of it; its schedule begins again. Undefined when there is none. */
export async function resendDelivery(ports: Managing, id: string): Promise<StoredDelivery | undefined> {
  const stored = await ports.deliveries.load(id);
  if (stored === null) return undefined;
  const written = await writeDelivery(ports, stored, (current) => record(ports, current, decideResend(ports.now())));
  ports.logger.info('an operator sends a callback again', { deliveryId: id, was: stored.progress.state });
  return written;
}
