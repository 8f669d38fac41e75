import type { Logger } from '@gateway/service-kit';
import type { AddressHealth } from '../domain/address-health';
import { afterCall, callsAtOnce, isOpen, UNKNOWN_ADDRESS } from '../domain/address-health';
import type { AddressVerdict } from './attempt-delivery';
import type { StoredDelivery } from './ports';

export interface DispatcherLimits {
  /** Attempts at a time. */
  concurrency: number;
  concurrencyPerAddress: number;
  /** Deliveries in memory, running ones included. */
  heldMax: number;
  /** Deliveries to one address that wait in memory. The others wait in the database, where they take nobody's place. */
  waitingPerAddressMax: number;
  /** Addresses whose health is remembered. */
  addressesMax: number;
}

export const DISPATCHER_LIMITS: DispatcherLimits = {
  concurrency: 512,
  concurrencyPerAddress: 4,
  heldMax: 5_000,
  waitingPerAddressMax: 64,
  addressesMax: 10_000,
};

/** Runs attempts, as many at a time as the limits say, so that no address takes the place of another. */
export interface Dispatcher {
  /** Keeps a place for one delivery in this lane; false when there is none. A place kept is submitted to, or given back. */
  reserve(lane: string): boolean;
  giveBack(lane: string): void;
  /** Attempts a delivery that this replica has on lease, in the place that was kept for it. */
  submit(delivery: StoredDelivery): void;
  /** Places that are left. */
  room(): number;
  /** Of these, those that a lane may have now. */
  places(lane: string): number;
  figures(): { running: number; waiting: number; openCircuits: number };
  /** Starts nothing more, hands back what waits, and gives what runs `drainTimeoutMs` to end. */
  stop(drainTimeoutMs: number): Promise<void>;
}

interface Lane {
  readonly name: string;
  health: AddressHealth;
  /** Places kept, waiting and running. */
  held: number;
  running: number;
  waiting: StoredDelivery[];
}

/** Addresses that did not answer last time, or were never asked, get this share of all places together. */
const UNTRUSTED_SHARE = 0.5;

/**
 * A lane for each merchant's address. An address that has not answered its last call in time gets one call at a time, and all such
 * addresses together get half of the places: however many are dead, the others have the other half. Lanes take turns.
 */
export function createDispatcher(options: {
  limits: DispatcherLimits;
  /** May throw: the delivery's lease then runs out. */
  attempt: (delivery: StoredDelivery) => Promise<AddressVerdict>;
  /** Lets any replica take it. May throw: then its lease runs out. */
  handBack: (delivery: StoredDelivery) => Promise<unknown>;
  now: () => number;
  logger: Logger;
}): Dispatcher {
  const { limits, attempt, handBack, now, logger } = options;
  const lanes = new Map<string, Lane>();
  const ready = { trusted: new Set<Lane>(), untrusted: new Set<Lane>() };
  const running = { trusted: 0, untrusted: 0 };
  const calls = new Set<Promise<void>>();
  const handingBack = new Set<Promise<void>>();
  let held = 0;
  let heldUntrusted = 0;
  let stopped = false;

  function laneOf(name: string): Lane {
    const lane = lanes.get(name) ?? { name, health: UNKNOWN_ADDRESS, held: 0, running: 0, waiting: [] };
    // The one used last goes to the end: what is forgotten first was not used for longest.
    lanes.delete(name);
    lanes.set(name, lane);
    if (lanes.size > limits.addressesMax) forgetOne();
    return lane;
  }

  function forgetOne(): void {
    for (const lane of lanes.values()) {
      if (lane.held > 0) continue;
      lanes.delete(lane.name);
      return;
    }
  }

  /** Places of a lane: an address that let calls time out has none beside the one call. */
  function placesOf(health: AddressHealth): number {
    if (isOpen(health, now())) return 0;
    const calls = callsAtOnce(health, limits.concurrencyPerAddress);
    if (health.trusted) return calls + limits.waitingPerAddressMax;
    return health.timeouts === 0 ? limits.concurrencyPerAddress : calls;
  }

  function freePlaces({ health, held: heldHere }: Pick<Lane, 'health' | 'held'>): number {
    const shared = health.trusted ? room() : Math.min(room(), limits.heldMax * UNTRUSTED_SHARE - heldUntrusted);
    return Math.max(0, Math.ceil(Math.min(placesOf(health) - heldHere, shared)));
  }

  function room(): number {
    return stopped ? 0 : limits.heldMax - held;
  }

  function hold(lane: Lane, change: 1 | -1): void {
    lane.held += change;
    held += change;
    if (!lane.health.trusted) heldUntrusted += change;
  }

  function setHealth(lane: Lane, health: AddressHealth): void {
    if (lane.health.trusted !== health.trusted) {
      heldUntrusted += health.trusted ? -lane.held : lane.held;
      running.trusted += health.trusted ? lane.running : -lane.running;
      running.untrusted += health.trusted ? -lane.running : lane.running;
    }
    lane.health = health;
    if (isOpen(health, now())) empty(lane);
  }

  function empty(lane: Lane): void {
    for (const delivery of lane.waiting) {
      hold(lane, -1);
      const done = handBack(delivery).then(
        () => void handingBack.delete(done),
        (error: unknown) => {
          handingBack.delete(done);
          logger.warn('a delivery waits for the end of its lease', { deliveryId: delivery._id, error });
        },
      );
      handingBack.add(done);
    }
    lane.waiting = [];
    enqueue(lane);
  }

  /** Puts the lane where its turn comes, or nowhere. */
  function enqueue(lane: Lane): void {
    ready.trusted.delete(lane);
    ready.untrusted.delete(lane);
    const { health, waiting } = lane;
    if (waiting.length === 0 || lane.running >= callsAtOnce(health, limits.concurrencyPerAddress)) return;
    ready[health.trusted ? 'trusted' : 'untrusted'].add(lane);
  }

  function startWhatMay(): void {
    if (stopped) return;
    startFrom(ready.trusted, () => running.trusted + running.untrusted < limits.concurrency);
    startFrom(
      ready.untrusted,
      () =>
        running.trusted + running.untrusted < limits.concurrency &&
        running.untrusted < limits.concurrency * UNTRUSTED_SHARE,
    );
  }

  /** A lane that has more goes to the end of its set, which this loop reaches in the end. */
  function startFrom(lanesInTurn: Set<Lane>, isFree: () => boolean): void {
    for (const lane of lanesInTurn) {
      if (!isFree()) return;
      const delivery = lane.waiting.shift();
      if (delivery !== undefined) start(lane, delivery);
    }
  }

  function start(lane: Lane, delivery: StoredDelivery): void {
    lane.running += 1;
    running[lane.health.trusted ? 'trusted' : 'untrusted'] += 1;
    enqueue(lane);
    const call: Promise<void> = run(lane, delivery).finally(() => calls.delete(call));
    calls.add(call);
  }

  async function run(lane: Lane, delivery: StoredDelivery): Promise<void> {
    let verdict: AddressVerdict = 'none';
    try {
      verdict = await attempt(delivery);
    } catch (error) {
      logger.warn('an attempt was not put on record; it is made again when the lease has run out', {
        deliveryId: delivery._id,
        error,
      });
    }
    lane.running -= 1;
    running[lane.health.trusted ? 'trusted' : 'untrusted'] -= 1;
    hold(lane, -1);
    if (verdict !== 'none') setHealth(lane, afterCall(lane.health, verdict === 'timed-out', now()));
    enqueue(lane);
    startWhatMay();
  }

  return {
    reserve(name) {
      const lane = laneOf(name);
      if (freePlaces(lane) === 0) return false;
      hold(lane, 1);
      return true;
    },
    giveBack: (name) => hold(laneOf(name), -1),
    submit(delivery) {
      const lane = laneOf(delivery.lane);
      lane.waiting.push(delivery);
      if (stopped || isOpen(lane.health, now())) return empty(lane);
      enqueue(lane);
      startWhatMay();
    },
    room,
    places: (name) => freePlaces(lanes.get(name) ?? { health: UNKNOWN_ADDRESS, held: 0 }),
    figures() {
      const all = [...lanes.values()];
      return {
        running: running.trusted + running.untrusted,
        waiting: all.reduce((sum, lane) => sum + lane.waiting.length, 0),
        openCircuits: all.filter(({ health }) => isOpen(health, now())).length,
      };
    },
    async stop(drainTimeoutMs) {
      stopped = true;
      for (const lane of lanes.values()) empty(lane);
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, drainTimeoutMs)));
      await Promise.race([Promise.all([...calls, ...handingBack]), timeout]);
      clearTimeout(timer);
    },
  };
}
