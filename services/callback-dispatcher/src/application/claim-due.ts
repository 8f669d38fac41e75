import { heldUntil } from '../domain/delivery';
import { LEASE_MS } from './attempt-delivery';
import type { Dispatcher } from './dispatcher';
import type { Ports, StoredDelivery } from './ports';
import { rewrite } from './record';

const BATCH_MAX = 200;
const BATCHES_MAX = 20;
/** Lanes that one query leaves out. What it finds beyond them has no place and is passed over. */
const EXCEPT_MAX = 1_000;

/**
 * Takes on lease what is due and has a place, and submits it. Lanes without a place are left out of the query, so
 * that what waits for a dead one hides nothing behind it. Returns how many it has taken.
 */
export async function claimDue(ports: Ports, dispatcher: Dispatcher): Promise<number> {
  let taken = 0;
  for (let batches = 0; batches < BATCHES_MAX; batches += 1) {
    const limit = Math.min(dispatcher.room(), BATCH_MAX);
    if (limit <= 0) break;
    const except = dispatcher.busyLanes().slice(0, EXCEPT_MAX);
    const due = await ports.deliveries.findDue(ports.now(), except, limit);
    const withPlace = due.filter(({ lane }) => dispatcher.reserve(lane));
    const claimed = await Promise.all(withPlace.map((delivery) => claim(ports, dispatcher, delivery)));
    taken += claimed.filter(Boolean).length;
    if (due.length < limit) break;
  }
  return taken;
}

/** The conditional write decides between replicas. */
async function claim(ports: Ports, dispatcher: Dispatcher, delivery: StoredDelivery): Promise<boolean> {
  try {
    const claimed = await rewrite(ports, delivery, (body) => heldUntil(body, ports.now() + LEASE_MS));
    if (claimed !== undefined) {
      dispatcher.submit(claimed);
      return true;
    }
  } catch (error) {
    ports.logger.warn('a due delivery could not be claimed; it is looked for again', {
      deliveryId: delivery._id,
      error,
    });
  }
  dispatcher.giveBack(delivery.lane);
  return false;
}

/** Lets any replica take a delivery that this one has on lease and will not attempt now. */
export function handBack(ports: Ports, delivery: StoredDelivery): Promise<StoredDelivery | undefined> {
  return rewrite(ports, delivery, (body) => heldUntil(body, ports.now()));
}
