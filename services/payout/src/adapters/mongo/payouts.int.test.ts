import type { MongoConnection } from '@gateway/mongo';
import { clockAt, connectMongo, dueAccountSteps } from '@gateway/mongo';
import { OWNER_QUERY_TIMEOUT_MS } from '@gateway/service-kit';
import type { Space } from '@gateway/testing';
import { openSpace } from '@gateway/testing';
import type { PageQuery, StoredPayout } from '../../application/ports';
import { inState, request } from '../../domain/payouts.fixture';
import type { Payout, PayoutStateKind } from '../../domain/payout';
import type { PayoutsAdapter } from './payouts';
import { createPayouts, newest, pageKeys } from './payouts';

const LONG = { days: 24_000, mayShorten: false };
const A_LIFETIME = { real: LONG, test: LONG };

let space: Space;
let mongo: MongoConnection;
let payouts: PayoutsAdapter;
/** By the database's clock. */
let now = 0;

beforeAll(async () => {
  space = await openSpace('payouts-store');
  mongo = await connectMongo({ uri: space.mongoUri, database: `${space.databasePrefix}payouts` });
  payouts = createPayouts(
    mongo,
    clockAt(() => now),
  );
  // Its payouts end in 1970.
  await payouts.ensureIndexes(A_LIFETIME);
});
beforeEach(() => mongo.collection('payouts').deleteMany({}));
afterAll(async () => {
  await mongo.mongoose.dropDatabase();
  await mongo.close();
  await space.remove();
});

const START = 1_700_000_000;

function body(reference: string, fields: Partial<Payout> = {}, state: PayoutStateKind = 'settled'): Payout {
  const { resolveAt: _resolveAt, ...payout } = inState[state];
  return { ...payout, reference, time: START, ...fields };
}

const add = (reference: string, fields: Partial<Payout> = {}, state: PayoutStateKind = 'settled') =>
  payouts.insert(reference, body(reference, fields, state), []);

const query: PageQuery = {
  merchantAccount: request.merchantAccount,
  from: START,
  to: START + 10,
  order: 'asc',
  page: 1,
  limit: 100,
};
const references = async (more: Partial<PageQuery>) =>
  (await payouts.page({ ...query, ...more })).map(({ _id }) => _id);

describe('a page', () => {
  beforeEach(async () => {
    await add('D', { time: START + 10 });
    await add('B', { time: START + 1 });
    await add('C', { time: START });
    await add('A', { time: START + 1 });
    await add('before', { time: START - 1 });
    await add('after', { time: START + 11 });
    await add('foreign', { merchantAccount: 'merchant_2' });
  });

  it('has the payouts in the window, both ends included, by time and then by reference', async () => {
    expect(await references({})).toEqual(['C', 'A', 'B', 'D']);
    expect(await references({ order: 'desc' })).toEqual(['D', 'B', 'A', 'C']);
    expect(await references({ from: START + 1, to: START + 1 })).toEqual(['A', 'B']);
    expect(await references({ merchantAccount: 'merchant_2' })).toEqual(['foreign']);
    expect(await references({ from: START + 2, to: START + 1 })).toEqual([]);
  });

  it.each(['asc', 'desc'] as const)('follows another without a gap: %s', async (order) => {
    const whole = await references({ order });
    const pages = [1, 2, 3].map((page) => references({ order, page, limit: 2 }));
    expect((await Promise.all(pages)).flat()).toEqual(whole);
    expect(await references({ order, page: 3, limit: 2 })).toEqual([]);
  });

  it('ignores payouts outside its window', async () => {
    const before = await references({ page: 2, limit: 2 });
    await add('0', { time: START - 100 });
    await add('Z', { time: START + 100 });
    expect(await references({ page: 2, limit: 2 })).toEqual(before);
  });

  it('does not reveal the receiver', async () => {
    const [first] = await payouts.page(query);
    expect(first).not.toHaveProperty('instruction');
    expect(first).not.toHaveProperty('outbox');
    expect(first).toMatchObject({ amountE4: request.amountE4, state: { kind: 'settled' } });
  });
});

interface Stage {
  stage: string;
  indexName?: string;
  inputStage?: Stage;
}

it('the keys of a page come from one index, which skips other merchants’ payouts', async () => {
  await Promise.all(
    Array.from({ length: 300 }, (_, index) => add(`F${index}`, { merchantAccount: `merchant_${index}x` })),
  );
  await Promise.all(Array.from({ length: 50 }, (_, index) => add(`M${index}`, { time: START + (index % 5) })));
  const collection = mongo.collection<StoredPayout>('payouts');
  for (const order of ['asc', 'desc'] as const) {
    const plan = await pageKeys(collection, { ...query, order, page: 2, limit: 10 }).explain('executionStats');
    const { executionStats, queryPlanner } = plan as {
      executionStats: { totalKeysExamined: number; totalDocsExamined: number; nReturned: number };
      queryPlanner: { winningPlan: Stage };
    };
    const stages: Stage[] = [];
    for (let stage: Stage | undefined = queryPlanner.winningPlan; stage; stage = stage.inputStage) stages.push(stage);
    expect(stages.at(-1)).toMatchObject({ stage: 'IXSCAN', indexName: 'merchant_time' });
    expect(stages.map(({ stage }) => stage)).not.toContain('SORT');
    expect(executionStats).toMatchObject({ nReturned: 10, totalDocsExamined: 0 });
    // Two pages of ten, and the keys at both ends.
    expect(executionStats.totalKeysExamined).toBeLessThanOrEqual(21);
  }
});

it('a query for a page stops when its caller no longer waits', async () => {
  await add('A');
  const { db } = mongo.mongoose;
  if (db === undefined) throw new Error('not connected');
  await db.command({ profile: 2 });
  await payouts.page(query);
  await db.command({ profile: 0 });
  const finds = await db.collection('system.profile').find({ 'command.find': 'payouts' }).toArray();
  const [keysMs = 0, documentsMs = 0] = finds.map(({ command }) => (command as { maxTimeMS?: number }).maxTimeMS);
  expect(finds).toHaveLength(2);
  expect(keysMs).toBeLessThan(OWNER_QUERY_TIMEOUT_MS);
  // Only what the keys have left.
  expect(documentsMs).toBeGreaterThan(0);
  expect(documentsMs).toBeLessThan(keysMs);
});

it('a count for an operator stops in time, so that its hold is answered', async () => {
  const { db } = mongo.mongoose;
  if (db === undefined) throw new Error('not connected');
  await db.command({ profile: 2 });
  await payouts.countOpen({ kind: 'all' });
  await db.command({ profile: 0 });
  const counts = await db.collection('system.profile').find({ 'command.aggregate': 'payouts' }).toArray();
  expect(counts.map(({ command }) => (command as { maxTimeMS?: number }).maxTimeMS)).toEqual([5_000, 5_000]);
});

describe('due work', () => {
  it('is claimed by one replica, and by the next when the lease expires', async () => {
    await add('A', { resolveAt: 1_000 }, 'unknown');
    await add('B', { resolveAt: 500 }, 'declined');
    const claim = async () => (await payouts.due.claim(request.merchantAccount, 8_000))?._id;
    now = 499;
    expect(await claim()).toBeUndefined();
    now = 1_000;
    expect([await claim(), await claim(), await claim()]).toEqual(['B', 'A', undefined]);
    now = 8_999;
    expect(await claim()).toBeUndefined();
    now = 9_000;
    expect(await claim()).toBeDefined();
  });

  it('is found account by account, however much is waiting in each', async () => {
    const accounts = ['merchant_a', 'merchant_b', 'merchant_c'];
    await Promise.all(
      accounts.flatMap((merchantAccount) =>
        Array.from({ length: 50 }, (_, index) =>
          add(`${merchantAccount}${index}`, { merchantAccount, resolveAt: 1_000 }, 'unknown'),
        ),
      ),
    );
    await add('later', { merchantAccount: 'merchant_d', resolveAt: 1_001 }, 'unknown');
    expect(await payouts.due.accounts(1_000, '', 10)).toEqual(accounts);
    expect(await payouts.due.accounts(1_000, 'merchant_a', 1)).toEqual(['merchant_b']);
    expect(await payouts.due.accounts(999, '', 10)).toEqual([]);
    const look = mongo.collection('payouts').aggregate(dueAccountSteps(1_000, '', 10));
    const plan = (await look.explain('executionStats')) as unknown as {
      stages: [{ $cursor: { executionStats: { totalKeysExamined: number; totalDocsExamined: number } } }];
    };
    const { totalKeysExamined, totalDocsExamined } = plan.stages[0].$cursor.executionStats;
    // At most two per account: the first key, and the one past the given time.
    expect(totalKeysExamined).toBeLessThanOrEqual(2 * (accounts.length + 2));
    expect(totalDocsExamined).toBe(0);
  });

  it('can be claimed by name before it is due, if anything is left to do', async () => {
    await add('A', { resolveAt: 1_000 }, 'unknown');
    await add('B');
    now = 500;
    expect((await payouts.due.claimNow('A', 8_500))?.resolveAt).toBe(9_000);
    expect(await payouts.due.claimNow('B', 8_500)).toBeNull();
    expect(await payouts.due.claimNow('C', 8_500)).toBeNull();
  });
});

it('an account has paid a receiver what was settled until then, without what came back', async () => {
  await add('A');
  await add('A2', { amountE4: 1, acceptedAt: request.acceptedAt + 1 });
  await add('B', { token: 'returned' }, 'returned');
  await add('C', { token: 'declined' }, 'declined');
  const { merchantAccount, token, currency, amountE4, acceptedAt: until } = request;
  const paidTo = (more: Partial<Parameters<typeof payouts.paidTo>[0]> = {}) =>
    payouts.paidTo({ merchantAccount, tokens: [token], currency, until, ...more });
  expect(await paidTo()).toBe(amountE4);
  expect(await paidTo({ tokens: ['of the active key', token] })).toBe(amountE4);
  expect(await paidTo({ until: until + 1 })).toBe(amountE4 + 1);
  expect(await paidTo({ until: until - 1 })).toBe(0);
  expect(await paidTo({ currency: 'ALL' })).toBe(0);
  expect(await paidTo({ merchantAccount: 'merchant_2' })).toBe(0);
  expect(await paidTo({ tokens: ['returned'] })).toBe(0);
  expect(await paidTo({ tokens: ['declined'] })).toBe(0);
});

describe('the operators’ list', () => {
  it('shows one state or all, newest first', async () => {
    await add('A', { time: START + 1, resolveAt: 1 }, 'unknown');
    await add('B', { time: START + 3 });
    await add('C', { time: START + 2, resolveAt: 1 }, 'unknown');
    const ids = async (state?: PayoutStateKind, limit = 10) =>
      (await payouts.list({ limit, ...(state === undefined ? {} : { state }) })).map(({ _id }) => _id);
    expect(await ids('unknown')).toEqual(['C', 'A']);
    expect(await ids('unknown', 1)).toEqual(['C']);
    expect(await ids('settled')).toEqual(['B']);
    expect(await ids()).toEqual(['C', 'B', 'A']);
    expect(await ids('returned')).toEqual([]);
  });

  it.each([
    ['declined', 'exceptional_states'],
    ['frauded', 'exceptional_states'],
    ['failed', 'exceptional_states'],
    ['returned', 'exceptional_states'],
    ['unknown', 'due_by_account'],
  ] as const)('finds payouts that are %s by the index %s, whatever else is stored', async (kind, indexName) => {
    await Promise.all(Array.from({ length: 100 }, (_, index) => add(`S${index}`)));
    await add('A', { resolveAt: 1 }, 'submitted');
    await add('B', { resolveAt: 1 }, kind);
    const cursor = newest(mongo.collection<StoredPayout>('payouts'), { state: kind });
    const plan = await cursor.limit(10).explain('executionStats');
    const { executionStats } = plan as { executionStats: { totalDocsExamined: number } };
    expect(JSON.stringify(plan)).toContain(`"indexName":"${indexName}"`);
    expect(executionStats.totalDocsExamined).toBeLessThanOrEqual(2);
  });

  it('finds the newest of an account, however many payouts others have', async () => {
    await Promise.all(Array.from({ length: 100 }, (_, index) => add(`S${index}`)));
    for (const [index, id] of ['A', 'B', 'C'].entries()) await add(id, { merchantAccount: 'own', time: index });
    await add('D', { merchantAccount: 'own', resolveAt: 1, time: 9 }, 'unknown');
    const listed = async (query: { state?: 'settled'; limit: number }) =>
      (await payouts.list({ merchantAccount: 'own', ...query })).map(({ _id }) => _id);
    expect(await listed({ limit: 2 })).toEqual(['D', 'C']);
    expect(await listed({ state: 'settled', limit: 5 })).toEqual(['C', 'B', 'A']);
    const cursor = newest(mongo.collection<StoredPayout>('payouts'), { merchantAccount: 'own' });
    const plan = await cursor.limit(2).explain('executionStats');
    expect(plan).toMatchObject({ executionStats: { totalDocsExamined: 2, nReturned: 2 } });
  });

  it('of settled payouts reads only the documents that it shows, and no index of the other states holds them', async () => {
    await Promise.all(Array.from({ length: 100 }, (_, index) => add(`S${index}`)));
    const collection = mongo.collection<StoredPayout>('payouts');
    const plan = await newest(collection, { state: 'settled' }).limit(10).explain('executionStats');
    expect(plan).toMatchObject({ executionStats: { totalDocsExamined: 10, nReturned: 10 } });
    const keys = await collection.find({}).hint('exceptional_states').returnKey(true).toArray();
    expect(keys).toEqual([]);
  });
});

describe('for metrics', () => {
  it('unknown outcomes are counted, with the acceptance of the oldest', async () => {
    expect(await payouts.unknownOutcomes()).toEqual({ open: 0, oldestAt: undefined });
    await add('A', { acceptedAt: 2_000 }, 'unknown');
    await add('B', { acceptedAt: 1_000 }, 'unknown');
    await add('C', { acceptedAt: 500 }, 'submitting');
    await add('D', { acceptedAt: 500 }, 'settled');
    await add('E', { acceptedAt: 500, currency: 'XTS' }, 'unknown');
    expect(await payouts.unknownOutcomes()).toEqual({ open: 3, oldestAt: 1_000 });
  });

  it('payouts that no resolver took are counted over all accounts', async () => {
    await add('A', { resolveAt: 1_000, merchantAccount: 'merchant_1' }, 'unknown');
    await add('B', { resolveAt: 2_000, merchantAccount: 'merchant_2' }, 'submitted');
    await add('C', { resolveAt: 3_000, merchantAccount: 'merchant_2' }, 'submitted');
    expect(await payouts.countOverdue(2_000)).toBe(2);
    expect(await payouts.countOverdue(999)).toBe(0);
  });
});
