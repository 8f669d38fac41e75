import { heldUntil } from '../domain/delivery';
import { LEASE_MS } from './attempt-delivery';
import type { Dispatcher } from './dispatcher';
import type { LaneRange, Ports, StoredDelivery } from './ports';
import { BEFORE_LANES } from './ports';
import { rewrite } from './record';

/** Lanes that one query names. */
const LANES_MAX = 1_000;
/** Lanes that are asked for their due deliveries at a time. */
const LANES_AT_ONCE = 32;

export interface Claimer {
  /** Takes on lease what is due and has a place, and submits it. Returns how many it has taken. */
  look(): Promise<number>;
}

/**
 * Looks lane by lane, and asks a lane for no more than it has places for: what waits behind a dead address, or a slow
 * one, is not even read. A look goes round all lanes once, and begins behind the one that was served last: when places
 * run out, lanes take turns.
 */
export function createClaimer(ports: Ports, dispatcher: Dispatcher): Claimer {
  let lastServed = BEFORE_LANES;

  async function serve({ after, upTo }: LaneRange): Promise<number> {
    let taken = 0;
    let last = after;
    let lanes: string[];
    do {
      lanes = await ports.deliveries.dueLanes(ports.now(), { after: last, upTo }, LANES_MAX);
      for (let first = 0; first < lanes.length; first += LANES_AT_ONCE) {
        if (dispatcher.room() <= 0) return taken;
        const some = lanes.slice(first, first + LANES_AT_ONCE);
        const counts = await Promise.all(some.map((lane) => claimIn(ports, dispatcher, lane)));
        taken += counts.reduce((sum, count) => sum + count, 0);
        lastServed = some.findLast((_lane, index) => counts[index] !== 0) ?? lastServed;
        last = some.at(-1) ?? last;
      }
    } while (lanes.length === LANES_MAX);
    return taken;
  }

  return {
    async look() {
      const start = lastServed;
      const taken = await serve({ after: start });
      return start === BEFORE_LANES ? taken : taken + (await serve({ after: BEFORE_LANES, upTo: start }));
    },
  };
}

async function claimIn(ports: Ports, dispatcher: Dispatcher, lane: string): Promise<number> {
  const places = dispatcher.places(lane);
  if (places <= 0) return 0;
  const due = await ports.deliveries.findDue(lane, ports.now(), places);
  const withPlace = due.filter(() => dispatcher.reserve(lane));
  const claimed = await Promise.all(withPlace.map((delivery) => claim(ports, dispatcher, delivery)));
  return claimed.filter(Boolean).length;
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
