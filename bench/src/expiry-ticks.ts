import type { StoredDeadline } from '@gateway/auth-expiry/dist/adapters/mongo/deadlines';
import { createDeadlines, dueAt } from '@gateway/auth-expiry/dist/adapters/mongo/deadlines';
import { createAllowance } from '@gateway/auth-expiry/dist/application/allowance';
import { askDue } from '@gateway/auth-expiry/dist/application/ask-due';
import type { Ports } from '@gateway/auth-expiry/dist/application/ports';
import { connectMongo } from '@gateway/mongo';
import { createLogger } from '@gateway/service-kit';

const FEW_OPEN = 10_000;
const FEW_DUE = 10;
const TICKS = 300;
const INSERTED_AT_ONCE = 10_000;
const DAY_MS = 86_400_000;

interface Tick {
  nothingDueMs: number;
  fewDueMs: number;
}

/** A tick as auth-expiry has it, commands to nobody, with few and with many authorizations open. */
export async function compareTicks(options: {
  uri: string;
  prefix: string;
  open: number;
  onEnd: (close: () => Promise<unknown>) => void;
}): Promise<void> {
  console.log(`\none tick of auth-expiry, median of ${TICKS}`);
  console.log('     open | nothing due ms | 10 due ms');
  const few = await measureTicks(options, FEW_OPEN);
  const many = await measureTicks(options, options.open);
  const [nothing, due] = [many.nothingDueMs / few.nothingDueMs, many.fewDueMs / few.fewDueMs];
  console.log(`    ratio | ${nothing.toFixed(2).padStart(14)} | ${due.toFixed(2).padStart(9)}`);
}

async function measureTicks({ uri, prefix, onEnd }: Parameters<typeof compareTicks>[0], open: number): Promise<Tick> {
  const mongo = await connectMongo({ uri, database: `${prefix}ticks-${open}` });
  onEnd(async () => {
    await mongo.mongoose.dropDatabase();
    await mongo.close();
  });
  const collection = mongo.collection<StoredDeadline>('deadlines');
  const deadlines = createDeadlines(mongo, Date.now);
  await deadlines.ensureIndexes();
  const startedAt = Date.now();
  for (let first = 0; first < open; first += INSERTED_AT_ONCE) {
    const count = Math.min(INSERTED_AT_ONCE, open - first);
    await collection.insertMany(Array.from({ length: count }, (_, index) => openDeadline(first + index, startedAt)));
  }
  const tick = tickOf(deadlines);
  const nothingDueMs = await median(async () => undefined, tick);
  // Every ask puts its deadline off: the same ones come round.
  const ids = Array.from({ length: FEW_DUE }, (_, index) => referenceOf(index));
  const fall = () => collection.updateMany({ _id: { $in: ids } }, { $set: { dueAt: startedAt, asks: 0 } });
  const fewDueMs = await median(fall, tick);
  console.log(
    `${String(open).padStart(9)} | ${nothingDueMs.toFixed(2).padStart(14)} | ${fewDueMs.toFixed(2).padStart(9)}`,
  );
  await fall();
  console.log(`            ${FEW_DUE} due: ${await planOf()}`);
  return { nothingDueMs, fewDueMs };

  async function planOf(): Promise<string> {
    const plan = (await collection
      .find(dueAt(Date.now()))
      .sort({ dueAt: 1 })
      .limit(500)
      .explain('executionStats')) as unknown as Plan;
    const { totalKeysExamined: keys, totalDocsExamined: documents } = plan.executionStats;
    return `${stagesOf(plan.queryPlanner.winningPlan)}; ${keys} keys and ${documents} documents examined`;
  }
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
    deadlines,
    askToExpire: () => Promise.resolve(),
    asked: () => undefined,
    now: Date.now,
    logger: createLogger({ service: 'bench', level: 'silent' }),
  };
  const unlimited = { ...createAllowance(1, Date.now), available: () => 1_000, spend: () => undefined };
  return () => askDue(ports, unlimited);
}

async function median(prepare: () => Promise<unknown>, work: () => Promise<unknown>): Promise<number> {
  const durationsMs: number[] = [];
  for (let count = 0; count < TICKS; count += 1) {
    await prepare();
    const begun = performance.now();
    await work();
    durationsMs.push(performance.now() - begun);
  }
  return durationsMs.sort((a, b) => a - b)[TICKS / 2] ?? Number.NaN;
}
