import type { NewMessage } from '@gateway/mongo';
import { RetryableError } from '@gateway/service-kit';
import type { Delivery, DeliveryEvent } from '../domain/delivery';
import { evolve } from '../domain/delivery';
import { announcement } from './announcements';
import type { DeliveryBody, Ports, StoredDelivery } from './ports';

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

function bodyOf(stored: StoredDelivery): DeliveryBody {
  const {
    _id,
    version: _version,
    eventSeq: _seq,
    outbox: _outbox,
    outboxSince: _since,
    stamp: _stamp,
    ...body
  } = stored;
  return body;
}

const WRITES_MAX = 5;

/** Write; where someone else wrote meanwhile, load and write again, within a bound. */
export async function untilWritten(
  ports: Pick<Ports, 'deliveries'>,
  stored: StoredDelivery,
  write: (current: StoredDelivery, isFirst: boolean) => Promise<StoredDelivery | undefined>,
): Promise<StoredDelivery> {
  let current: StoredDelivery | null = stored;
  for (let writes = 0; writes < WRITES_MAX && current !== null; writes += 1) {
    const written = await write(current, writes === 0);
    if (written !== undefined) return written;
    current = await ports.deliveries.load(stored._id);
  }
  throw new RetryableError(`a delivery changed under ${WRITES_MAX} attempts to write it`);
}
