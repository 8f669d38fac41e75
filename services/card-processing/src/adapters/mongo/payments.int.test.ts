import type { MongoConnection } from '@gateway/mongo';
import { clockAt, connectMongo } from '@gateway/mongo';
import type { Space } from '@gateway/testing';
import { openSpace } from '@gateway/testing';
import type { Operation, Payment } from '../../domain/payment';
import type { PaymentsAdapter } from './payments';
import { createPayments } from './payments';

let space: Space;
let mongo: MongoConnection;
let payments: PaymentsAdapter;

beforeAll(async () => {
  space = await openSpace('payments-store');
  mongo = await connectMongo({ uri: space.mongoUri, database: `${space.databasePrefix}cards` });
  payments = createPayments(mongo, clockAt(Date.now));
  await payments.ensureIndexes();
});
afterEach(() => mongo.collection('payments').deleteMany({}));
afterAll(async () => {
  await mongo.close();
  await space.remove();
});

/** An AUTH that went through, and a SETTLE under way. Without inquiries its call may still be running. */
async function add(id: string, acceptedAt: number, more: Partial<Payment>): Promise<void> {
  const operation = (name: string, at: number, status: Operation['status']) =>
    ({ reference: id + name, acceptedAt: at, status }) as Operation;
  const body: Payment = {
    merchantAccount: `merchant_${id}`,
    state: { kind: 'charging' },
    operations: [operation('AUTH', 1, 'success'), operation('SETT', acceptedAt, 'pending')],
    pending: { reference: `${id}SETT`, kind: 'capture' },
    ...more,
  };
  await payments.insert(id, body, []);
}

test('payments whose outcome is unknown are counted, with the acceptance of the oldest', async () => {
  expect(await payments.unknownOutcomes()).toEqual({ open: 0 });
  await add('A', 3_000, { inquiries: 0 });
  await add('B', 2_000, { inquiries: 5 });
  await add('C', 500, {});
  // Merchants make outcomes in XTS unknown at will. A VOID has no currency of its own.
  const auth = { reference: 'DAUTH', acceptedAt: 1, currency: 'XTS' } as Operation;
  const voided = { reference: 'DSETT', acceptedAt: 1_000, status: 'pending' } as Operation;
  await add('D', 1_000, { inquiries: 9, operations: [auth, voided] });
  expect(await payments.unknownOutcomes()).toEqual({ open: 3, oldestAt: 2_000 });
});

test('payments that no resolver took are counted over all accounts', async () => {
  await add('A', 1, { resolveAt: 1_000 });
  await add('B', 1, { resolveAt: 2_000 });
  await add('C', 1, { resolveAt: 2_001 });
  await add('D', 1, {});
  expect(await payments.countOverdue(2_000)).toBe(2);
});

test('both counts read the index alone', async () => {
  await Promise.all(Array.from({ length: 50 }, (_, index) => add(`X${index}`, 1, {})));
  await add('A', 1, { resolveAt: 1_000, inquiries: 1 });
  for (const [filter, hint] of [
    [{ inquiries: { $gte: 0 } }, 'unknown_outcomes'],
    [{ merchantAccount: { $gt: '' }, resolveAt: { $lte: 2_000 } }, 'due_by_account'],
  ] as const) {
    const count = mongo.collection('payments').aggregate([{ $match: filter }, { $count: 'n' }], { hint });
    const plan = JSON.stringify(await count.explain('executionStats'));
    expect(plan).toMatch(/"totalDocsExamined":0/);
  }
});

describe('behind the clock of a sandbox account', () => {
  const clock = { merchantAccount: 'sandbox', aheadMs: 50, beforeMs: 0, moves: [{ at: 1, aheadMs: 50 }] };
  const hold = { reference: 'R', amountE4: 1, currency: 'XTS', expiresAt: 9 };
  const proof = { reference: 'R', amountE4: 1, currency: 'XTS', token: 't', authenticatedAt: 1 };
  const mine = { merchantAccount: 'sandbox' };
  const ids = (found: readonly { _id: string }[]) => found.map(({ _id }) => _id).sort();

  test('are open holds and unused proofs in XTS that have not followed', async () => {
    await add('A', 1, { ...mine, state: { kind: 'authorized', hold } });
    await add('B', 1, { ...mine, state: { kind: 'voiding', hold: { ...hold, clockMs: 49 } } });
    await add('C', 1, { ...mine, state: { kind: 'authorized', hold: { ...hold, clockMs: 50 } } });
    await add('D', 1, { ...mine, state: { kind: 'authorized', hold: { ...hold, currency: 'EUR' } } });
    await add('E', 1, { ...mine, state: { kind: 'voided', hold } });
    await add('F', 1, { state: { kind: 'authorized', hold } });
    await add('G', 1, { ...mine, state: { kind: 'authenticated', proof } });
    await add('H', 1, { ...mine, state: { kind: 'authenticated', proof: { ...proof, clockMs: 50 } } });
    expect(ids(await payments.holdsBehind(clock, 10))).toEqual(['A', 'B']);
    expect(await payments.holdsBehind(clock, 1)).toHaveLength(1);
    expect(ids(await payments.proofsBehind(clock, 10))).toEqual(['G']);
  });

  test('the indexes hold nothing of real money', async () => {
    const real = { ...hold, currency: 'EUR' };
    await add('A', 1, { ...mine, state: { kind: 'authorized', hold: real } });
    await add('B', 1, { ...mine, state: { kind: 'authorized', hold } });
    const found = mongo.collection('payments').find({ 'state.hold.currency': 'XTS' }).hint('sandbox_holds');
    expect(await found.explain('executionStats')).toMatchObject({ executionStats: { totalKeysExamined: 1 } });
  });
});
