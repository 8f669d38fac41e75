import type { ClockMove, SandboxClock, ServiceName } from '@gateway/contracts';
import type { Collection, Filter } from '@gateway/mongo';
import { duplicateKeyIndex } from '@gateway/mongo';
import { untilWritten } from '@gateway/service-kit';

export const CLOCKS = 'clocks';

const DAY_MS = 86_400_000;
/** Moves are kept this long: what arrives later from before a move is not adjusted any more. */
export const MOVES_KEPT_MS = DAY_MS;
/** Of one account within {@link MOVES_KEPT_MS}. */
export const MOVES_MAX = 200;
export const MOVES_TOTAL_MAX_MS = 400 * DAY_MS;
/**
 * A move takes effect this long after it was accepted, and services follow it this long after that. So it concerns what
 * came before it, and nothing that comes after its answer, although clocks differ by some ms (ADR 0027).
 */
export const CLOCK_MARGIN_MS = 100;
/** Clocks that one look reads, the latest moved first. */
const RECENT_MAX = 500;

/** The services where something of an account waits for a time. */
export const CLOCK_FOLLOWERS = [
  'api-edge',
  'card-processing',
  'threeds',
  'callback-dispatcher',
] as const satisfies readonly ServiceName[];
export type ClockFollower = (typeof CLOCK_FOLLOWERS)[number];

/** The request that moved a clock, if it had an Idempotency-Key: keyed hashes of the key and of the body. */
export interface KeptRequest {
  readonly key: string;
  readonly bodyHash: string;
  /** Of its answer. */
  readonly sessionId: string;
}

type StoredMove = ClockMove & { readonly request?: KeptRequest };

/** The stored document; `_id` is the merchant account. It is never removed: what waits knows how far it was ahead. */
export interface ClockRecord {
  _id: string;
  /** Guards each move. */
  version: number;
  aheadMs: number;
  beforeMs: number;
  moves: StoredMove[];
  /** Epoch ms of the last move. */
  movedAt: number;
  /** How far each service has followed. */
  followed?: Partial<Record<ClockFollower, number>>;
}

export interface FollowedClock extends SandboxClock {
  readonly moves: readonly StoredMove[];
  readonly followed: Partial<Record<ClockFollower, number>>;
}

export type MoveRefusal =
  /** Too many moves, or too far, within a day. Epoch ms from which the oldest no longer counts. */
  | { kind: 'too-much'; until: number }
  /** The same key has moved it before. */
  | { kind: 'repeated' };

/** The clocks of sandbox accounts. Only moved ones are stored. */
export interface SandboxClocks {
  find(merchantAccount: string): Promise<FollowedClock | undefined>;
  /** Moves the clock of an account forward; returns the clock, whose last move is this one. */
  move(merchantAccount: string, byMs: number, request?: KeptRequest): Promise<FollowedClock | MoveRefusal>;
  /** Clocks with a move that is kept, the latest moved first; at most 500. */
  recent(): Promise<FollowedClock[]>;
  /** Everything of the account that waits in this service has followed its clock this far. */
  followed(merchantAccount: string, service: ClockFollower, aheadMs: number): Promise<void>;
  /** For api-edge, which writes the clocks. */
  ensureIndexes(): Promise<void>;
}

const byMove = { key: { movedAt: -1 }, name: 'by_move' } as const;

/** @param now epoch ms */
export function createSandboxClocks(collection: Collection<ClockRecord>, now: () => number): SandboxClocks {
  const find = async (merchantAccount: string): Promise<ClockRecord | undefined> =>
    (await collection.findOne({ _id: merchantAccount })) ?? undefined;

  /** Undefined if another replica was faster. */
  async function write(known: ClockRecord | undefined, next: ClockRecord): Promise<true | undefined> {
    if (known !== undefined) {
      const { _id, followed: _followed, ...moved } = next;
      const unchanged: Filter<ClockRecord> = { _id, version: known.version };
      return (await collection.updateOne(unchanged, { $set: moved })).matchedCount === 1 || undefined;
    }
    try {
      await collection.insertOne(next);
      return true;
    } catch (error) {
      if (duplicateKeyIndex(error) === undefined) throw error;
      return undefined;
    }
  }

  return {
    find: async (merchantAccount) => toClock(await find(merchantAccount)),
    move: (merchantAccount, byMs, request) =>
      untilWritten(async () => {
        const known = await find(merchantAccount);
        if (known !== undefined && moveOf(known, request?.key) !== undefined) return { kind: 'repeated' } as const;
        const clock = known ?? unmoved(merchantAccount);
        const next = refusalOfMove(clock, byMs, now()) ?? moved(clock, byMs, { now: now(), request });
        if ('kind' in next) return next;
        return (await write(known, next)) && toClock(next);
      }),
    async recent() {
      const kept = { movedAt: { $gt: now() - MOVES_KEPT_MS } };
      const found = await collection.find(kept).sort(byMove.key).limit(RECENT_MAX).toArray();
      return found.map((record) => toClock(record));
    },
    async followed(merchantAccount, service, aheadMs) {
      await collection.updateOne({ _id: merchantAccount }, { $max: { [`followed.${service}`]: aheadMs } });
    },
    async ensureIndexes() {
      await collection.createIndexes([{ ...byMove }]);
    },
  };
}

function unmoved(merchantAccount: string): ClockRecord {
  return { _id: merchantAccount, version: 0, aheadMs: 0, beforeMs: 0, moves: [], movedAt: 0 };
}

/** The moves that are kept, and how far the clock was ahead before them. */
function keptOf(clock: Pick<FollowedClock, 'moves' | 'beforeMs'>, now: number) {
  const moves = clock.moves.filter(({ at }) => at > now - MOVES_KEPT_MS);
  return { moves, beforeMs: clock.moves.at(-1 - moves.length)?.aheadMs ?? clock.beforeMs };
}

/** Why the clock may not be moved by that now (epoch ms); undefined if it may. */
export function refusalOfMove(
  clock: Pick<FollowedClock, 'aheadMs' | 'beforeMs' | 'moves'>,
  byMs: number,
  now: number,
): Extract<MoveRefusal, { kind: 'too-much' }> | undefined {
  const { moves, beforeMs } = keptOf(clock, now);
  const [oldest] = moves;
  if (oldest === undefined) return undefined;
  const isTooMuch = moves.length >= MOVES_MAX || clock.aheadMs + byMs - beforeMs > MOVES_TOTAL_MAX_MS;
  return isTooMuch ? { kind: 'too-much', until: oldest.at + MOVES_KEPT_MS } : undefined;
}

function moved(
  clock: ClockRecord,
  byMs: number,
  { now, request }: { now: number; request: KeptRequest | undefined },
): ClockRecord {
  const { moves, beforeMs } = keptOf(clock, now);
  const aheadMs = clock.aheadMs + byMs;
  // Moves are in order, whatever the replicas' clocks say.
  const at = Math.max(now + CLOCK_MARGIN_MS, clock.movedAt + 1);
  const move: StoredMove = { at, aheadMs, ...(request === undefined ? {} : { request }) };
  return { ...clock, version: clock.version + 1, aheadMs, beforeMs, moves: [...moves, move], movedAt: at };
}

/** The move that a request with this key has made within a day. */
export function moveOf({ moves }: Pick<FollowedClock, 'moves'>, key: string | undefined): StoredMove | undefined {
  return key === undefined ? undefined : moves.find(({ request }) => request?.key === key);
}

function toClock(record: ClockRecord): FollowedClock;
function toClock(record: ClockRecord | undefined): FollowedClock | undefined;
function toClock(record: ClockRecord | undefined): FollowedClock | undefined {
  if (record === undefined) return undefined;
  const { _id: merchantAccount, aheadMs, beforeMs, moves, followed = {} } = record;
  return { merchantAccount, aheadMs, beforeMs, moves, followed };
}

/** True once all services have followed the clock this far. */
export function allHaveFollowed({ followed }: Pick<FollowedClock, 'followed'>, aheadMs: number): boolean {
  return CLOCK_FOLLOWERS.every((service) => (followed[service] ?? 0) >= aheadMs);
}
