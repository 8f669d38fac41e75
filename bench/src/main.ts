import { messageOf } from '@gateway/service-kit';
import { runCallbacks } from './callbacks';
import { cardUseCases, tokenize } from './card-use-cases';
import { compareUseCases, senderTo } from './compare';
import { runExpiry } from './expiry';
import type { System } from './gateway';
import { startDirect, startGateway } from './gateway';
import type { UseCase } from './load';
import { runPain001 } from './pain001';
import { runPayoutQuery } from './payout-query';
import { payoutUseCases } from './payout-use-cases';
import type { OnEnd, Run } from './run';

const USAGE = `usage: npm run bench -- [cards|payouts|pain001|payout-query|callbacks|expiry [OPEN [DUE]]]
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
  expiry: runExpiry,
};

const closers: (() => Promise<unknown> | void)[] = [];
async function closeAll(): Promise<void> {
  for (let close = closers.pop(); close !== undefined; close = closers.pop()) await close();
}

/** The first who says so: what is cut short by a signal fails as well. */
let ending = false;
async function end(exitCode: number): Promise<void> {
  if (ending) return;
  ending = true;
  await closeAll().catch((error: unknown) => console.error(messageOf(error)));
  process.exit(exitCode);
}

const [name = 'cards', ...numbers] = process.argv.slice(2);
const run = runs[name];
const counts = numbers.map(Number);

if (run === undefined || !counts.every((count) => Number.isSafeInteger(count) && count > 0)) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end(1));
  run((close) => void closers.push(close), counts).then(
    () => end(0),
    (error: unknown) => {
      if (!ending) console.error(messageOf(error));
      return end(1);
    },
  );
}
