import type { SandboxClock } from '@gateway/contracts';
import { recordingLogger, until } from '@gateway/testing';
import type { WaitingKind } from './follow-clocks';
import { createClockFollower } from './follow-clocks';
import type { FollowedClock } from './sandbox-clocks';

interface Thing {
  account: string;
  clockMs: number;
  busy?: boolean;
}

const HOUR_MS = 3_600_000;

/** A service with things that wait, and a clock that the test moves. */
function world(things: Thing[]) {
  const here = { now: 1_000_000, clocks: [] as FollowedClock[], looks: 0, lines: [] as string[] };
  const kind: WaitingKind<Thing> = {
    async behind({ merchantAccount, aheadMs }: SandboxClock, limit) {
      if (merchantAccount === 'broken') throw new Error('no database');
      here.looks += 1;
      return things.filter(({ account, clockMs }) => account === merchantAccount && clockMs < aheadMs).slice(0, limit);
    },
    async follow(thing, { aheadMs }) {
      if (thing.busy === true) return false;
      thing.clockMs = aheadMs;
      return true;
    },
  };
  const follower = createClockFollower({
    clocks: {
      recent: async () => here.clocks,
      followed: async (account, service, aheadMs) => {
        const clock = here.clocks.find(({ merchantAccount }) => merchantAccount === account);
        if (clock !== undefined) clock.followed[service] = aheadMs;
      },
    },
    service: 'threeds',
    kinds: [kind],
    now: () => here.now,
    logger: recordingLogger(here.lines),
  });
  return { ...here, here, follower };
}

const clock = (merchantAccount: string, at: number, aheadMs = HOUR_MS): FollowedClock => ({
  merchantAccount,
  aheadMs,
  beforeMs: 0,
  moves: [{ at, aheadMs }],
  followed: {},
});

async function run(follower: { start(): void; stop(): Promise<void> }, what: string, isDone: () => boolean) {
  follower.start();
  try {
    await until(what, async () => isDone());
  } finally {
    await follower.stop();
  }
}

test('everything of the account follows, in batches, and the service says so; another account does not', async () => {
  const things = Array.from({ length: 250 }, () => ({ account: 'one', clockMs: 0 }));
  const other = { account: 'other', clockMs: 0 };
  const { here, follower } = world([...things, other]);
  here.clocks = [clock('one', here.now - 100)];
  await run(follower, 'the report', () => here.clocks[0]?.followed.threeds === HOUR_MS);
  expect(things.every(({ clockMs }) => clockMs === HOUR_MS)).toBe(true);
  expect(other.clockMs).toBe(0);
});

test('nothing follows before the moment of the move', async () => {
  const { here, follower } = world([]);
  here.clocks = [clock('early', here.now), clock('one', here.now - 100)];
  await run(follower, 'the report', () => here.clocks[1]?.followed.threeds === HOUR_MS);
  expect(here.clocks[0]?.followed.threeds).toBeUndefined();
});

test('what is busy follows later, and until then the service does not say that all has', async () => {
  const busy: Thing = { account: 'one', clockMs: 0, busy: true };
  const { here, follower } = world([busy]);
  here.clocks = [clock('one', here.now - 100)];
  await run(follower, 'a second look', () => here.looks >= 2);
  expect(here.clocks[0]?.followed.threeds).toBeUndefined();
  busy.busy = false;
  await run(follower, 'the report', () => here.clocks[0]?.followed.threeds === HOUR_MS);
});

test('what comes late follows too: the service looks again, ever more rarely', async () => {
  const things: Thing[] = [];
  const { here, follower } = world(things);
  here.clocks = [clock('one', here.now - 100)];
  follower.start();
  await until('the first look', async () => here.looks === 1);
  things.push({ account: 'one', clockMs: 0 });
  here.now += 1_000;
  await until('the latecomer', async () => things[0]?.clockMs === HOUR_MS);
  const looks = here.looks;
  here.now += 400;
  here.clocks = [...here.clocks, clock('two', here.now - 100)];
  await until('the other account', async () => here.clocks[1]?.followed.threeds === HOUR_MS);
  await follower.stop();
  expect(here.looks).toBe(looks + 1);
});

test('a failure for one account does not keep the others waiting', async () => {
  const { here, follower } = world([{ account: 'one', clockMs: 0 }]);
  here.clocks = [clock('broken', here.now - 100), clock('one', here.now - 100)];
  await run(follower, 'the report', () => here.clocks[1]?.followed.threeds === HOUR_MS);
  expect(here.lines.join()).toContain('does not follow the clock of its account yet');
});
