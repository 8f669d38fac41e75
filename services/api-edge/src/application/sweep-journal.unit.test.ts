import { RetryableError } from '@gateway/service-kit';
import { silentLogger } from '@gateway/testing';
import type { EntryName, JournalEntry, OperationEntry, PayoutEntry } from './ports';
import { CLAIM_MAX } from './ports';
import type { SweepPorts } from './sweep-journal';
import { LOOK_AGAIN_MS, SEND_AGAIN_MAX_MS, sweepJournal } from './sweep-journal';

const SWEEP_EVERY_MS = 2_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** From acceptance to a sweeper's first look. */
const FIRST_LOOK_MS = 35_000;

type Held<Entry extends JournalEntry> = Entry & { sweepAt: number; open: boolean };

/** A journal in memory. Claimed entries go to the end, because all leases have the same length. */
function open(entries: readonly JournalEntry[]) {
  const clock = { now: 0 };
  const world = {
    kafka: true,
    /** True if the owners answer and have recorded everything. */
    owners: true,
    onRecord: false,
    looks: 0,
    sent: [] as { reference: string; at: number }[],
    abandoned: [] as string[],
    announced: [] as string[],
    /** State of the card-entry page that all attempts belong to, and who was told that it has ended. */
    page: 'open',
    ended: [] as object[],
  };
  const held = entries.map((entry): Held<JournalEntry> => ({ ...entry, sweepAt: FIRST_LOOK_MS, open: true }));
  const byReference = new Map(held.map((entry) => [entry.reference, entry]));
  const line = [...held];
  let next = 0;
  const close = (closed: readonly EntryName[]): void => {
    for (const { reference } of closed) Object.assign(byReference.get(reference) ?? {}, { open: false });
  };
  async function publish({ data: { reference } }: { data: { reference: string } }): Promise<void> {
    if (!world.kafka) throw new RetryableError('no broker');
    world.sent.push({ reference, at: clock.now });
  }
  async function ask<T>(looks: number, answer: T): Promise<T> {
    world.looks += looks;
    if (!world.owners) throw new RetryableError('no answer');
    return answer;
  }
  const ports = {
    journal: {
      async claimOverdue(leaseMs: number) {
        const due: Held<JournalEntry>[] = [];
        for (let first = line[next]; first !== undefined && due.length < CLAIM_MAX; first = line[(next += 1)]) {
          if (first.sweepAt > clock.now) break;
          if (first.open) due.push(first);
        }
        for (const claimed of due) claimed.sweepAt = clock.now + leaseMs;
        line.push(...due);
        return due;
      },
      async keepSentAgain(sent: readonly EntryName[], at: number) {
        for (const { reference } of sent) Object.assign(byReference.get(reference) ?? {}, { sentAgainAt: at });
      },
      close: async (closed: readonly EntryName[]) => close(closed),
      async abandon(abandoned: readonly EntryName[]) {
        world.abandoned.push(...abandoned.map(({ reference }) => reference));
        close(abandoned);
      },
      findByPayment: async () => [{ checkoutId: 'page' }, ...held],
    },
    checkouts: {
      find: async () => ({ paymentId: 'P', merchantAccount: 'm', dueClockMs: 7, state: world.page }),
    },
    bus: {
      available: () => world.kafka,
      publish,
      announceOutcome: async ({ reference }: { reference: string }) => void world.announced.push(reference),
      endCheckout: async (data: object) => void world.ended.push(data),
    },
    queries: { outcome: () => ask(1, world.onRecord ? {} : undefined) },
    payoutQueries: { onRecord: (all: string[]) => ask(all.length, world.onRecord ? all : []) },
    closer: { close: (entry: EntryName) => close([entry]) },
    now: () => clock.now,
    logger: silentLogger,
  } as unknown as SweepPorts;
  return {
    world,
    openEntries: () => held.filter((entry) => entry.open).length,
    async sweepFor(ms: number) {
      for (const end = clock.now + ms; clock.now < end; clock.now += SWEEP_EVERY_MS) await sweepJournal(ports);
    },
  };
}

function entry<Space extends JournalEntry['space']>(space: Space, reference: string) {
  const data = { reference, callbackUrl: 'https://shop.example/callback' };
  return { reference, merchantAccount: 'm', space, acceptedAt: 0, deadline: 30_000, command: { data } };
}
const operation = (reference: string) => entry('card', reference) as unknown as OperationEntry;
const payout = (reference: string) => entry('payout', reference) as unknown as PayoutEntry;

describe.each(['kafka', 'owners'] as const)('after an hour without %s', (away) => {
  test('every entry is sent again and closed within two runs, however old it is', async () => {
    const { world, sweepFor, openEntries } = open([operation('A'), payout('B')]);
    world[away] = false;
    await sweepFor(HOUR_MS);
    expect(openEntries()).toBe(2);
    expect(world.sent).toEqual([]);
    world[away] = true;
    await sweepFor(LOOK_AGAIN_MS);
    expect(world.sent.map(({ reference }) => reference)).toEqual(['A', 'B']);
    world.onRecord = true;
    await sweepFor(LOOK_AGAIN_MS);
    expect(openEntries()).toBe(0);
    expect(world.announced).toEqual(['A']);
  });
});

test('the outcome of an AUTH is not announced: its address is for callbacks about its hold', async () => {
  const auth = { ...operation('A'), command: { type: 'AuthorizeCard', ...operation('A').command } } as OperationEntry;
  const { world, sweepFor, openEntries } = open([auth, operation('B')]);
  world.onRecord = true;
  await sweepFor(HOUR_MS);
  expect(openEntries()).toBe(0);
  expect(world.announced).toEqual(['B']);
});

describe('an attempt on a card-entry page', () => {
  const attempt = (): OperationEntry => ({ ...operation('A'), attempt: 1 });

  test('that was late for its page repeats the end of the page, before it is closed', async () => {
    const { world, sweepFor, openEntries } = open([attempt()]);
    Object.assign(world, { onRecord: true, page: 'ended' });
    await sweepFor(HOUR_MS);
    expect(openEntries()).toBe(0);
    expect(world.ended).toEqual([{ paymentId: 'P', merchantAccount: 'm', dueClockMs: 7 }]);
    expect(world.announced).toEqual([]);
  });

  test('says nothing while its page is open: the page is swept after it', async () => {
    const { world, sweepFor, openEntries } = open([attempt()]);
    world.onRecord = true;
    await sweepFor(HOUR_MS);
    expect(openEntries()).toBe(0);
    expect(world.ended).toEqual([]);
  });
});

test('nothing is claimed while Kafka is away, so the first run after its return handles everything', async () => {
  const { world, sweepFor } = open([operation('A'), payout('B')]);
  world.kafka = false;
  await sweepFor(HOUR_MS);
  expect(world.looks).toBe(0);
  world.kafka = true;
  await sweepFor(SWEEP_EVERY_MS);
  expect(world.sent).toHaveLength(2);
});

test('an entry that its owner does not record is sent again at growing intervals', async () => {
  const { world, sweepFor } = open([payout('A')]);
  await sweepFor(HOUR_MS);
  const pauses = world.sent.slice(1).map(({ at }, index) => at - (world.sent[index]?.at ?? 0));
  for (const [index, pause] of pauses.entries()) {
    const age = world.sent[index]?.at ?? 0;
    expect(pause).toBeGreaterThanOrEqual(Math.min(SEND_AGAIN_MAX_MS, age));
    expect(pause).toBeLessThan(Math.min(SEND_AGAIN_MAX_MS, age) + LOOK_AGAIN_MS + SWEEP_EVERY_MS);
  }
  expect(world.sent.length).toBeGreaterThan(7);
});

describe('a payout that its replica has not confirmed', () => {
  const unconfirmed = (): PayoutEntry => ({ ...payout('A'), unconfirmed: true });

  test('is abandoned, not sent: its merchant may have sent another one', async () => {
    const { world, sweepFor, openEntries } = open([unconfirmed(), payout('B')]);
    await sweepFor(HOUR_MS);
    expect(world.abandoned).toEqual(['A']);
    expect(world.sent.map(({ reference }) => reference)).not.toContain('A');
    expect(openEntries()).toBe(1);
  });

  test('is not abandoned if its owner has it, or if a sweeper of an earlier release sent it', async () => {
    const known = open([unconfirmed()]);
    known.world.onRecord = true;
    await known.sweepFor(HOUR_MS);
    expect([known.world.abandoned, known.openEntries()]).toEqual([[], 0]);
    const sent = open([{ ...unconfirmed(), sentAgainAt: 1 }]);
    await sent.sweepFor(HOUR_MS);
    expect([sent.world.abandoned, sent.openEntries()]).toEqual([[], 1]);
  });
});

describe('100,000 open entries', () => {
  const many = Array.from({ length: 100_000 }, (_, index) => payout(`P${index}`));
  const perSecond = (count: number, ms: number): number => count / (ms / 1_000);
  /** One claim per run. */
  const SLOW_LOOKS_PER_SECOND = perSecond(CLAIM_MAX, SWEEP_EVERY_MS);

  test('are queried slowly while their owner is down', async () => {
    const { world, sweepFor } = open(many);
    world.owners = false;
    await sweepFor(10 * MINUTE_MS);
    expect(perSecond(world.looks, 10 * MINUTE_MS)).toBeLessThanOrEqual(SLOW_LOOKS_PER_SECOND);
  });

  test('are sent once per run, and then left to a lagging owner', async () => {
    const { world, sweepFor, openEntries } = open(many);
    await sweepFor(HOUR_MS);
    // At 36 s, then at twice the age up to ten minutes, then every ten minutes.
    expect(world.sent.length / many.length).toBeLessThanOrEqual(10);
    expect(world.looks).toBeLessThanOrEqual(2 * world.sent.length + (SLOW_LOOKS_PER_SECOND * HOUR_MS) / 1_000);
    world.onRecord = true;
    await sweepFor(MINUTE_MS);
    expect(openEntries()).toBe(0);
  });
});
