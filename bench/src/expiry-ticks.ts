import type { StoredDeadline } from '@gateway/auth-expiry/dist/adapters/mongo/deadlines';
import { createDeadlines } from '@gateway/auth-expiry/dist/adapters/mongo/deadlines';
import { createAllowance } from '@gateway/auth-expiry/dist/application/allowance';
import { askDue, BATCH_MAX as LOOKED_FOR_AT_ONCE } from '@gateway/auth-expiry/dist/application/ask-due';
import type { Ports } from '@gateway/auth-expiry/dist/application/ports';
import { clockAt, connectMongo, isDue } from '@gateway/mongo';
import { createLogger } from '@gateway/service-kit';
import type { OnEnd } from './run';

const FEW_OPEN = 10_000;
const FEW_DUE = 10;
const TICKS = 300;
const INSERTED_AT_ONCE = 10_000;
const DAY_MS = 86_400_000;

interface Store {
  open: number;
  tick(): Promise<unknown>;
  /** Makes ten of its deadlines due. */
  fall(): Promise<unknown>;
  plan(): Promise<string>;
}

/** auth-expiry's tick without a bus, with few and with many open authorizations in turn. */
export async function compareTicks(options: {
  uri: string;
  prefix: string;
  open: number;
  onEnd: OnEnd;
}): Promise<void> {
  const stores = [await openStore(options, FEW_OPEN), await openStore(options, options.open)];
  const nothingDue = await medians(stores, async () => undefined);
  // Every command postpones its deadline, so the same ones become due again.
  const fewDue = await medians(stores, (store) => store.fall());
  console.log(`\none tick of auth-expiry, median of ${TICKS}`);
  console.log(`     open | nothing due ms | ${FEW_DUE} due ms | query plan for ${FEW_DUE} due`);
  for (const [index, store] of stores.entries()) {
    await store.fall();
    console.log(
      `${pad(store.open, 9, 0)} | ${pad(nothingDue[index], 14)} | ${pad(fewDue[index], 9)} | ${await store.plan()}`,
    );
  }
  console.log(`    ratio | ${pad(ratio(nothingDue), 14)} | ${pad(ratio(fewDue), 9)} |`);
}

function ratio([few = Number.NaN, many = Number.NaN]: readonly number[]): number {
  return many / few;
}

function pad(value: number | undefined, width: number, decimals = 2): string {
  return (value ?? Number.NaN).toFixed(decimals).padStart(width);
}

async function openStore({ uri, prefix, onEnd }: Parameters<typeof compareTicks>[0], open: number): Promise<Store> {
  const mongo = await connectMongo({ uri, database: `${prefix}ticks-${open}` });
  onEnd(async () => {
    await mongo.mongoose.dropDatabase();
    await mongo.close();
  });
  const collection = mongo.collection<StoredDeadline>('deadlines');
  const deadlines = createDeadlines(mongo, clockAt(Date.now));
  await deadlines.ensureIndexes();
  const openedAt = Date.now();
  for (let first = 0; first < open; first += INSERTED_AT_ONCE) {
    const count = Math.min(INSERTED_AT_ONCE, open - first);
    await collection.insertMany(Array.from({ length: count }, (_, index) => openDeadline(first + index, openedAt)));
  }
  const ids = Array.from({ length: FEW_DUE }, (_, index) => referenceOf(index));
  return {
    open,
    tick: tickOf(deadlines),
    fall: () => collection.updateMany({ _id: { $in: ids } }, { $set: { dueAt: openedAt, asks: 0 } }),
    async plan() {
      const due = collection
        .find(isDue('dueAt', clockAt(Date.now)))
        .sort({ dueAt: 1 })
        .limit(LOOKED_FOR_AT_ONCE);
      const { queryPlanner, executionStats } = (await due.explain('executionStats')) as unknown as Plan;
      const { totalKeysExamined: keys, totalDocsExamined: documents } = executionStats;
      return `${stagesOf(queryPlanner.winningPlan)}: ${keys} keys, ${documents} documents`;
    },
  };
}

interface Stage {
  stage: string;
  indexName?: string;
  inputStage?: Stage;
}

interface Plan {
  queryPlanner: { winningPlan: Stage };
  executionStats: { totalKeysExamined: number; totalDocsExamined: number };
}

function stagesOf({ stage, indexName, inputStage }: Stage): string {
  const own = indexName === undefined ? stage : `${stage} ${indexName}`;
  return inputStage === undefined ? own : `${own} < ${stagesOf(inputStage)}`;
}

function referenceOf(index: number): string {
  return index.toString(36).toUpperCase().padStart(20, '0');
}

/** Spread over a week from tomorrow on. */
function openDeadline(index: number, now: number): StoredDeadline {
  const at = now + DAY_MS + (index % 7) * DAY_MS + index;
  return { _id: referenceOf(index), merchantAccount: 'bench_merchant', expiresAt: at, dueAt: at, asks: 0 };
}

function tickOf(deadlines: Ports['deadlines']): () => Promise<unknown> {
  const ports: Ports = {
    room: () => Promise.resolve(Infinity),
    deadlines,
    askToExpire: () => Promise.resolve(),
    recovering: () => false,
    asked: () => undefined,
    now: Date.now,
    random: Math.random,
    logger: createLogger({ service: 'bench', level: 'silent' }),
  };
  const unlimited = { ...createAllowance(1, Date.now), available: () => 1_000, spend: () => undefined };
  return () => askDue(ports, unlimited);
}

async function medians(stores: readonly Store[], prepare: (store: Store) => Promise<unknown>): Promise<number[]> {
  const durationsMs = stores.map((): number[] => []);
  for (let count = 0; count < TICKS; count += 1) {
    for (const [index, store] of stores.entries()) {
      await prepare(store);
      const begun = performance.now();
      await store.tick();
      durationsMs[index]?.push(performance.now() - begun);
    }
  }
  return durationsMs.map((values) => values.sort((a, b) => a - b)[TICKS / 2] ?? Number.NaN);
}
