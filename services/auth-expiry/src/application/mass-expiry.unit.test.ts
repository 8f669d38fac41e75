import { createAllowance } from './allowance';
import { askDue } from './ask-due';
import type { ClaimedDeadline, Ports } from './ports';
import { createRoom } from './room';

const NOW = Date.UTC(2026, 0, 15);
const LOOK_EVERY_MS = 250;
const MINUTE_MS = 60_000;
const PER_SECOND = 1_000;
/** One account's share of the places for such VOIDs, of two replicas of card-processing. */
const PLACES = 64;
const MANY = 20_000;

type Open = Omit<ClaimedDeadline, 'claim'> & { dueAt: number };

/** The same numbers in every run, evenly spread from 0 up to 1. */
function numbers(): () => number {
  let state = 1;
  return () => {
    state = (state * 16_807) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** One auth-expiry, and a card-processing that drops a request without a trace when all places of its account are taken. */
function world(callMs: number) {
  let clock = NOW;
  const open = new Map<string, Open>();
  const callsOf = new Map<string, number[]>();
  const queue = { done: 0, waiting: 0 };
  /** By account: how long after the end of each hold its VOID was done. */
  const lateMs = new Map<string, number[]>();

  function expire({ reference, merchantAccount, expiresAt }: ClaimedDeadline): void {
    queue.done += 1;
    const calls = (callsOf.get(merchantAccount) ?? []).filter((endsAt) => endsAt > clock);
    callsOf.set(merchantAccount, calls);
    if (calls.length >= PLACES) return;
    calls.push(clock + callMs);
    open.delete(reference);
    lateMsOf(merchantAccount).push(clock + callMs - expiresAt);
  }

  function lateMsOf(merchantAccount: string): number[] {
    const known = lateMs.get(merchantAccount) ?? [];
    lateMs.set(merchantAccount, known);
    return known;
  }

  const due = (): Open[] => [...open.values()].filter(({ dueAt }) => dueAt <= clock);
  const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore, child: () => logger };
  const ports: Ports = {
    recovering: () => false,
    deadlines: {
      open: () => Promise.resolve(),
      move: () => Promise.resolve(),
      announced: () => Promise.resolve(),
      end: () => Promise.resolve(),
      dueSince: async () => due()[0]?.dueAt,
      async claimDue(leaseMs, limit) {
        const claimed = due().toSorted((a, b) => a.dueAt - b.dueAt);
        return claimed.slice(0, limit).map((one) => {
          one.dueAt = clock + leaseMs;
          return { ...one, claim: 'claim' };
        });
      },
      async postpone(asked) {
        for (const { reference, asks, dueAt } of asked) {
          const one = open.get(reference);
          if (one !== undefined) open.set(reference, { ...one, asks, dueAt });
        }
      },
    },
    askToExpire: async (deadline) => expire(deadline),
    room: createRoom(
      async () => ({ ...queue }),
      () => clock,
    ),
    asked: ignore,
    now: () => clock,
    random: numbers(),
    logger,
  };
  const allowance = createAllowance(PER_SECOND, ports.now);

  return {
    holds(merchantAccount: string, ends: readonly number[]): void {
      for (const [index, expiresAt] of ends.entries()) {
        const reference = `${merchantAccount}-${index}`;
        open.set(reference, { reference, merchantAccount, expiresAt, dueAt: expiresAt, asks: 0 });
      }
    },
    /** Runs until no hold is left, or for so long. */
    async run(forMs: number): Promise<void> {
      for (const endsAt = clock + forMs; open.size > 0 && clock < endsAt; clock += LOOK_EVERY_MS) {
        await askDue(ports, allowance);
      }
    },
    left: () => open.size,
    asks: () => queue.done,
    lateMsOf,
  };
}

function ignore(): void {
  // Nobody looks at figures and logs here.
}

const together = Array.from({ length: MANY }, () => NOW);

describe.each([500, 5_000])('with an acquirer that takes %i ms for a VOID', (callMs) => {
  /** Without a pause between the calls of a place. */
  const idealMs = (MANY / PLACES) * callMs;
  const boundMs = 1.25 * idealMs + 4 * MINUTE_MS;

  test('20,000 holds of one account that end together are released in five quarters of the shortest time and 4 minutes', async () => {
    const { holds, run, left, asks } = world(callMs);
    holds('many', together);
    await run(boundMs);
    expect(left()).toBe(0);
    expect(asks()).toBeLessThan(10 * MANY);
  });
});

test('holds of another account end in time meanwhile, after the first round of requests', async () => {
  const { holds, run, lateMsOf } = world(5_000);
  const firstRoundMs = (MANY / PER_SECOND) * 1_000;
  const everySecond = Array.from({ length: 10 * 60 }, (_, index) => NOW + index * 1_000);
  holds('many', together);
  holds('few', everySecond);
  await run(10 * MINUTE_MS);
  const lateMs = lateMsOf('few');
  expect(lateMs.length).toBeGreaterThan(9 * 60);
  expect(Math.max(...lateMs)).toBeLessThanOrEqual(5_000 + firstRoundMs + 1_000);
  expect(Math.max(...lateMs.slice(60))).toBeLessThanOrEqual(5_000 + 1_000);
});
