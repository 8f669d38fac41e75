import { randomUUID } from 'node:crypto';
import type { MongoConnection } from '@gateway/mongo';
import { clockAt, connectMongo, createHandle, duplicateKeyIndex, RESOLVER_LEASE_MS } from '@gateway/mongo';
import type { Space } from '@gateway/testing';
import { openSpace, silentLogger } from '@gateway/testing';
import { createMetrics, noTracer } from '@gateway/service-kit';
import type { OpenBank } from '../src/adapters/banks/bank-context';
import { createBatches } from '../src/adapters/banks/iso20022/batches';
import type { Iso20022Connector } from '../src/adapters/banks/iso20022/connector';
import { createIso20022Connector } from '../src/adapters/banks/iso20022/connector';
import { createDepartures } from '../src/adapters/banks/iso20022/departures';
import { instruction, PAYING_ACCOUNT, testSettings } from '../src/adapters/banks/iso20022/iso20022.fixture';
import { openRecords } from '../src/adapters/banks/iso20022/records';
import type { HoldsAdapter } from '../src/adapters/mongo/holds';
import { createHolds } from '../src/adapters/mongo/holds';
import type { PayoutsAdapter } from '../src/adapters/mongo/payouts';
import { createPayouts } from '../src/adapters/mongo/payouts';
import { announce } from '../src/application/announcements';
import type { BankConnector } from '../src/application/bank-ports';
import type { HoldingPorts } from '../src/application/hold-payouts';
import { CANCELLED_AT_ONCE, cancelPayouts, holdPayouts, releaseEnded } from '../src/application/hold-payouts';
import { processCommand } from '../src/application/process-command';
import { resolveNow } from '../src/application/resolve-payouts';
import { submitPayout } from '../src/application/submit-payout';
import type { Scope } from '../src/domain/holds';
import { nameOf } from '../src/domain/holds';
import { evolve } from '../src/domain/payout';
import { inState, request } from '../src/domain/payouts.fixture';

/** Holds, cancellations and submissions at each moment of each other, in the real store, at both kinds of banks. */

const ALL: Scope = { kind: 'all' };
const OPERATOR = 'alice';
let space: Space;
let mongo: MongoConnection;
let payouts: PayoutsAdapter;
let holds: HoldsAdapter;
let files: Iso20022Connector;
const NOW = 1_800_000_000_000;
const accounts = { findLatest: async () => PAYING_ACCOUNT };

beforeAll(async () => {
  space = await openSpace('payout-hold-races');
  mongo = await connectMongo({ uri: space.mongoUri, database: `${space.databasePrefix}payouts` });
  const clock = clockAt(() => NOW);
  payouts = createPayouts(mongo, clock);
  holds = createHolds(mongo, clock);
  await Promise.all([payouts.ensureIndexes(), holds.ensureDocument()]);
  files = openFiles(mongo);
});
afterEach(async () => {
  for (const name of ['payouts', 'iso20022_members', 'iso20022_batches']) await mongo.collection(name).deleteMany({});
  for (const { scope } of await holds.read()) await holds.release(scope);
});
afterAll(async () => {
  for (const connector of opened) await connector.stop();
  await mongo.mongoose.dropDatabase();
  await mongo.close();
  await space.remove();
});

const opened: Iso20022Connector[] = [];
function openFiles(through: MongoConnection): Iso20022Connector {
  const metrics = createMetrics('test', { processFigures: false });
  const connector = createIso20022Connector({
    ...{ mongo: through, env: testSettings(), logger: silentLogger, metrics },
    ...{ clock: clockAt(() => NOW), holds, accounts },
  });
  opened.push(connector);
  return connector;
}

interface Hooks {
  /** When a submission is about to look at the holds. */
  beforeLook?(): Promise<unknown>;
  /** When it has looked, and found nothing. */
  onCall?(): Promise<unknown>;
  /** Default: one that settles at once. */
  connector?: OpenBank;
}

const settlingBank: OpenBank = {
  name: 'bank',
  longestCallMs: 1_000,
  callMs: 1_000,
  placeForNew: () => ({ leave: () => undefined }),
  submit: async (_payout, options) => (await options?.instead?.()) ?? { kind: 'settled' },
  inquire: async () => ({ kind: 'not-found' }),
  cancel: async () => ({ kind: 'cancelled' }),
  start: async () => undefined,
  stop: async () => undefined,
};

function world({ beforeLook, onCall, connector = settlingBank }: Hooks) {
  const sent: string[] = [];
  const begun: Promise<void>[] = [];
  const bank: BankConnector = {
    ...connector,
    submit: (payout, options) =>
      connector.submit(payout, {
        ...options,
        async instead() {
          await beforeLook?.();
          const instead = await options?.instead?.();
          if (instead !== undefined) return instead;
          await onCall?.();
          sent.push(payout.reference);
          return undefined;
        },
      }),
  };
  let ids = 0;
  const ports: HoldingPorts = {
    recovery: { mayHaveBeenHandled: () => false },
    payouts,
    holds,
    handle: createHandle({
      store: payouts,
      evolve,
      announce,
      publish: () => undefined,
      now: () => NOW,
      newId: () => String((ids += 1)),
    }),
    accounts: { find: async () => PAYING_ACCOUNT, findLatest: async () => PAYING_ACCOUNT },
    screening: {
      screen: async () => ({ passed: true }),
      screenAgain: async () => ({ passed: true }),
      release: async () => undefined,
    },
    bankFor: () => 'bank',
    bank: () => bank,
    claimMs: RESOLVER_LEASE_MS,
    calls: { begin: async (work) => void begun.push(work()) },
    batches: connector.operations,
    now: () => NOW,
    tracer: noTracer,
    logger: silentLogger,
  };
  const { reference } = request;
  return {
    ports,
    sent,
    reference,
    async submit() {
      await processCommand(ports, { request, id: 'message' });
      await Promise.all(begun);
    },
    state: async () => (await payouts.load(reference))?.state,
  };
}

test('a payout whose intent took so long to write that its submission could outlast the lease is left to the resolver', async () => {
  const { ports, sent, state, reference } = world({});
  await processCommand({ ...ports, calls: { begin: async () => undefined } }, { request, id: 'message' });
  const stored = await payouts.load(reference);
  if (stored === null) throw new Error('not stored');
  const at = (lateByMs: number) => (stored.resolveAt ?? 0) - settlingBank.callMs + lateByMs;
  await submitPayout({ ...ports, now: () => at(1) }, stored);
  expect(sent).toEqual([]);
  expect(await state()).toMatchObject({ kind: 'submitting' });
  let now = at(0);
  const slowly = async () => {
    now = at(1);
    return holds.read();
  };
  await submitPayout({ ...ports, now: () => now, holds: { ...ports.holds, read: slowly } }, stored);
  expect(sent).toEqual([]);
  await submitPayout({ ...ports, now: () => at(0) }, stored);
  expect(sent).toEqual([reference]);
});

test('a hold stands and is answered, even if its payouts cannot be counted', async () => {
  const here = world({});
  const uncounted = { ...payouts, countOpen: () => Promise.reject(new Error('operation exceeded time limit')) };
  const held = await holdPayouts({ ...here.ports, payouts: uncounted }, ALL, OPERATOR);
  expect(held).toEqual({ result: 'held', open: undefined });
  await here.submit();
  expect(here.sent).toEqual([]);
  expect(await here.state()).toEqual({ kind: 'held', reason: 'operator' });
});

const OPEN = { waiting: 0, onTheirWay: 0, withBank: 0 };
const SCOPES: Scope[] = [
  ALL,
  { kind: 'account', merchantAccount: request.merchantAccount },
  { kind: 'payout', reference: request.reference },
];

test.each(SCOPES)('a hold of %j that is set after the intent and before the look stops the payout', async (scope) => {
  const here = world({ beforeLook: async () => held.push(await holdPayouts(here.ports, scope, OPERATOR)) });
  const held: unknown[] = [];
  await here.submit();
  // It counts as being on its way, because the operator cannot know that it will look.
  expect(held).toEqual([{ result: 'held', open: { ...OPEN, onTheirWay: 1 } }]);
  expect(here.sent).toEqual([]);
  expect(await here.state()).toEqual({ kind: 'held', reason: 'operator' });
  expect(await cancelPayouts(here.ports, scope, OPERATOR)).toMatchObject({ result: 'cancelled', ended: 1 });
  expect(await here.state()).toEqual({ kind: 'failed', code: 3300 });
});

test.each(SCOPES)(
  'a hold of %j that is set after the look finds the payout on its way, and cannot cancel it',
  async (scope) => {
    const found: unknown[] = [];
    const here = world({
      async onCall() {
        found.push(await holdPayouts(here.ports, scope, OPERATOR), await cancelPayouts(here.ports, scope, OPERATOR));
      },
    });
    await here.submit();
    expect(found[0]).toEqual({ result: 'held', open: { ...OPEN, onTheirWay: 1 } });
    expect(found[1]).toEqual(
      scope.kind === 'payout' ? { result: 'with-bank' } : { result: 'cancelled', ended: 0, more: false },
    );
    expect(here.sent).toEqual([here.reference]);
    expect(await here.state()).toEqual({ kind: 'settled' });
  },
);

test('an intent whose process seems dead is not sent again under a hold, and cannot be called off', async () => {
  const died = world({ beforeLook: () => Promise.reject(new Error('the process died')) });
  await expect(died.submit()).rejects.toThrow('died');
  const here = world({});
  await holdPayouts(here.ports, ALL, OPERATOR);
  await resolveNow(here.ports, here.reference);
  expect(here.sent).toEqual([]);
  expect(await here.state()).toEqual({ kind: 'submitting' });
  expect(await cancelPayouts(here.ports, { kind: 'payout', reference: here.reference }, OPERATOR)).toEqual({
    result: 'with-bank',
  });
  await holds.release(ALL);
  await resolveNow(here.ports, here.reference);
  expect(here.sent).toEqual([here.reference]);
});

test('a process that was paused does not take back an intent that another one has looked into', async () => {
  const other = world({});
  const here = world({
    async beforeLook() {
      await holds.hold(ALL, OPERATOR);
      // Another replica finds the intent when its lease is over, and leaves it.
      await resolveNow(other.ports, other.reference);
    },
  });
  await here.submit();
  expect(here.sent).toEqual([]);
  expect(await here.state()).toEqual({ kind: 'submitting' });
});

test('holds on payouts that have ended or expired are released, others are not', async () => {
  const { ports } = world({});
  const states = ['held', 'submitting', 'submitted', 'settled', 'failed'] as const;
  for (const state of states) await payouts.insert(state, { ...inState[state], reference: state }, []);
  for (const reference of [...states, 'expired']) await holds.hold({ kind: 'payout', reference }, OPERATOR);
  await holds.hold(ALL, OPERATOR);
  await releaseEnded(ports);
  expect((await holds.read()).map(({ scope }) => nameOf(scope)).sort()).toEqual([
    'all',
    'payout held',
    'payout submitted',
    'payout submitting',
  ]);
});

test('nothing is sent while the holds cannot be read', async () => {
  const here = world({});
  await mongo.collection('holds').deleteMany({});
  await here.submit();
  expect(here.sent).toEqual([]);
  expect(await here.state()).toEqual({ kind: 'submitting' });
  await holds.ensureDocument();
  await resolveNow(here.ports, here.reference);
  expect(here.sent).toEqual([here.reference]);
});

test('of a cancellation and a turn at the same time, one decides', async () => {
  for (let time = 0; time < 10; time += 1) {
    await mongo.collection('payouts').deleteMany({});
    const here = world({});
    const { ports, reference } = here;
    const busy: HoldingPorts = {
      ...ports,
      bank: () => ({ ...(ports.bank('bank') as BankConnector), placeForNew: () => undefined }),
    };
    await processCommand(busy, { request, id: 'message' });
    await holds.hold(ALL, OPERATOR);
    const [cancelled] = await Promise.all([
      cancelPayouts(ports, { kind: 'payout', reference }, OPERATOR),
      holds.release(ALL).then(() => resolveNow(ports, reference)),
    ]);
    const state = await here.state();
    if (cancelled.result === 'cancelled')
      expect({ state, sent: here.sent }).toEqual({ state: { kind: 'failed', code: 3300 }, sent: [] });
    else expect({ state, sent: here.sent }).toEqual({ state: { kind: 'settled' }, sent: [reference] });
    here.sent.length = 0;
  }
});

describe.each([
  { takes: 'single payouts', connectorOf: () => settlingBank, accepted: 'settled' },
  { takes: 'files', connectorOf: () => files, accepted: 'submitted' },
])('at a bank that takes $takes', ({ connectorOf, accepted }) => {
  test('an intent that another replica is sending is not taken back, and is never both cancelled and paid', async () => {
    const connector = connectorOf();
    const looked = promise();
    const answer = promise();
    let sending: Promise<unknown> | undefined;
    const other = world({
      connector,
      async onCall() {
        looked.resolve();
        await answer.done;
      },
    });
    const here = world({
      connector,
      async beforeLook() {
        // The other one found the intent when its lease was over. Its call runs when the hold comes.
        sending = resolveNow(other.ports, other.reference);
        await looked.done;
        await holdPayouts(here.ports, ALL, OPERATOR);
      },
    });
    const scope: Scope = { kind: 'payout', reference: here.reference };
    await here.submit();
    expect(await here.state()).toEqual({ kind: 'submitting' });
    expect(await cancelPayouts(here.ports, ALL, OPERATOR)).toMatchObject({ ended: 0 });
    expect(await cancelPayouts(here.ports, scope, OPERATOR)).toEqual({ result: 'with-bank' });
    answer.resolve();
    await sending;
    expect([here.sent, other.sent]).toEqual([[], [here.reference]]);
    expect(await here.state()).toEqual({ kind: accepted });
    const canBeWithdrawn = connector === files;
    expect(await cancelPayouts(here.ports, scope, OPERATOR)).toMatchObject({
      result: canBeWithdrawn ? 'cancelled' : 'ended',
    });
    expect(await here.state()).toEqual(canBeWithdrawn ? { kind: 'failed', code: 3300 } : { kind: 'settled' });
    await holds.release(ALL);
    expect(await files.operations.cut()).toEqual([]);
  });
});

test('a held payout that an open batch has as well is withdrawn from it when it is cancelled', async () => {
  const here = world({ connector: files });
  await holds.hold(ALL, OPERATOR);
  await here.submit();
  const { reference } = here;
  // As a replica of an earlier release left it, which sent an intent while another one took it back.
  expect(await files.submit(instruction(reference))).toEqual({ kind: 'submitted' });
  expect(await here.state()).toEqual({ kind: 'held', reason: 'operator' });
  expect(await cancelPayouts(here.ports, { kind: 'payout', reference }, OPERATOR)).toMatchObject({ ended: 1 });
  await holds.release(ALL);
  expect(await files.operations.cut()).toEqual([]);
  expect(await here.state()).toEqual({ kind: 'failed', code: 3300 });
});

describe('a payout whose first record fails', () => {
  /** The first insert fails here. The database has it once `land` was called, if nothing else has the reference. */
  function failingOnce() {
    const members = mongo.collection<{ _id: string }>('iso20022_members');
    let lost: { _id: string } | undefined;
    const insertOne: typeof members.insertOne = (member, options) => {
      if (lost !== undefined) return members.insertOne(member, options);
      lost = { ...member };
      return Promise.reject(new Error('no answer'));
    };
    const failing: unknown = Object.create(members, { insertOne: { value: insertOne } });
    const collection = (name: string) => (name === members.collectionName ? failing : mongo.collection(name));
    const connector = openFiles({ ...mongo, collection } as MongoConnection);
    const land = async () => {
      if (lost === undefined) throw new Error('nothing was inserted');
      await members.insertOne(lost).catch((error: unknown) => {
        if (duplicateKeyIndex(error) === undefined) throw error;
      });
    };
    return { ...world({ connector }), cut: () => connector.operations.cut(), land };
  }

  const never = async (): Promise<void> => undefined;
  const once = [{ state: 'emitted', payouts: 1 }];

  test.each([
    ['and never lands', { before: false, after: false }],
    ['but has landed', { before: true, after: false }],
    ['and lands after the next one', { before: false, after: true }],
  ])('%s is in one file, once', async (_, lands) => {
    const here = failingOnce();
    await here.submit();
    expect(await here.state()).toEqual({ kind: 'submitting' });
    await (lands.before ? here.land : never)();
    await resolveNow(here.ports, here.reference);
    expect(await here.state()).toEqual({ kind: 'submitted' });
    await (lands.after ? here.land : never)();
    expect(await here.cut()).toMatchObject(once);
    expect(await here.cut()).toEqual([]);
  });

  test('is in no file after it was cancelled, however late the first one lands', async () => {
    const here = failingOnce();
    const scope: Scope = { kind: 'payout', reference: here.reference };
    await here.submit();
    await holds.hold(ALL, OPERATOR);
    await resolveNow(here.ports, here.reference);
    // It may still land, so the payout must not be told to have ended.
    expect(await cancelPayouts(here.ports, scope, OPERATOR)).toEqual({ result: 'with-bank' });
    await holds.release(ALL);
    await resolveNow(here.ports, here.reference);
    await holds.hold(ALL, OPERATOR);
    expect(await cancelPayouts(here.ports, scope, OPERATOR)).toMatchObject({ result: 'cancelled', ended: 1 });
    expect(await here.state()).toEqual({ kind: 'failed', code: 3300 });
    await here.land();
    await holds.release(ALL);
    expect(await here.cut()).toEqual([]);
  });
});

describe('a payout in a file', () => {
  /** Freezes the open batch and writes no file, like a process that dies in between. */
  async function freeze(): Promise<void> {
    const records = openRecords(mongo);
    const departures = createDepartures({ holds, accounts, members: records.members });
    const batches = createBatches({
      ...{ records, departures, initiatingParty: 'Gateway Ltd', payoutsPerFile: 10 },
      ...{ now: () => NOW, newId: randomUUID },
    });
    await batches.freeze({ instant: NOW, others: NOW });
  }

  test.each(SCOPES)('whose writing has not begun waits under a hold of %j, and can be cancelled', async (scope) => {
    const here = world({ connector: files });
    await here.submit();
    await freeze();
    const waiting = { result: 'held', open: { ...OPEN, waiting: 1 } };
    expect(await holdPayouts(here.ports, scope, OPERATOR)).toEqual(waiting);
    // Its writer opens the batch again.
    expect(await files.operations.cut()).toEqual([]);
    expect(await holdPayouts(here.ports, scope, OPERATOR)).toEqual({ ...waiting, result: 'known' });
    expect(await cancelPayouts(here.ports, scope, OPERATOR)).toMatchObject({ result: 'cancelled', ended: 1 });
    expect(await here.state()).toEqual({ kind: 'failed', code: 3300 });
  });

  test('that is in the outbox can be neither held nor cancelled', async () => {
    const here = world({ connector: files });
    const scope: Scope = { kind: 'payout', reference: here.reference };
    await here.submit();
    expect(await files.operations.cut()).toMatchObject([{ state: 'emitted', payouts: 1 }]);
    expect(await holdPayouts(here.ports, scope, OPERATOR)).toEqual({ result: 'with-bank' });
    expect(await holds.read()).toEqual([]);
    const all = { result: 'held', open: { ...OPEN, withBank: 1 } };
    expect(await holdPayouts(here.ports, ALL, OPERATOR)).toEqual(all);
    expect(await cancelPayouts(here.ports, scope, OPERATOR)).toEqual({ result: 'with-bank' });
  });
});

test('repeated cancellations end everything, in the store and then in open batches', async () => {
  const { ports } = world({ connector: files });
  const stored = Array.from({ length: CANCELLED_AT_ONCE + 1 }, (_, index) => `STORED${index}`);
  await Promise.all(stored.map((reference) => payouts.insert(reference, { ...inState.held, reference }, [])));
  await payouts.insert('BATCHED', { ...inState.submitted, reference: 'BATCHED' }, []);
  await files.submit(instruction('BATCHED'));
  await holds.hold(ALL, OPERATOR);
  const cancelled = { result: 'cancelled', ended: CANCELLED_AT_ONCE, more: true };
  expect(await cancelPayouts(ports, ALL, OPERATOR)).toEqual(cancelled);
  expect(await cancelPayouts(ports, ALL, OPERATOR)).toEqual({ ...cancelled, ended: 2, more: false });
  expect(await payouts.countOpen(ALL)).toEqual({ failed: CANCELLED_AT_ONCE + 2, held: 0 });
  await holds.release(ALL);
  expect(await files.operations.cut()).toEqual([]);
});

function promise() {
  let resolve = () => undefined as void;
  const done = new Promise<void>((settle) => (resolve = settle));
  return { done, resolve: () => resolve() };
}
