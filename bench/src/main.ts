import { messageOf } from '@gateway/service-kit';
import { runCallbacks } from './callbacks';
import { cardUseCases, tokenize } from './card-use-cases';
import { compareUseCases, senderTo } from './compare';
import { runExpiry } from './expiry';
import { runFirstRequests } from './first-requests';
import { runFootprint } from './footprint';
import type { System } from './gateway';
import { startDirect, startGateway } from './gateway';
import { runHostile } from './hostile';
import type { UseCase } from './load';
import { runNeighbours } from './neighbours';
import { runOverload } from './overload';
import { runPain001 } from './pain001';
import { runPayoutQuery } from './payout-query';
import { payoutUseCases } from './payout-use-cases';
import { runReplicas } from './replicas';
import type { OnEnd, Run } from './run';
import { UsageError } from './run';
import { runSoak } from './soak';
import { runStages } from './stages';

const USAGE = `usage: npm run bench -- [cards|payouts|pain001|payout-query|callbacks|expiry [OPEN [DUE]]
                       |neighbours [--quick] [--only ATTACK,…]|replicas [--quick]|overload [--quick]
                       |soak [--quick|--long]|footprint [--quick]|first-requests|stages|hostile]
See bench/README.md.`;

/** The gateway against the same work in one process without Kafka. */
async function againstDirect(onEnd: OnEnd, useCasesOf: (system: System) => Promise<UseCase[]>): Promise<void> {
  const gateway = await startGateway(onEnd);
  const direct = await startDirect(gateway.env, onEnd);
  await compareUseCases(gateway, direct, useCasesOf);
}

const runs: Record<string, Run> = {
  cards: (onEnd) => againstDirect(onEnd, async ({ baseUrl }) => cardUseCases(await tokenize(senderTo(baseUrl)))),
  async payouts(onEnd) {
    await againstDirect(onEnd, async () => payoutUseCases());
    await closeAll();
    await runPain001(onEnd);
    await closeAll();
    await runPayoutQuery(onEnd);
  },
  pain001: runPain001,
  'payout-query': runPayoutQuery,
  callbacks: runCallbacks,
  expiry: async (onEnd, args) => runExpiry(onEnd, counts(args)),
  neighbours: runNeighbours,
  replicas: runReplicas,
  overload: runOverload,
  soak: runSoak,
  footprint: runFootprint,
  'first-requests': runFirstRequests,
  stages: runStages,
  hostile: runHostile,
};

const closers: (() => Promise<unknown> | void)[] = [];
async function closeAll(): Promise<void> {
  for (let close = closers.pop(); close !== undefined; close = closers.pop()) await close();
}

/** The first call decides: work that a signal interrupts fails as well. */
let ending = false;
async function end(exitCode: number): Promise<void> {
  if (ending) return;
  ending = true;
  await closeAll().catch((error: unknown) => console.error(messageOf(error)));
  process.exit(exitCode);
}

function counts(args: readonly string[]): number[] {
  const numbers = args.map(Number);
  if (numbers.every((count) => Number.isSafeInteger(count) && count > 0)) return numbers;
  throw new UsageError(`not a count: ${args.join(' ')}`);
}

const [name = 'cards', ...args] = process.argv.slice(2);
const run = runs[name];

if (run === undefined) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end(1));
  run((close) => void closers.push(close), args).then(
    () => end(0),
    (error: unknown) => {
      if (!ending) console.error(messageOf(error));
      if (error instanceof UsageError) console.error(USAGE);
      return end(error instanceof UsageError ? 2 : 1);
    },
  );
}
