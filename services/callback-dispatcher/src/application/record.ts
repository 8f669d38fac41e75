import type { NewMessage } from '@gateway/mongo';
import { bodyOf } from '@gateway/mongo';
import { untilWritten } from '@gateway/service-kit';
import type { Delivery, DeliveryEvent } from '../domain/delivery';
import { evolve } from '../domain/delivery';
import { announcement } from './announcements';
import type { Ports, StoredDelivery } from './ports';

type Writing = Pick<Ports, 'deliveries' | 'publishEvents' | 'newId'>;

/** Writes what was decided. Undefined when someone else wrote first: load, decide again. */
export async function record(
  ports: Writing,
  stored: StoredDelivery,
  events: readonly DeliveryEvent[],
): Promise<StoredDelivery | undefined> {
  const announcements: NewMessage[] = [];
  let body = bodyOf(stored);
  for (const event of events) {
    body = { ...body, ...evolve(body, event) };
    const announced = announcement(stored._id, body, event, ports.newId);
    if (announced !== undefined) announcements.push(announced);
  }
  const written = await ports.deliveries.update(stored, body, announcements);
  if (written !== undefined) ports.publishEvents(written);
  return written;
}

/** Writes what is no event: who holds it, and until when. Undefined when someone else wrote first. */
export function rewrite(
  ports: Pick<Ports, 'deliveries'>,
  stored: StoredDelivery,
  change: (delivery: Delivery) => Delivery,
): Promise<StoredDelivery | undefined> {
  const body = bodyOf(stored);
  return ports.deliveries.update(stored, { ...body, ...change(body) }, []);
}

/** Write; where someone else wrote meanwhile, load and write again, within a bound. */
export function writeDelivery(
  ports: Pick<Ports, 'deliveries'>,
  stored: StoredDelivery,
  write: (current: StoredDelivery, isFirst: boolean) => Promise<StoredDelivery | undefined>,
): Promise<StoredDelivery> {
  return untilWritten(async (lost) => {
    const current = lost === 0 ? stored : await ports.deliveries.load(stored._id);
    return current === null ? undefined : write(current, lost === 0);
  });
}
