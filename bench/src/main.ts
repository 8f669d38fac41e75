import { runCallbacks } from './callbacks';
import { runExpiry } from './expiry';
import { cardUseCases, tokenize } from './card-use-cases';
import type { System } from './gateway';
import { startDirect, startGateway } from './gateway';
import type { Measurement, Send, UseCase } from './load';
import { measure } from './load';

const CLIENTS = [1, 16, 64, 128];
/** Compilers, caches and Kafka's JVM need a while before they are what they will be. */
const FIRST_WARM_UP_MS = 20_000;
const WARM_UP_CLIENTS = 64;
const WARM_UP_MS = 2_000;
const MEASURE_MS = 8_000;

const stopRun = new AbortController();

/** `npm run bench`: the gateway and the direct wiring in turn, load after load, so that drift hits both alike. */
async function main(): Promise<void> {
  const gateway = await startGateway();
  const direct = await startDirect(gateway.env);
  try {
    const useCases = await Promise.all([gateway, direct].map(useCasesOf));
    const [ofGateway = [], ofDirect = []] = useCases;
    for (const [index, useCase] of ofGateway.entries()) {
      const other = ofDirect[index];
      if (other === undefined) throw new Error(`no ${useCase.name} without Kafka`);
      await warmUp([
        { system: gateway, useCase },
        { system: direct, useCase: other },
      ]);
      await compare({ system: gateway, useCase }, { system: direct, useCase: other });
    }
    printMemory({
      ...(await gateway.memory()),
      ...(await direct.memory()),
      'load generator': process.memoryUsage.rss(),
    });
  } finally {
    await direct.stop();
    await gateway.stop();
  }
}

async function useCasesOf(system: System): Promise<UseCase[]> {
  const send: Send = async (fields) => {
    const response = await fetch(`${system.baseUrl}/api/pf/host-to-host`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fields),
    });
    return (await response.json()) as Record<string, unknown>;
  };
  return cardUseCases(await tokenize(send));
}

interface Contender {
  system: System;
  useCase: UseCase;
}

async function warmUp(contenders: readonly Contender[]): Promise<void> {
  for (const { system, useCase } of contenders) {
    const { baseUrl } = system;
    await measure({ baseUrl, useCase, clients: WARM_UP_CLIENTS, warmUpMs: 0, measureMs: FIRST_WARM_UP_MS });
  }
}

async function compare(gateway: Contender, direct: Contender): Promise<void> {
  console.log(`\n${gateway.useCase.name} (${gateway.useCase.requestsPerRound} request(s) a round)`);
  console.log('clients | gateway /s    p50 ms    p99 ms |  direct /s    p50 ms    p99 ms | ratio /s   ratio p50');
  for (const clients of CLIENTS) {
    const a = await measureOne(gateway, clients);
    const b = await measureOne(direct, clients);
    console.log(
      `${pad(clients, 7, 0)} | ${figures(a)} | ${figures(b)} | ${pad(a.perSecond / b.perSecond, 8)}   ${pad(a.p50Ms / b.p50Ms, 9)}`,
    );
  }
}

function measureOne({ system, useCase }: Contender, clients: number): Promise<Measurement> {
  stopRun.signal.throwIfAborted();
  return measure({ baseUrl: system.baseUrl, useCase, clients, warmUpMs: WARM_UP_MS, measureMs: MEASURE_MS });
}

function figures({ perSecond, p50Ms, p99Ms }: Measurement): string {
  return `${pad(perSecond, 10, 0)} ${pad(p50Ms, 9)} ${pad(p99Ms, 9)}`;
}

function pad(value: number, width: number, decimals = 2): string {
  return value.toFixed(decimals).padStart(width);
}

function printMemory(residentBytes: Record<string, number>): void {
  console.log('\nresident memory after the run');
  for (const [name, bytes] of Object.entries(residentBytes)) {
    console.log(`${name.padEnd(16)} ${pad(bytes / 1024 / 1024, 6, 0)} MiB`);
  }
}

// What was started is stopped on the way out, also when the run is cut short.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopRun.abort(new Error(signal)));

const RUNS: Record<string, () => Promise<void>> = { callbacks: runCallbacks, expiry: runExpiry };
const run = RUNS[process.argv[2] ?? ''] ?? main;

run().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
