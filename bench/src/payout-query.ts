import { randomBytes, randomUUID } from 'node:crypto';
import { newPaymentId, newReference } from '@gateway/contracts';
import type { Collection, MongoConnection } from '@gateway/mongo';
import { clockAt, connectMongo } from '@gateway/mongo';
import type { PayoutsAdapter } from '@gateway/payout/dist/adapters/mongo/payouts';
import { createPayouts, pageKeys } from '@gateway/payout/dist/adapters/mongo/payouts';
import type { PageQuery, StoredPayout } from '@gateway/payout/dist/application/ports';
import type { OnEnd } from './run';
import { startServers } from './servers';

const PAYOUTS = 1_000_000;
const OWN = 50_000;
const INSERT_AT_ONCE = 5_000;
const MERCHANT = 'query_merchant';
const OTHERS = 999;
const START = 1_760_000_000;
const WINDOW_SECONDS = 30 * 86_400;
const PAGE = 1_000;
const ROUNDS = 15;

/** Pages of 1,000 of one merchant's 50,000 payouts among 1,000,000, straight from the payout service's store. */
export async function runPayoutQuery(onEnd: OnEnd): Promise<void> {
  const { mongodbUri: uri } = await startServers(onEnd);
  const mongo = await connectMongo({ uri, database: `bench-payout-query-${randomUUID().slice(0, 8)}` });
  onEnd(async () => {
    await mongo.mongoose.dropDatabase();
    await mongo.close();
  });
  const payouts = createPayouts(mongo, clockAt(Date.now));
  await payouts.ensureIndexes();
  const collection = mongo.collection<StoredPayout>('payouts');
  await fill(collection, OWN, () => MERCHANT);
  await measurePages(mongo, `${OWN} payouts, one merchant`);
  await fill(collection, PAYOUTS - OWN, (index) => `other_merchant_${index % OTHERS}`);
  await measurePages(mongo, `${PAYOUTS} payouts, ${OWN} the merchant's`);
}

async function measurePages(mongo: MongoConnection, label: string): Promise<void> {
  const payouts = createPayouts(mongo, clockAt(Date.now));
  console.log(`\n${label}: a page of ${PAGE}`);
  console.log('page order |  median ms   slowest ms | keys examined   documents for the keys');
  for (const page of [1, OWN / PAGE / 2, OWN / PAGE]) {
    for (const order of ['asc', 'desc'] as const) {
      const window = { merchantAccount: MERCHANT, from: START, to: START + WINDOW_SECONDS };
      const query: PageQuery = { ...window, order, page, limit: PAGE };
      const timesMs = await timesOf(payouts, query);
      const plan = (await pageKeys(mongo.collection<StoredPayout>('payouts'), query).explain('executionStats')) as Plan;
      const { totalKeysExamined: keys, totalDocsExamined: documents } = plan.executionStats;
      const [median = NaN, slowest = NaN] = [timesMs[Math.floor(ROUNDS / 2)], timesMs.at(-1)];
      const times = `${median.toFixed(1).padStart(10)} ${slowest.toFixed(1).padStart(12)}`;
      console.log(
        `${String(page).padStart(4)} ${order.padEnd(5)} | ${times} | ${String(keys).padStart(13)} ${String(documents).padStart(24)}`,
      );
    }
  }
}

interface Plan {
  executionStats: { totalKeysExamined: number; totalDocsExamined: number };
}

/** Sorted. */
async function timesOf(payouts: Pick<PayoutsAdapter, 'page'>, query: PageQuery): Promise<number[]> {
  const timesMs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const begun = performance.now();
    const found = await payouts.page(query);
    timesMs.push(performance.now() - begun);
    if (found.length !== PAGE) throw new Error(`page ${query.page} has ${found.length} payouts`);
  }
  return timesMs.sort((a, b) => a - b);
}

async function fill(
  collection: Collection<StoredPayout>,
  count: number,
  merchantOf: (index: number) => string,
): Promise<void> {
  for (let from = 0; from < count; from += INSERT_AT_ONCE) {
    const documents = Array.from({ length: Math.min(INSERT_AT_ONCE, count - from) }, (_, index) =>
      payout(merchantOf(from + index)),
    );
    await collection.insertMany(documents, { ordered: false, writeConcern: { w: 1 } });
  }
}

function payout(merchantAccount: string): StoredPayout {
  const time = START + Math.floor(Math.random() * WINDOW_SECONDS);
  const payoutId = newPaymentId(randomBytes);
  const reference = newReference(payoutId, randomBytes);
  return {
    _id: reference,
    payoutId,
    reference,
    merchantAccount,
    transactionUniqueId: reference.toLowerCase(),
    acceptedAt: time * 1000,
    time,
    amountE4: 105_000,
    feeE4: 5_000,
    currency: 'EUR',
    token: randomUUID(),
    instant: false,
    receiverCountry: 'LT',
    state: { kind: 'settled' },
    screening: { passed: true },
    bank: 'simulator',
    version: 2,
    eventSeq: 3,
    outbox: [],
  };
}
