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
  const operation = (name: string, at: number) => ({ reference: id + name, acceptedAt: at }) as Operation;
  const body: Payment = {
    merchantAccount: `merchant_${id}`,
    state: { kind: 'charging' },
    operations: [operation('AUTH', 1), operation('SETT', acceptedAt)],
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
  expect(await payments.unknownOutcomes()).toEqual({ open: 2, oldestAt: 2_000 });
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
