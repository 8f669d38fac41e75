import type { MongoConnection } from '@gateway/mongo';
import { bodyOf, clockAt, connectMongo, createHandle, RESOLVER_LEASE_MS } from '@gateway/mongo';
import { noTracer } from '@gateway/service-kit';
import type { Space } from '@gateway/testing';
import { openSpace, silentLogger } from '@gateway/testing';
import type { PayoutsAdapter } from '../src/adapters/mongo/payouts';
import { createPayouts } from '../src/adapters/mongo/payouts';
import { announce } from '../src/application/announcements';
import { applyNews } from '../src/application/apply-news';
import type { HoldingPorts } from '../src/application/hold-payouts';
import { cancelPayouts } from '../src/application/hold-payouts';
import type { Hold, Holds } from '../src/application/hold-ports';
import { resumeHeld } from '../src/application/resume-held';
import type { BankConnector, BankNews, Cancellation, Inquiry, SubmitAnswer } from '../src/application/bank-ports';
import { processCommand } from '../src/application/process-command';
import { recordDeadLetter } from '../src/application/record-dead-letter';
import { resolveNow } from '../src/application/resolve-payouts';
import type { Payout, PayoutEvent, PayoutStateKind } from '../src/domain/payout';
import { evolve } from '../src/domain/payout';
import { request } from '../src/domain/payouts.fixture';
import { PAYING_ACCOUNT } from '../src/adapters/banks/iso20022/iso20022.fixture';

/** Replaying the events of a payout always gives its document. */
let space: Space;
let mongo: MongoConnection;
let payouts: PayoutsAdapter;
let now = 1_800_000_000_000;

beforeAll(async () => {
  space = await openSpace('payout-replay');
  mongo = await connectMongo({ uri: space.mongoUri, database: `${space.databasePrefix}payouts` });
  payouts = createPayouts(
    mongo,
    clockAt(() => now),
  );
  await payouts.ensureIndexes();
});
afterAll(async () => {
  await mongo.mongoose.dropDatabase();
  await mongo.close();
  await space.remove();
});

const REFUSED = { passed: false, code: 3202, rule: 'daily', reason: 'much' } as const;

/** Holds everything, or nothing. */
function memoryOfHolds() {
  let held: Hold[] = [];
  const hold = () => void (held = [{ scope: { kind: 'all' }, since: 0, by: 'alice' }]);
  const release = () => void (held = []);
  const holds: Holds = {
    read: async () => held,
    hold: async () => (hold(), 'held'),
    release: async () => (release(), true),
    releaseAll: async () => release(),
  };
  return { holds, hold, release };
}

type Bank = Partial<Pick<BankConnector, 'submit' | 'inquire' | 'cancel'>>;
/** Gives its answers in turn, and repeats the last one. */
const says = <T>(...answers: T[]) => {
  const left = [...answers];
  return () => Promise.resolve(left.length > 1 ? (left.shift() as T) : (left[0] as T));
};

let payoutsMade = 0;
function world(bank: Bank, { passes = true, passesAgain = true, hasPlace = true } = {}) {
  const reference = `REPLAY${String((payoutsMade += 1)).padStart(14, '0')}`;
  const events: PayoutEvent[] = [];
  const { holds, ...operator } = memoryOfHolds();
  const begun: Promise<void>[] = [];
  let ids = 0;
  const connector: BankConnector = {
    name: 'bank',
    longestCallMs: 1_000,
    callMs: 1_000,
    placeForNew: () => (hasPlace ? { leave: () => undefined } : undefined),
    start: async () => undefined,
    stop: async () => undefined,
    inquire: says<Inquiry>({ kind: 'unknown' }),
    ...bank,
    submit: async (instruction, options) =>
      (await options?.instead?.()) ?? bank.submit?.(instruction) ?? { kind: 'not-sent' },
  };
  const ports: HoldingPorts = {
    recovery: { mayHaveBeenHandled: () => false },
    batches: undefined,
    payouts,
    handle: createHandle({
      store: payouts,
      evolve,
      announce,
      publish: () => undefined,
      onWritten: (event) => events.push(event),
      now: () => now,
      newId: () => `${reference}-${(ids += 1)}`,
    }),
    accounts: { find: async () => PAYING_ACCOUNT, findLatest: async () => PAYING_ACCOUNT },
    holds,
    screening: {
      screen: async () => (passes ? { passed: true } : REFUSED),
      screenAgain: async () => (passesAgain ? { passed: true } : REFUSED),
      release: async () => undefined,
    },
    bankFor: () => 'bank',
    bank: () => connector,
    claimMs: RESOLVER_LEASE_MS,
    calls: { begin: async (work) => void begun.push(work()) },
    now: () => now,
    tracer: noTracer,
    logger: silentLogger,
  };
  const own = { ...request, payoutId: reference.slice(0, 16), reference };
  return {
    reference,
    ports,
    process: async () => {
      await processCommand(ports, { request: own, id: 'message' });
      await Promise.all(begun);
    },
    deadLetter: () => recordDeadLetter(ports, own, 'message'),
    resolve: async (times = 1) => {
      for (let time = 0; time < times; time += 1) await resolveNow(ports, reference);
    },
    operator,
    resume: () => resumeHeld(ports, () => false),
    cancel: () => cancelPayouts(ports, { kind: 'payout', reference }, 'alice'),
    hear: (outcome: BankNews['outcome']) => applyNews(ports, 'bank', { reference, outcome }),
    replayed: () => events.reduce<Payout | undefined>(evolve, undefined),
    async stored() {
      const document = await payouts.load(reference);
      if (document === null) throw new Error('not on record');
      return bodyOf(document);
    },
  };
}
type World = ReturnType<typeof world>;

const UNKNOWN = { kind: 'unknown', code: 3109 } as const;
const SUBMITTED = { kind: 'submitted', bank: { transactionId: 'T1' } } as const;

const JOURNEYS: [string, PayoutStateKind, () => World, ((world: World) => Promise<unknown>)[]][] = [
  ['settled at once', 'settled', () => world({ submit: says<SubmitAnswer>({ kind: 'settled' }) }), []],
  ['refused by the rules', 'frauded', () => world({}, { passes: false }), [({ resolve }) => resolve()]],
  [
    'declined, then its reservations are released',
    'declined',
    () => world({ submit: says<SubmitAnswer>({ kind: 'declined', code: 3101 }) }),
    [({ resolve }) => resolve(), ({ process }) => process()],
  ],
  [
    'unknown, asked in vain, then found',
    'settled',
    () => world({ submit: says<SubmitAnswer>(UNKNOWN), inquire: says<Inquiry>(UNKNOWN, UNKNOWN, { kind: 'settled' }) }),
    [({ resolve }) => resolve(2), ({ resolve }) => resolve()],
  ],
  [
    'unknown, not found, cancelled, released',
    'failed',
    () =>
      world({
        submit: says<SubmitAnswer>(UNKNOWN),
        inquire: says<Inquiry>({ kind: 'not-found' }),
        cancel: says<Cancellation>({ kind: 'cancelled' }),
      }),
    [({ resolve }) => resolve(), ({ resolve }) => resolve()],
  ],
  [
    'with the bank, which says more, settles, and returns',
    'returned',
    () => world({ submit: says<SubmitAnswer>(SUBMITTED), inquire: says<Inquiry>(SUBMITTED) }),
    [
      ({ resolve }) => resolve(),
      ({ hear }) => hear({ kind: 'submitted', bank: { advice: 'Q1' } }),
      ({ hear }) => hear({ kind: 'settled' }),
      ({ hear }) => hear({ kind: 'returned', reasonCode: 'AC04' }),
      ({ hear }) => hear({ kind: 'declined', code: 3101 }),
    ],
  ],
  [
    'waits for its turn; then the bank is away, then takes it',
    'submitted',
    () =>
      world(
        { submit: says<SubmitAnswer>({ kind: 'not-sent' }, SUBMITTED), inquire: says<Inquiry>({ kind: 'not-found' }) },
        { hasPlace: false },
      ),
    [({ resolve }) => resolve(), ({ resolve }) => resolve(2)],
  ],
  [
    'held while it waits, released, sent',
    'settled',
    () => world({ submit: says<SubmitAnswer>({ kind: 'settled' }) }, { hasPlace: false }),
    [
      async ({ operator }) => operator.hold(),
      ({ resolve }) => resolve(),
      ({ resume }) => resume(),
      async ({ operator }) => operator.release(),
      ({ resume }) => resume(),
      ({ resolve }) => resolve(),
    ],
  ],
  [
    'held, and called off',
    'failed',
    () => world({ submit: says<SubmitAnswer>({ kind: 'settled' }) }, { hasPlace: false }),
    [
      async ({ operator }) => operator.hold(),
      ({ resolve }) => resolve(),
      ({ cancel }) => cancel(),
      async ({ operator }) => operator.release(),
      ({ resume }) => resume(),
      ({ resolve }) => resolve(),
    ],
  ],
  [
    'refused by the rules when its turn comes',
    'frauded',
    () => world({}, { passesAgain: false, hasPlace: false }),
    [({ resolve }) => resolve(), ({ resolve }) => resolve()],
  ],
];

test.each(JOURNEYS)('%s', async (_name, end, open, steps) => {
  const here = open();
  for (const step of [({ process }: World) => process(), ...steps]) {
    now += 1_000;
    await step(here);
    expect(await here.stored()).toEqual(here.replayed());
  }
  expect(await here.stored()).toMatchObject({ state: { kind: end } });
});

test('a dead letter', async () => {
  const here = world({});
  await here.deadLetter();
  expect(await here.stored()).toEqual(here.replayed());
});

test('a document of the previous release is read, resolved and released', async () => {
  const here = world({ inquire: says<Inquiry>(UNKNOWN, { kind: 'declined', code: 3101 }) });
  const { reference } = here;
  await mongo.collection('payouts').insertOne({
    _id: reference,
    ...request,
    reference,
    state: { kind: 'unknown', code: 3109 },
    screening: { passed: true },
    bank: 'bank',
    time: 1_700_000_000,
    resolveAt: now,
    inquiries: 3,
    version: 3,
    eventSeq: 3,
    outbox: [],
    stamp: 'writer/1',
  } as never);
  await here.resolve();
  expect(await here.stored()).toMatchObject({ state: { kind: 'unknown' }, inquiries: 4, resolveAt: now + 8_000 });
  await here.resolve(2);
  const ended = await here.stored();
  expect(ended).toEqual({
    ...request,
    reference,
    state: { kind: 'declined', code: 3101 },
    screening: { passed: true },
    bank: 'bank',
    time: 1_700_000_000,
  });
});
