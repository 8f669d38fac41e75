import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { MongoConnection } from '@gateway/mongo';
import { clockAt, connectMongo } from '@gateway/mongo';
import { createMetrics } from '@gateway/service-kit';
import { silentLogger, testServers, until } from '@gateway/testing';
import type { Scope } from '../../../domain/holds';
import type { HoldsAdapter } from '../../mongo/holds';
import { createHolds } from '../../mongo/holds';
import { createBatches } from './batches';
import type { Iso20022Connector } from './connector';
import { createIso20022Connector } from './connector';
import { createDepartures } from './departures';
import { instruction, PAYING_ACCOUNT, testSettings } from './iso20022.fixture';
import { openRecords } from './records';

/** Open and frozen batches under holds and suspensions, with real files. */

const NOON = Date.parse('2026-11-21T12:00:00Z');
const WRITING_LEASE_MS = 60_000;
/** A round that found nothing to cut waits this long for accounts to change. */
const LOOK_AGAIN_AFTER_MS = 30_000;
const ALL: Scope = { kind: 'all' };
const SHOP: Scope = { kind: 'account', merchantAccount: 'shop_one' };

let mongo: MongoConnection;
let holds: HoldsAdapter;
let env: Record<string, string>;
let now = NOON;
let connector: Iso20022Connector;
const running: Iso20022Connector[] = [];
const suspended = new Set<string>();
/** Accounts looked up, and reads of the holds, of which each round has at least one. */
const seen = { accounts: 0, holds: 0 };
const accounts = {
  async findLatest(name: string) {
    seen.accounts += 1;
    return suspended.has(name) ? { ...PAYING_ACCOUNT, state: 'suspended' as const } : PAYING_ACCOUNT;
  },
};

beforeAll(async () => {
  const database = `held-batches-${randomBytes(4).toString('hex')}`;
  mongo = await connectMongo({ uri: testServers().mongoUri, database });
  holds = createHolds(mongo, { now: () => now });
  await holds.ensureDocument();
});
afterAll(async () => {
  await mongo.mongoose.dropDatabase();
  await mongo.close();
});

/** Another replica of the same service. */
function open(): Iso20022Connector {
  const opened = createIso20022Connector({
    mongo,
    env,
    logger: silentLogger,
    metrics: createMetrics('test', { processFigures: false }),
    clock: clockAt(() => now),
    holds: {
      ...holds,
      read() {
        seen.holds += 1;
        return holds.read();
      },
    },
    accounts,
  });
  running.push(opened);
  return opened;
}

beforeEach(() => {
  env = testSettings();
  now = NOON;
  connector = open();
});
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
  suspended.clear();
  for (const { scope } of await holds.read()) await holds.release(scope);
  const { members, batches } = openRecords(mongo);
  await members.deleteMany({});
  await batches.deleteMany({});
  rmSync(dirname(String(env['ISO20022_DEBTORS'])), { recursive: true });
});

const submit = (reference: string, merchantAccount: string) =>
  connector.submit(instruction(reference, { merchantAccount }));

/** References in all files of the outbox. */
function sentReferences(): string[] {
  const outbox = String(env['ISO20022_OUTBOX_DIR']);
  const names = existsSync(outbox) ? readdirSync(outbox).filter((name) => name.endsWith('.xml')) : [];
  const contents = names.map((name) => readFileSync(join(outbox, name), 'utf8'));
  return contents
    .flatMap((text) => [...text.matchAll(/<EndToEndId>(\w+)</g)].map(([, reference = '']) => reference))
    .sort();
}

const cut = (by = connector) => by.operations.cut();
const newId = () => randomBytes(16).toString('hex');

/** Freezes all batches and writes none, like a process that dies in between. */
async function freeze(idOf = newId): Promise<void> {
  const records = openRecords(mongo);
  const departures = createDepartures({ holds, accounts, members: records.members });
  const initiatingParty = 'Gateway Ltd';
  const batches = createBatches({
    records,
    departures,
    initiatingParty,
    payoutsPerFile: 10,
    now: () => now,
    newId: idOf,
  });
  await batches.freeze({ instant: now, others: now });
}

describe('a cut leaves out', () => {
  beforeEach(async () => {
    for (const reference of ['A1', 'A2']) await submit(reference, 'shop_one');
    await submit('B1', 'shop_two');
  });

  test.each<[string, Scope, string[]]>([
    ['one payout', { kind: 'payout', reference: 'A1' }, ['A2', 'B1']],
    ['one account', SHOP, ['B1']],
    ['everything', ALL, []],
  ])('%s that is held, until it is released', async (_, scope, free) => {
    await holds.hold(scope, 'alice');
    await cut();
    expect(sentReferences()).toEqual(free);
    expect(await connector.inquire('A1')).toEqual({ kind: 'submitted' });
    await holds.release(scope);
    await cut();
    expect(sentReferences()).toEqual(['A1', 'A2', 'B1']);
  });

  test('the payouts of a suspended account, until it is reopened', async () => {
    suspended.add('shop_one');
    await cut();
    expect(sentReferences()).toEqual(['B1']);
    suspended.clear();
    await cut();
    expect(sentReferences()).toEqual(['A1', 'A2', 'B1']);
  });

  test('what was held or suspended before a restart, at every replica, at each cut-off', async () => {
    await holds.hold({ kind: 'payout', reference: 'A1' }, 'alice');
    suspended.add('shop_two');
    await connector.stop();
    now += 24 * 60 * 60_000;
    const replicas = [open(), open()];
    for (const replica of replicas) await replica.start(() => Promise.resolve('applied'));
    await until('the free one is out', () => sentReferences().length === 1);
    await Promise.all(replicas.map((replica) => cut(replica)));
    expect(sentReferences()).toEqual(['A2']);
    await holds.release({ kind: 'payout', reference: 'A1' });
    suspended.clear();
    await until('the others are out', () => sentReferences().length === 3);
  });

  test('a payout without an account, from an earlier release, until a start has named it', async () => {
    await openRecords(mongo).members.updateOne({ _id: 'A1' }, { $unset: { merchantAccount: '' } });
    await mongo.collection<{ _id: string; merchantAccount: string }>('payouts').insertOne({
      _id: 'A1',
      merchantAccount: 'shop_one',
    });
    await cut();
    expect(sentReferences()).toEqual(['A2', 'B1']);
    await open().start(() => Promise.resolve('applied'));
    await cut();
    expect(sentReferences()).toEqual(['A1', 'A2', 'B1']);
  });
});

describe('a hold that comes while a batch is cut', () => {
  /** Holds the scope in the middle of the transaction that freezes the batch. */
  async function holdDuringCut(scope: Scope): Promise<void> {
    let holding: Promise<unknown> | undefined;
    await freeze(() => {
      holding ??= holds.hold(scope, 'alice');
      return newId();
    });
    await holding;
  }

  test.each<[string, Scope, string[]]>([
    ['one payout', { kind: 'payout', reference: 'A1' }, ['A2', 'B1']],
    ['one account', SHOP, ['B1']],
    ['everything', ALL, []],
  ])('keeps %s out of the file, and the others go with the next one', async (_, scope, free) => {
    for (const reference of ['A1', 'A2']) await submit(reference, 'shop_one');
    await submit('B1', 'shop_two');
    await holdDuringCut(scope);
    // The first one opens the batch again.
    for (const round of [cut, cut]) await round();
    expect(sentReferences()).toEqual(free);
    await holds.release(scope);
    await cut();
    expect(sentReferences()).toEqual(['A1', 'A2', 'B1']);
  });
});

describe('a batch that was frozen before a crash', () => {
  test('is opened again after the restart if one of its payouts is held', async () => {
    await submit('A1', 'shop_one');
    await submit('B1', 'shop_two');
    await freeze();
    await holds.hold(SHOP, 'alice');
    now += 24 * 60 * 60_000;
    await open().start(() => Promise.resolve('applied'));
    await until('the free one is out', () => sentReferences().length === 1);
    expect(sentReferences()).toEqual(['B1']);
    expect(await connector.operations.waiting(SHOP, 10)).toEqual(['A1']);
    expect(await connector.operations.batchOf('A1')).toBeUndefined();
  });

  test('is opened again if an account in it was suspended meanwhile', async () => {
    await submit('A1', 'shop_one');
    await submit('B1', 'shop_two');
    await freeze();
    suspended.add('shop_one');
    now += 24 * 60 * 60_000;
    await open().start(() => Promise.resolve('applied'));
    await until('the free one is out', () => sentReferences().length === 1);
    expect(sentReferences()).toEqual(['B1']);
    expect(await connector.operations.waiting(SHOP, 10)).toEqual(['A1']);
    suspended.clear();
    now += LOOK_AGAIN_AFTER_MS;
    await until('the other one is out', () => sentReferences().length === 2);
  });

  test('is not opened, only delayed, if its bank may have a copy', async () => {
    await submit('A1', 'shop_one');
    const [batch] = await cut();
    const messageId = String(batch?.messageId);
    rmSync(join(String(env['ISO20022_OUTBOX_DIR']), `${messageId}.xml`));
    await holds.hold(SHOP, 'alice');
    await openRecords(mongo).batches.updateOne({ _id: messageId }, { $set: { state: 'frozen', leaseUntil: 0 } });
    await cut();
    expect(sentReferences()).toEqual([]);
    expect(await connector.operations.batchOf('A1')).toBe(messageId);
    await holds.release(SHOP);
    now += WRITING_LEASE_MS;
    await cut();
    expect(sentReferences()).toEqual(['A1']);
  });
});

test('rounds leave payouts alone that must not leave, take new ones at once, and look again after a while', async () => {
  const submitInstant = (reference: string, merchantAccount: string) =>
    connector.submit(instruction(reference, { merchantAccount, instant: true }));
  suspended.add('shop_one');
  await submitInstant('A1', 'shop_one');
  await connector.start(() => Promise.resolve('applied'));
  const severalRounds = async () => {
    const { holds: before } = seen;
    await until('several rounds', () => seen.holds > before + 10);
  };
  await severalRounds();
  const { accounts: before } = seen;
  await submitInstant('A2', 'shop_one');
  await severalRounds();
  expect(seen.accounts).toBe(before);
  await submitInstant('B1', 'shop_two');
  await until('the free one is out', () => sentReferences().length === 1);
  await severalRounds();
  suspended.clear();
  now += LOOK_AGAIN_AFTER_MS;
  await until('the others are out', () => sentReferences().length === 3);
});

test('a payout is withdrawn from its open batch, but not from a file', async () => {
  await submit('A1', 'shop_one');
  await submit('A2', 'shop_one');
  await submit('B1', 'shop_two');
  expect((await connector.operations.waiting(SHOP, 10)).sort()).toEqual(['A1', 'A2']);
  expect(await connector.operations.waiting(ALL, 2)).toHaveLength(2);
  await expect(connector.operations.waiting(ALL, 0)).rejects.toThrow('no limit');
  expect(await connector.operations.countWaiting({ kind: 'payout', reference: 'B1' })).toBe(1);
  expect(await connector.operations.withdraw('A1')).toBe(true);
  expect(await connector.operations.withdraw('A1')).toBe(false);
  expect(await connector.operations.countWaiting(ALL)).toBe(2);
  await cut();
  expect(sentReferences()).toEqual(['A2', 'B1']);
  expect(await connector.operations.withdraw('A2')).toBe(false);
  expect(await connector.inquire('A1')).toEqual({ kind: 'cancelled' });
});

test('nothing is cut while it is not known what is held', async () => {
  await submit('A1', 'shop_one');
  await mongo.collection('holds').deleteMany({});
  await expect(cut()).rejects.toThrow('holds is missing');
  expect(sentReferences()).toEqual([]);
  await holds.ensureDocument();
  await cut();
  expect(sentReferences()).toEqual(['A1']);
});
