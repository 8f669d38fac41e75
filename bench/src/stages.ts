import { setTimeout as pause } from 'node:timers/promises';
import type { ReceivedSpan } from '@gateway/testing';
import { startOtlpReceiver } from '@gateway/testing';
import { cardUseCases, tokenize } from './card-use-cases';
import { senderTo } from './compare';
import { startGateway } from './gateway';
import type { UseCase } from './load';
import { openClients } from './load';
import type { OnEnd } from './run';

const WARM_UP_MS = 30_000;
const REQUESTS = 1_000;
/** The last spans leave the services this long after their end. */
const EXPORTED_AFTER_MS = 10_000;
const ROOT = 'POST /api/pf/host-to-host';

/** Milliseconds: from the start of the request, and how long it took. */
interface Stage {
  startMs: number;
  takesMs: number;
}

/**
 * `npm run bench -- stages`: where the time of one client's SALE goes. Every trace is exported, to a collector in this
 * process. Prints for each span when it began, counted from the start of the request, and how long it took.
 */
export async function runStages(onEnd: OnEnd): Promise<void> {
  const collector = await startOtlpReceiver();
  onEnd(() => collector.close());
  const { baseUrl } = await startGateway(onEnd, { OTLP_URL: collector.url, TRACE_SAMPLE_RATIO: '1' });
  const token = await tokenize(senderTo(baseUrl));
  const [useCase] = cardUseCases(token);
  if (useCase === undefined) throw new Error('no use case');
  await load(baseUrl, useCase, (_, ms) => ms < WARM_UP_MS);
  await pause(EXPORTED_AFTER_MS);
  collector.spans.length = 0;
  collector.bodies.length = 0;
  await load(baseUrl, useCase, (requests) => requests < REQUESTS);
  await pause(EXPORTED_AFTER_MS);
  print(stagesOf(collector.spans));
}

async function load(baseUrl: string, useCase: UseCase, goesOn: (requests: number, ms: number) => boolean) {
  const { send, close } = openClients(baseUrl, 1);
  const begun = performance.now();
  for (let requests = 0; goesOn(requests, performance.now() - begun); requests += 1) await useCase.round(send);
  await close();
}

/** By service and name, of all traces that begin with a request. */
function stagesOf(spans: readonly ReceivedSpan[]): Map<string, Stage[]> {
  const begins = new Map<string, bigint>();
  for (const { name, traceId, startNs } of spans) if (name === ROOT) begins.set(traceId, startNs);
  const stages = new Map<string, Stage[]>();
  for (const { service, name, traceId, startNs, endNs } of spans) {
    const begin = begins.get(traceId);
    if (begin === undefined) continue;
    const label = `${service}: ${name}`;
    const all = stages.get(label) ?? [];
    all.push({ startMs: millisecondsOf(startNs - begin), takesMs: millisecondsOf(endNs - startNs) });
    stages.set(label, all);
  }
  return stages;
}

function print(stages: Map<string, Stage[]>): void {
  const rows = Array.from(stages, ([label, all]) => ({
    label,
    count: all.length,
    startMs: middle(all.map(({ startMs }) => startMs)),
    takesMs: middle(all.map(({ takesMs }) => takesMs)),
  })).sort((a, b) => a.startMs - b.startMs);
  console.log(`\n${'span'.padEnd(60)} |  begins ms   takes ms    count`);
  for (const { label, count, startMs, takesMs } of rows) {
    console.log(
      `${label.padEnd(60)} | ${startMs.toFixed(2).padStart(10)} ${takesMs.toFixed(2).padStart(10)} ${String(count).padStart(8)}`,
    );
  }
}

/** Mean of the middle half. Begins are whole milliseconds, so a median would be one too. */
function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.slice(Math.floor(sorted.length / 4), Math.ceil((sorted.length * 3) / 4));
  return half.reduce((sum, value) => sum + value, 0) / half.length;
}

function millisecondsOf(ns: bigint): number {
  return Number(ns) / 1e6;
}
