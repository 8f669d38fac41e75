import { randomBytes, randomUUID } from 'node:crypto';
import { newPaymentId, newReference } from '@gateway/contracts';
import type { Collection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import { createPayouts, pageKeys } from '@gateway/payout/dist/adapters/mongo/payouts';
import type { PageQuery, StoredPayout } from '@gateway/payout/dist/application/ports';

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
export async function runPayoutQuery(): Promise<void> {
  const uri = process.env['MONGODB_URI'];
  if (uri === undefined) throw new Error('MONGODB_URI is not set');
  const mongo = await connectMongo({ uri, database: `bench-payout-query-${randomUUID().slice(0, 8)}` });
  try {
    const payouts = createPayouts(mongo);
    await payouts.ensureIndexes();
    const collection = mongo.collection<StoredPayout>('payouts');
    const measurePages = async (label: string): Promise<void> => {
      for (const page of [1, OWN / PAGE / 2, OWN / PAGE]) {
        for (const order of ['asc', 'desc'] as const) {
          const query: PageQuery = {
            merchantAccount: MERCHANT,
            from: START,
            to: START + WINDOW_SECONDS,
            order,
            page,
            limit: PAGE,
          };
          const timesMs: number[] = [];
          for (let round = 0; round < ROUNDS; round += 1) {
            const begun = performance.now();
            const found = await payouts.page(query);
            timesMs.push(performance.now() - begun);
            if (found.length !== PAGE) throw new Error(`page ${page} has ${found.length} payouts`);
          }
          timesMs.sort((a, b) => a - b);
          const plan = (await pageKeys(collection, query).explain('executionStats')) as {
            executionStats: { totalKeysExamined: number; totalDocsExamined: number };
          };
          const { totalKeysExamined: keys, totalDocsExamined: documents } = plan.executionStats;
          const median = timesMs[Math.floor(ROUNDS / 2)]?.toFixed(1);
          const worst = timesMs.at(-1)?.toFixed(1);
          console.log(
            `${label}, page ${page} ${order}: median ${median} ms, slowest ${worst} ms; keys ${keys}, documents for the keys ${documents}`,
          );
        }
      }
    };
    await fill(collection, OWN, () => MERCHANT);
    await measurePages(`${OWN} payouts, one merchant`);
    await fill(collection, PAYOUTS - OWN, (index) => `other_merchant_${index % OTHERS}`);
    await measurePages(`${PAYOUTS} payouts, ${OWN} the merchant's`);
  } finally {
    await mongo.mongoose.dropDatabase();
    await mongo.close();
  }
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
