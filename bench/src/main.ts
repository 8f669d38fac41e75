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

const stopRun = new AbortController();

/** The gateway against the same work in one process without Kafka. */
async function againstDirect(useCasesOf: (system: System) => Promise<UseCase[]>): Promise<void> {
  const gateway = await startGateway();
  const direct = await startDirect(gateway.env);
  try {
    await compareUseCases(gateway, direct, useCasesOf, stopRun.signal);
  } finally {
    await direct.stop();
    await gateway.stop();
  }
}

const runs: Record<string, () => Promise<void>> = {
  cards: () => againstDirect(async ({ baseUrl }) => cardUseCases(await tokenize(senderTo(baseUrl)))),
  async payouts() {
    await againstDirect(async () => payoutUseCases());
    await runPain001();
    await runPayoutQuery();
  },
  pain001: runPain001,
  'payout-query': runPayoutQuery,
  callbacks: runCallbacks,
  expiry: runExpiry,
};

// What was started is stopped on the way out, also when the run is cut short.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopRun.abort(new Error(signal)));

const [name = 'cards'] = process.argv.slice(2);
const run = runs[name];

if (run === undefined) {
  console.error(`There is no bench ${name}: ${Object.keys(runs).join(', ')}.`);
  process.exitCode = 2;
} else {
  run().then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
}
