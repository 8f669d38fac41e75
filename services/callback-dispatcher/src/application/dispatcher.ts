import type { Logger } from '@gateway/service-kit';
import type { AddressHealth, Reputation } from '../domain/address-health';
import { afterCall, callsAtOnce, isOpen, reputationOf, REPUTATIONS } from '../domain/address-health';
import type { VolumeUse } from '../domain/earned-volume';
import type { PlaceLimits, Places } from '../domain/fair-share';
import { freePlaces, placesLeft, sumOf } from '../domain/fair-share';
import type { AddressVerdict } from './attempt-delivery';
import type { Lane, LaneLimits, Merchant } from './lanes';
import { createLanes } from './lanes';
import type { StoredDelivery } from './ports';
import type { StrangerBudget } from './volume-budget';
import { createVolumeBudget, STRANGER_BUDGET } from './volume-budget';

export interface DispatcherLimits extends LaneLimits {
  /** Concurrent attempts. */
  concurrency: number;
  concurrencyPerMerchant: number;
  /** Of these, to addresses that may hang: unknown ones, and those that were slow or silent last time. */
  unprovenPerMerchant: number;
  concurrencyPerAddress: number;
  /** Deliveries in memory, including running ones. */
  heldMax: number;
  /** Deliveries per address that wait in memory. The others wait in the database. */
  waitingPerAddressMax: number;
  strangers: StrangerBudget;
}

export const DISPATCHER_LIMITS: DispatcherLimits = {
  concurrency: 512,
  concurrencyPerMerchant: 128,
  unprovenPerMerchant: 16,
  concurrencyPerAddress: 4,
  heldMax: 5_000,
  waitingPerAddressMax: 64,
  strangers: STRANGER_BUDGET,
  addressesMax: 10_000,
  addressesPerMerchantMax: 1_000,
};

/** One running and one waiting: behind hanging calls, a longer queue would outlive its leases. */
const UNPROVEN_HELD_PER_CALL = 2;
const BUSIEST_MERCHANTS = 10;

/** Runs attempts within limits that keep places free for every merchant. */
export interface Dispatcher {
  /** Reserves a place for one delivery in this lane; false if there is none. Follow with `submit` or `giveBack`. */
  reserve(lane: string): boolean;
  giveBack(lane: string): void;
  /** Attempts a delivery that this replica has claimed, in its reserved place. */
  submit(delivery: StoredDelivery): void;
  /** Free places. */
  room(): number;
  /** Free places that a lane may take now. */
  places(lane: string): number;
  figures(): DispatcherFigures;
  /** Starts no more attempts, hands back waiting deliveries, and gives running attempts `drainTimeoutMs` to end. */
  stop(drainTimeoutMs: number): Promise<void>;
}

export interface DispatcherFigures {
  running: Readonly<Places>;
  waiting: number;
  openCircuits: number;
  /** The 10 merchants with the most running attempts, most first. */
  busiest: { merchantAccount: string; running: number }[];
}

/**
 * Merchants take turns, and so do the addresses of a merchant. A merchant has a limit, and a smaller one for all its
 * addresses that may hang. An address whose calls time out gets no call for a while, and one that does not acknowledge
 * gets few.
 */
export function createDispatcher(options: {
  limits: DispatcherLimits;
  /** May throw; the delivery's lease then expires. */
  attempt: (delivery: StoredDelivery) => Promise<AddressVerdict>;
  /** Releases it to any replica. May throw; the lease then expires. */
  handBack: (delivery: StoredDelivery) => Promise<unknown>;
  now: () => number;
  logger: Logger;
}): Dispatcher {
  const { limits, attempt, handBack, now, logger } = options;
  const callLimits = callLimitsOf(limits);
  const heldLimits = heldLimitsOf(limits);
  const lanes = createLanes(limits);
  const budget = createVolumeBudget({ ...limits, now });
  const held: Places = { proven: 0, unproven: 0 };
  const running: Places = { proven: 0, unproven: 0 };
  /** Merchants with a lane that could start a call, in order of turns. */
  const ready: Record<Reputation, Set<Merchant>> = { proven: new Set(), unproven: new Set() };
  const calls = new Set<Promise<void>>();
  const handingBack = new Set<Promise<void>>();
  let stopped = false;

  /** Places of a lane. After a time-out an address has only one, for the next call. */
  function placesOf(health: AddressHealth): number {
    if (isOpen(health, now())) return 0;
    if (reputationOf(health) === 'proven') return limits.concurrencyPerAddress + limits.waitingPerAddressMax;
    return health.timeouts === 0 ? limits.concurrencyPerAddress : 1;
  }

  function placesIn(lane: Lane): number {
    const { health, held: heldHere, merchant } = lane;
    if (stopped || !budget.allows(lane)) return 0;
    const left = placesLeft(reputationOf(health), merchant.held, held, heldLimits);
    return Math.max(0, Math.min(placesOf(health) - heldHere, left));
  }

  function release(lane: Lane, use: VolumeUse): void {
    budget.settle(lane, use);
    hold(lane, -1);
  }

  function hold(lane: Lane, change: 1 | -1): void {
    const reputation = reputationOf(lane.health);
    lane.held += change;
    lane.merchant.held[reputation] += change;
    held[reputation] += change;
  }

  function setHealth(lane: Lane, health: AddressHealth): void {
    const [before, after] = [reputationOf(lane.health), reputationOf(health)];
    for (const [places, count] of [
      [held, lane.held],
      [lane.merchant.held, lane.held],
      [running, lane.running],
      [lane.merchant.running, lane.running],
    ] as const) {
      places[before] -= count;
      places[after] += count;
    }
    lane.health = health;
    if (isOpen(health, now())) empty(lane);
  }

  function empty(lane: Lane): void {
    for (const delivery of lane.waiting) {
      release(lane, 'unused');
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

  /** Puts the lane and its merchant in line, if they can start a call. */
  function enqueue(lane: Lane): void {
    const { merchant, health, waiting } = lane;
    const couldStart = waiting.length > 0 && lane.running < callsAtOnce(health, limits.concurrencyPerAddress);
    for (const reputation of REPUTATIONS) {
      if (couldStart && reputation === reputationOf(health)) merchant.ready[reputation].add(lane);
      else merchant.ready[reputation].delete(lane);
      if (merchant.ready[reputation].size > 0) ready[reputation].add(merchant);
      else ready[reputation].delete(merchant);
    }
  }

  /**
   * A merchant that starts a call moves to the end of its set, and the loop reaches it again. Skipped merchants have
   * running calls, so there are at most `concurrency` of them.
   */
  function startWhatMay(): void {
    if (stopped) return;
    for (const reputation of REPUTATIONS) {
      for (const merchant of ready[reputation]) {
        if (freePlaces(reputation, running, callLimits) <= 0) break;
        if (placesLeft(reputation, merchant.running, running, callLimits) > 0) startOne(merchant, reputation);
      }
    }
  }

  function startOne(merchant: Merchant, reputation: Reputation): void {
    const [lane] = merchant.ready[reputation];
    const delivery = lane?.waiting.shift();
    if (lane === undefined || delivery === undefined) return;
    lane.running += 1;
    merchant.running[reputation] += 1;
    running[reputation] += 1;
    merchant.ready[reputation].delete(lane);
    ready[reputation].delete(merchant);
    enqueue(lane);
    const call: Promise<void> = run(lane, delivery).finally(() => calls.delete(call));
    calls.add(call);
  }

  async function run(lane: Lane, delivery: StoredDelivery): Promise<void> {
    let verdict: AddressVerdict | 'unknown' = 'unknown';
    try {
      verdict = await attempt(delivery);
    } catch (error) {
      logger.warn('an attempt was not put on record; it is made again when the lease has run out', {
        deliveryId: delivery._id,
        error,
      });
    }
    const reputation = reputationOf(lane.health);
    lane.running -= 1;
    lane.merchant.running[reputation] -= 1;
    running[reputation] -= 1;
    release(lane, useOf(verdict));
    if (typeof verdict === 'object') setHealth(lane, afterCall(lane.health, verdict.end, now()));
    enqueue(lane);
    startWhatMay();
  }

  return {
    reserve(name) {
      const lane = lanes.peek(name);
      if (placesIn(lane) === 0 || !budget.take(lane)) return false;
      hold(lane, 1);
      lanes.keep(lane);
      return true;
    },
    giveBack: (name) => release(lanes.peek(name), 'unused'),
    submit(delivery) {
      const lane = lanes.peek(delivery.lane);
      lane.waiting.push(delivery);
      if (stopped || isOpen(lane.health, now())) return empty(lane);
      enqueue(lane);
      startWhatMay();
    },
    room: () => (stopped ? 0 : freePlaces('proven', held, heldLimits)),
    places: (name) => placesIn(lanes.peek(name)),
    figures() {
      const all = [...lanes.all()];
      return {
        running,
        waiting: all.reduce((sum, lane) => sum + lane.waiting.length, 0),
        openCircuits: all.filter(({ health }) => isOpen(health, now())).length,
        busiest: busiestOf(lanes.merchants()),
      };
    },
    async stop(drainTimeoutMs) {
      stopped = true;
      for (const lane of lanes.all()) empty(lane);
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, drainTimeoutMs)));
      await Promise.race([Promise.all([...calls, ...handingBack]), timeout]);
      clearTimeout(timer);
    },
  };
}

/** What is not on record may have been called. */
function useOf(verdict: AddressVerdict | 'unknown'): VolumeUse {
  if (verdict === 'none') return 'unused';
  return verdict !== 'unknown' && verdict.acknowledged ? 'acknowledged' : 'failed';
}

function callLimitsOf(limits: DispatcherLimits): PlaceLimits {
  const { concurrency: total, concurrencyPerMerchant: perMerchant, unprovenPerMerchant } = limits;
  return { total, perMerchant, unprovenPerMerchant };
}

function heldLimitsOf({ heldMax, unprovenPerMerchant }: DispatcherLimits): PlaceLimits {
  return {
    total: heldMax,
    perMerchant: heldMax,
    unprovenPerMerchant: unprovenPerMerchant * UNPROVEN_HELD_PER_CALL,
  };
}

function busiestOf(merchants: Iterable<Merchant>): DispatcherFigures['busiest'] {
  return [...merchants]
    .map(({ name, running }) => ({ merchantAccount: name, running: sumOf(running) }))
    .filter(({ running }) => running > 0)
    .sort((a, b) => b.running - a.running)
    .slice(0, BUSIEST_MERCHANTS);
}
