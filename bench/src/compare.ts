import type { System } from './gateway';
import type { Measurement, Send, UseCase } from './load';
import { measure } from './load';

const CLIENTS = [1, 16, 64, 128];
/** Compilers, caches and Kafka's JVM need time to warm up. */
const FIRST_WARM_UP_MS = 20_000;
const WARM_UP_CLIENTS = 64;
const WARM_UP_MS = 2_000;
const MEASURE_MS = 8_000;

interface Contender {
  system: System;
  useCase: UseCase;
}

/**
 * The use cases at the gateway and at the direct wiring in turn, load after load, so that drift affects both alike. Prints
 * a table for each.
 */
export async function compareUseCases(
  gateway: System,
  direct: System,
  useCasesOf: (system: System) => Promise<UseCase[]>,
): Promise<void> {
  const ofGateway = await useCasesOf(gateway);
  const ofDirect = await useCasesOf(direct);
  for (const [index, useCase] of ofGateway.entries()) {
    const other = ofDirect[index];
    if (other === undefined) throw new Error(`no ${useCase.name} without Kafka`);
    const pair = [
      { system: gateway, useCase },
      { system: direct, useCase: other },
    ] as const;
    for (const { system, useCase: one } of pair) {
      const load = { clients: WARM_UP_CLIENTS, warmUpMs: 0, measureMs: FIRST_WARM_UP_MS };
      await measure({ baseUrl: system.baseUrl, useCase: one, ...load });
    }
    await compare(...pair);
  }
  printMemory({
    ...(await gateway.memory()),
    ...(await direct.memory()),
    'load generator': process.memoryUsage.rss(),
  });
}

/** Sends one request after the other, outside any measurement. */
export function senderTo(baseUrl: string): Send {
  return async (path, fields) => {
    const response = await fetch(`${baseUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fields),
    });
    return (await response.json()) as Record<string, unknown>;
  };
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
