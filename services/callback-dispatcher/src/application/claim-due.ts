import { BEFORE_LANES, lanesOf, merchantOf } from '../domain/lane';
import { LEASE_MS } from './attempt-delivery';
import type { Dispatcher } from './dispatcher';
import type { LaneRange, Ports, StoredDelivery } from './ports';

/** Lanes per query. */
const LANES_MAX = 1_000;
/** Lanes queried concurrently for their due deliveries. */
const LANES_AT_ONCE = 32;
/** A merchant with more due lanes than this is wide: each later scan reads at most this many of its index keys. */
const WIDE_MIN = 500;
/** Wide merchants kept in memory. */
const WIDE_MERCHANTS_MAX = 64;

export interface Claimer {
  /** Claims due deliveries for which there is a place, and submits them. Returns their number. */
  look(): Promise<number>;
}

/**
 * Each scan visits the merchants round-robin, starting after the one served last. It reads no more of a lane than there
 * are places, so a backlog behind a dead or slow address is never read. Of a wide merchant it reads a bounded part, and
 * the next scan continues there, so other merchants do not wait.
 */
export function createClaimer(ports: Ports, dispatcher: Dispatcher): Claimer {
  let begin = BEFORE_LANES;
  /** Wide merchants, each with the lane after which its next part begins. */
  const wide = new Map<string, string>();

  async function serve(lanes: readonly string[]): Promise<number> {
    let taken = 0;
    for (let first = 0; first < lanes.length && dispatcher.room() > 0; first += LANES_AT_ONCE) {
      const some = lanes.slice(first, first + LANES_AT_ONCE);
      const claimed = await claimIn(ports, dispatcher, some);
      taken += claimed.length;
      const served = new Set(claimed.map(({ lane }) => lane));
      const lastServed = some.findLast((lane) => served.has(lane));
      if (lastServed !== undefined) begin = lanesOf(merchantOf(lastServed)).end;
    }
    return taken;
  }

  /** Serves the merchants in a range. One that turns out to be wide is read completely this one time. */
  async function serveRange({ after, upTo }: LaneRange): Promise<number> {
    let taken = 0;
    let last = after;
    let lanes: string[];
    do {
      if (dispatcher.room() <= 0) return taken;
      lanes = await ports.deliveries.dueLanes(ports.now(), { after: last, upTo }, LANES_MAX);
      const byMerchant = Map.groupBy(lanes, merchantOf);
      for (const [merchant, { length }] of byMerchant) {
        if (length > WIDE_MIN && wide.size < WIDE_MERCHANTS_MAX) wide.set(merchant, lanesOf(merchant).after);
      }
      taken += await serve([...byMerchant.values()].flatMap(inRandomTurn));
      last = lanes.at(-1) ?? last;
    } while (lanes.length === LANES_MAX);
    return taken;
  }

  /** Serves the next part of a wide merchant. It is no longer wide if a single part covers it. */
  async function serveWide(merchant: string): Promise<number> {
    if (dispatcher.room() <= 0) return 0;
    const { after: start, end } = lanesOf(merchant);
    const after = wide.get(merchant) ?? start;
    const { due, readTo } = await ports.deliveries.duePart(ports.now(), { after, upTo: end }, WIDE_MIN);
    if (readTo !== undefined) wide.set(merchant, readTo);
    else if (after === start) wide.delete(merchant);
    else wide.set(merchant, start);
    return serve(inRandomTurn(due));
  }

  async function goRound({ after, upTo }: LaneRange): Promise<number> {
    let taken = 0;
    let position = after;
    for (const merchant of [...wide.keys()].sort()) {
      const lanes = lanesOf(merchant);
      if (lanes.after < position || (upTo !== undefined && lanes.after > upTo)) continue;
      taken += await serveRange({ after: position, upTo: lanes.after });
      taken += await serveWide(merchant);
      position = lanes.end;
    }
    return taken + (await serveRange({ after: position, upTo }));
  }

  /** A random start: with a fixed one, the last lanes of a merchant short of places would never have a turn. */
  function inRandomTurn(lanes: readonly string[]): string[] {
    const first = Math.floor(ports.random() * lanes.length);
    return [...lanes.slice(first), ...lanes.slice(0, first)];
  }

  return {
    async look() {
      const start = begin;
      const taken = await goRound({ after: start });
      return start === BEFORE_LANES ? taken : taken + (await goRound({ after: BEFORE_LANES, upTo: start }));
    },
  };
}

/** An apparently due delivery with a reserved place. */
interface Candidate {
  id: string;
  lane: string;
}

/** Makes one claim for all lanes. If the query of one lane fails, the others are still served. */
async function claimIn(ports: Ports, dispatcher: Dispatcher, lanes: readonly string[]): Promise<StoredDelivery[]> {
  const looks = await Promise.allSettled(lanes.map((lane) => candidatesIn(ports, dispatcher, lane)));
  const candidates = looks.flatMap((look) => (look.status === 'fulfilled' ? look.value : []));
  const claimed = candidates.length === 0 ? [] : await claim(ports, dispatcher, candidates);
  const failed = looks.find((look) => look.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return claimed;
}

/** Reserves a place before the query, so that a merchant without places costs no query. */
async function candidatesIn(ports: Ports, dispatcher: Dispatcher, lane: string): Promise<Candidate[]> {
  if (!dispatcher.reserve(lane)) return [];
  const [first, ...others] = await dueIn(ports, dispatcher, lane);
  if (first === undefined) {
    dispatcher.giveBack(lane);
    return [];
  }
  return [first, ...others.filter(() => dispatcher.reserve(lane))].map((id) => ({ id, lane }));
}

/** Releases the reserved place if the query fails. */
async function dueIn(ports: Ports, dispatcher: Dispatcher, lane: string): Promise<string[]> {
  try {
    return await ports.deliveries.findDue(lane, ports.now(), 1 + dispatcher.places(lane));
  } catch (error) {
    dispatcher.giveBack(lane);
    throw error;
  }
}

/** The conditional write decides between replicas. Deliveries that another replica got free their places. */
async function claim(
  ports: Ports,
  dispatcher: Dispatcher,
  candidates: readonly Candidate[],
): Promise<StoredDelivery[]> {
  let claimed: StoredDelivery[] = [];
  try {
    const ids = candidates.map(({ id }) => id);
    claimed = await ports.deliveries.claim(ids, LEASE_MS);
  } catch (error) {
    ports.logger.warn('could not claim due deliveries; the next scan retries', {
      deliveries: candidates.length,
      error,
    });
  }
  const taken = new Set(claimed.map(({ _id }) => _id));
  for (const { id, lane } of candidates) if (!taken.has(id)) dispatcher.giveBack(lane);
  for (const delivery of claimed) dispatcher.submit(delivery);
  return claimed;
}
