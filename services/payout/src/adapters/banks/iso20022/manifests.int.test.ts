import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { MongoConnection } from '@gateway/mongo';
import { clockAt, connectMongo } from '@gateway/mongo';
import { createMetrics } from '@gateway/service-kit';
import { silentLogger, testServers, until } from '@gateway/testing';
import type { BankNews } from '../../../application/bank-ports';
import { createHolds } from '../../mongo/holds';
import type { HoldsAdapter } from '../../mongo/holds';
import { createBatches } from './batches';
import type { Iso20022Connector } from './connector';
import { createIso20022Connector } from './connector';
import { createDepartures } from './departures';
import { instruction, pain002, PAYING_ACCOUNT, testSettings } from './iso20022.fixture';
import { createManifests, MANIFEST_DAYS, MANIFESTS } from './manifests';
import { openRecords } from './records';

/** A database that is restored from a backup, beside an outbox and a bank that go on. */

const NOON = Date.parse('2026-11-21T12:00:00Z');
const DAY_MS = 86_400_000;

let mongo: MongoConnection;
let holds: HoldsAdapter;
let env: Record<string, string>;
let now = NOON;
let connector: Iso20022Connector;
const running: Iso20022Connector[] = [];

beforeAll(async () => {
  const database = `manifests-${randomBytes(4).toString('hex')}`;
  mongo = await connectMongo({ uri: testServers().mongoUri, database });
  holds = createHolds(mongo, { now: () => now });
  await holds.ensureDocument();
});
afterAll(async () => {
  await mongo.mongoose.dropDatabase();
  await mongo.close();
});
beforeEach(() => {
  env = testSettings();
  taken.length = 0;
  now = NOON;
  connector = open();
});
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
  await restore({ members: [], batches: [] });
  rmSync(dirname(outbox()), { recursive: true });
});

function open(): Iso20022Connector {
  const opened = createIso20022Connector({
    mongo,
    env,
    logger: silentLogger,
    metrics: createMetrics('test', { processFigures: false }),
    clock: clockAt(() => now),
    holds,
    accounts: { findLatest: async () => PAYING_ACCOUNT },
  });
  running.push(opened);
  return opened;
}

const outbox = () => String(env['ISO20022_OUTBOX_DIR']);
const records = () => openRecords(mongo);
const submit = (reference: string) => connector.submit(instruction(reference));
const cut = async () => {
  now += 1_000;
  return connector.operations.cut();
};
const states = async () => (await connector.operations.batches(10)).map(({ state }) => state);

async function backup() {
  const { members, batches } = records();
  return { members: await members.find().toArray(), batches: await batches.find().toArray() };
}
type Backup = Awaited<ReturnType<typeof backup>>;

async function restore(to: Backup): Promise<void> {
  const { members, batches } = records();
  await Promise.all([members.deleteMany({}), batches.deleteMany({})]);
  if (to.members.length > 0) await members.insertMany(to.members);
  if (to.batches.length > 0) await batches.insertMany(to.batches);
}

/** Freezes all batches and writes none, like a process that dies in between. */
async function freeze(): Promise<void> {
  now += 1_000;
  const departures = createDepartures({
    holds,
    accounts: { findLatest: async () => PAYING_ACCOUNT },
    members: records().members,
  });
  const batches = createBatches({
    records: records(),
    departures,
    initiatingParty: 'Gateway Ltd',
    payoutsPerFile: 10,
    now: () => now,
    newId: () => randomBytes(16).toString('hex'),
  });
  await batches.freeze({ instant: now, others: now });
}

const taken: string[] = [];

/** Like an agent: takes all files. EndToEndIds of those taken so far, sorted. */
function sent(): string[] {
  const names = existsSync(outbox()) ? readdirSync(outbox()).filter((name) => name.endsWith('.xml')) : [];
  for (const name of names) {
    taken.push(readFileSync(join(outbox(), name), 'utf8'));
    rmSync(join(outbox(), name));
  }
  return taken
    .flatMap((text) => [...text.matchAll(/<EndToEndId>(\w+)</g)].map(([, reference = '']) => reference))
    .sort();
}

function manifestPaths(): string[] {
  const directory = join(outbox(), MANIFESTS);
  if (!existsSync(directory)) return [];
  return readdirSync(directory).flatMap((day) =>
    readdirSync(join(directory, day)).map((name) => join(directory, day, name)),
  );
}

const B: { kind: 'payout'; reference: string } = { kind: 'payout', reference: 'B' };
/** A batch that is opened again because of a hold is part of it. */
const STEPS: [string, () => Promise<unknown>][] = [
  ['A arrives', () => submit('A')],
  ['B arrives', () => submit('B')],
  ['they are frozen', freeze],
  ['B is held, the batch is opened again', async () => (await holds.hold(B, 'alice'), cut())],
  ['A leaves alone', cut],
  ['C arrives', () => submit('C')],
  ['C is frozen', freeze],
  ['C leaves', cut],
  ['B is released', () => holds.release(B)],
  ['B leaves', cut],
];

test.each([['the beginning', -1], ...STEPS.map(([name], index) => [name, index] as const)] as const)(
  'restored to the moment after: %s, no EndToEndId leaves in a second file',
  async (_name, moment) => {
    let saved = await backup();
    for (const [index, [, step]] of STEPS.entries()) {
      await step();
      if (index === moment) saved = await backup();
    }
    expect(sent()).toEqual(['A', 'B', 'C']);
    await restore(saved);
    connector = open();
    for (const reference of ['A', 'B', 'C']) expect(await submit(reference)).toEqual({ kind: 'submitted' });
    for (let rounds = 0; rounds < 3; rounds += 1) await cut();
    // An agent may come at any time, and a file of the same name is a second one for it.
    expect(sent()).toEqual(['A', 'B', 'C']);
    for (const reference of ['A', 'B', 'C']) {
      expect(await connector.cancel(reference)).toEqual({ kind: 'unknown' });
      expect(await connector.operations.withdraw(reference)).toBe(false);
    }
    // What the database did not know is shown to an operator.
    const isLast = moment === STEPS.length - 1;
    expect((await states()).includes('held')).toBe(!isLast);
    expect((await states()).filter((state) => state !== 'held' && state !== 'emitted')).toEqual([]);
    expect(await connector.operations.batches(10)).toHaveLength(3);
  },
);

test('a payout that was not in any file leaves after a restore', async () => {
  await submit('A');
  await cut();
  await restore({ members: [], batches: [] });
  await submit('B');
  expect(await cut()).toMatchObject([{ state: 'emitted', payouts: 1 }]);
  expect(sent()).toEqual(['A', 'B']);
  expect(await states()).toEqual(['emitted', 'held']);
});

test('what the database lost cannot be cancelled: the bank may have it', async () => {
  await submit('A');
  await cut();
  await restore({ members: [], batches: [] });
  expect(await connector.cancel('A')).toEqual({ kind: 'unknown' });
  expect(await connector.inquire('A')).toEqual({ kind: 'submitted' });
});

test('a report about a file that the database lost counts', async () => {
  await submit('A');
  const [batch] = await cut();
  const message = String(batch?.messageId);
  await restore({ members: [], batches: [] });
  connector = open();
  const news: BankNews[] = [];
  await connector.start(async (one) => (news.push(one), 'applied'));
  writeFileSync(
    join(String(env['ISO20022_INBOX_DIR']), 'r.xml'),
    pain002({ message, transactions: [{ reference: 'A', status: 'ACSC' }] }),
  );
  now = Date.now() + 60_000;
  await until('it is applied', () => news.length > 0);
  expect(news).toMatchObject([{ reference: 'A', outcome: { kind: 'settled' } }]);
});

test('the record of a file has nothing about its receivers, and cannot be replaced', async () => {
  await submit('A');
  const [batch] = await cut();
  const [path = ''] = manifestPaths();
  const text = readFileSync(path, 'utf8');
  expect(JSON.parse(text)).toMatchObject({
    batch: { _id: batch?.messageId },
    members: [{ _id: 'A', amountE4: 310_100 }],
  });
  for (const value of ['NL91ABNA0417164300', 'Angstr', 'Ångström', 'Winnings']) expect(text).not.toContain(value);
  expect(await connector.operations.rewrite(String(batch?.messageId))).toMatchObject({ state: 'emitted' });
  expect(manifestPaths()).toEqual([path]);
});

test('while a record cannot be read, nothing leaves and nothing is cancelled', async () => {
  await submit('A');
  await cut();
  const [path = ''] = manifestPaths();
  writeFileSync(path, '{}');
  await restore({ members: [], batches: [] });
  await submit('B');
  await expect(cut()).rejects.toThrow('is no record of a batch');
  expect(await connector.cancel('A')).toEqual({ kind: 'unknown' });
  expect(sent()).toEqual(['A']);
});

test('records are removed after their time', async () => {
  await submit('A');
  await cut();
  const departures = { depart: () => Promise.reject(new Error('nothing departs')) };
  const newId = () => 'id';
  const manifests = createManifests({ outbox: outbox(), records: records(), departures, logger: silentLogger, newId });
  await manifests.prune(NOON + MANIFEST_DAYS * DAY_MS);
  expect(manifestPaths()).toHaveLength(1);
  await manifests.prune(NOON + (MANIFEST_DAYS + 1) * DAY_MS);
  expect(manifestPaths()).toEqual([]);
});
