import { BEFORE_LANES, lanesOf, merchantOf } from '../domain/lane';
import { LEASE_MS } from './attempt-delivery';
import type { Dispatcher } from './dispatcher';
import type { LaneRange, Ports, StoredDelivery } from './ports';

/** Lanes that one query names. */
const LANES_MAX = 1_000;
/** Lanes that are asked for their due deliveries at a time. */
const LANES_AT_ONCE = 32;
/** A merchant with more due lanes than this is wide: each later scan reads at most this many of its index keys. */
const WIDE_MIN = 500;
/** Wide merchants kept in memory. */
const WIDE_MERCHANTS_MAX = 64;

export interface Claimer {
  /** Takes on lease what is due and has a place, and submits it. Returns how many it has taken. */
  look(): Promise<number>;
}

/**
 * A look goes round the merchants, beginning behind the one that was served last, and asks a lane for no more than it
 * has places for: what waits behind a dead address, or a slow one, is not even read. Of a merchant with very many
 * addresses it reads a bounded part, and the next look goes on behind that part: the others do not wait for all of it.
 */
export function createClaimer(ports: Ports, dispatcher: Dispatcher): Claimer {
  let begin = BEFORE_LANES;
  /** Wide merchants, each with the lane behind which its next part begins. */
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

  /** What is due of the merchants in a range. One that turns out to be wide is read whole this once. */
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

  /** The next part of a wide merchant, which is wide no more when one part is all of it. */
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

  /** Where a merchant's places run out, the lanes behind would never have a turn if the same one always came first. */
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

/** A delivery that seems to be due, and has a place. */
interface Candidate {
  id: string;
  lane: string;
}

/** One claim for all the lanes. Those that could be asked are served even where one could not. */
async function claimIn(ports: Ports, dispatcher: Dispatcher, lanes: readonly string[]): Promise<StoredDelivery[]> {
  const looks = await Promise.allSettled(lanes.map((lane) => candidatesIn(ports, dispatcher, lane)));
  const candidates = looks.flatMap((look) => (look.status === 'fulfilled' ? look.value : []));
  const claimed = candidates.length === 0 ? [] : await claim(ports, dispatcher, candidates);
  const failed = looks.find((look) => look.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return claimed;
}

/** Keeps one place before it asks: where a merchant has no more places, its other lanes are not asked in vain. */
async function candidatesIn(ports: Ports, dispatcher: Dispatcher, lane: string): Promise<Candidate[]> {
  if (!dispatcher.reserve(lane)) return [];
  const [first, ...others] = await dueIn(ports, dispatcher, lane);
  if (first === undefined) {
    dispatcher.giveBack(lane);
    return [];
  }
  return [first, ...others.filter(() => dispatcher.reserve(lane))].map((id) => ({ id, lane }));
}

/** The place that is kept is given back when the database does not answer. */
async function dueIn(ports: Ports, dispatcher: Dispatcher, lane: string): Promise<string[]> {
  try {
    return await ports.deliveries.findDue(lane, ports.now(), 1 + dispatcher.places(lane));
  } catch (error) {
    dispatcher.giveBack(lane);
    throw error;
  }
}

/** The conditional write decides between replicas. What it did not give is another's, and its place is free again. */
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

/** Lets any replica take a delivery that this one has claimed and will not attempt now. */
export async function handBack(ports: Ports, delivery: StoredDelivery): Promise<void> {
  // A claim raises the version: what another replica has claimed since stays claimed.
  await ports.handle(delivery, ({ version }) =>
    version === delivery.version ? [{ type: 'HandedBack', at: ports.now() }] : [],
  );
}
