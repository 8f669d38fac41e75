import { createAllowance } from './allowance';
import { askDue, BATCH_MAX, LEASE_MS } from './ask-due';
import type { ClaimedDeadline, Ports } from './ports';

const NOW = Date.UTC(2026, 0, 15);

interface Claim {
  leaseMs: number;
  limit: number;
}

/** Due deadlines, and a bus that refuses some commands. */
function world(options: { due: number; room?: number; asksBefore?: number; refuses?: (reference: string) => boolean }) {
  let clock = NOW;
  const waiting = Array.from({ length: options.due }, (_, index): ClaimedDeadline => ({
    reference: `AUTH${index}`,
    merchantAccount: 'merchant',
    expiresAt: NOW - 1,
    asks: options.asksBefore ?? 0,
    claim: 'claim',
  }));
  const seen = {
    looks: 0,
    claims: [] as Claim[],
    asked: [] as string[],
    postponed: [] as object[],
    alarms: [] as string[],
  };
  const counted = { published: 0, failed: 0 };
  const ports: Ports = {
    recovering: () => false,
    deadlines: {
      open: () => Promise.resolve(),
      move: () => Promise.resolve(),
      announced: () => Promise.resolve(),
      end: () => Promise.resolve(),
      dueSince: () => Promise.resolve(waiting[0]?.expiresAt),
      claimDue: (leaseMs, limit) => {
        seen.claims.push({ leaseMs, limit });
        return Promise.resolve(waiting.splice(0, limit));
      },
      postpone: (asked) => Promise.resolve(void seen.postponed.push(...asked)),
    },
    askToExpire: ({ reference }) => {
      if (options.refuses?.(reference) === true) return Promise.reject(new Error('no broker'));
      seen.asked.push(reference);
      return Promise.resolve();
    },
    room() {
      seen.looks += 1;
      return Promise.resolve(options.room ?? Infinity);
    },
    asked(published, failed) {
      counted.published += published;
      counted.failed += failed;
    },
    now: () => clock,
    random: () => 0,
    logger: {
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: (message) => void seen.alarms.push(message),
      child: () => ports.logger,
    },
  };
  return { ports, seen, counted, pass: (ms: number) => void (clock += ms) };
}

test('asks stay within the allowance, which saves up at most one second', async () => {
  const { ports, pass } = world({ due: 1_000 });
  const allowance = createAllowance(100, ports.now);
  expect(await askDue(ports, allowance)).toBe(0);
  pass(250);
  expect(await askDue(ports, allowance)).toBe(25);
  pass(60_000);
  expect(await askDue(ports, allowance)).toBe(100);
  expect(await askDue(ports, allowance)).toBe(0);
});

test('card-processing gets no more commands than it has room for', async () => {
  const { ports, seen, pass } = world({ due: 1_000, room: 40 });
  const allowance = createAllowance(100, ports.now);
  pass(1_000);
  expect(await askDue(ports, allowance)).toBe(40);
  expect(allowance.available()).toBe(60);
  const full: Ports = { ...ports, room: () => Promise.resolve(-7) };
  expect(await askDue(full, allowance)).toBe(0);
  expect(seen.claims).toHaveLength(1);
});

test('the queue is not read when nothing is due', async () => {
  const { ports, seen, pass } = world({ due: 0 });
  const allowance = createAllowance(100, ports.now);
  pass(1_000);
  expect(await askDue(ports, allowance)).toBe(0);
  expect(seen).toMatchObject({ looks: 0, claims: [] });
});

test('a clock that goes back neither raises nor lowers the allowance', async () => {
  const { ports, pass } = world({ due: 10 });
  const allowance = createAllowance(100, ports.now);
  pass(-5_000);
  expect(await askDue(ports, allowance)).toBe(0);
  pass(50);
  expect(await askDue(ports, allowance)).toBe(5);
});

test('the number of deadlines in memory is bounded, however many are due', async () => {
  const { ports, seen, pass } = world({ due: 5_000 });
  const allowance = createAllowance(1_200, ports.now);
  pass(1_000);
  expect(await askDue(ports, allowance)).toBe(1_200);
  expect(seen.claims).toEqual([BATCH_MAX, BATCH_MAX, 200].map((limit) => ({ leaseMs: LEASE_MS, limit })));
});

test('accepted asks are postponed; the others stay leased', async () => {
  const { ports, seen, counted, pass } = world({ due: 3, refuses: (reference) => reference === 'AUTH1' });
  const allowance = createAllowance(100, ports.now);
  pass(1_000);
  await askDue(ports, allowance);
  expect(seen.asked).toEqual(['AUTH0', 'AUTH2']);
  const dueAt = ports.now() + 60_000;
  expect(seen.postponed).toEqual([
    { reference: 'AUTH0', claim: 'claim', asks: 1, dueAt },
    { reference: 'AUTH2', claim: 'claim', asks: 1, dueAt },
  ]);
  expect(counted).toEqual({ published: 2, failed: 1 });
});

test.each([
  [33, 0],
  [34, 1],
  [50, 1],
])('after %i asks without effect the next one logs this many alarms: %i', async (asksBefore, alarms) => {
  const { ports, seen, pass } = world({ due: 1, asksBefore });
  const allowance = createAllowance(100, ports.now);
  pass(1_000);
  await askDue(ports, allowance);
  expect(seen.alarms).toHaveLength(alarms);
});
