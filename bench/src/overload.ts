import { setTimeout as pause } from 'node:timers/promises';
import { cardUseCases, saleOf, tokenize } from './card-use-cases';
import { senderTo } from './compare';
import { figuresOfServices, startGateway } from './gateway';
import { measure } from './load';
import type { Offered } from './open-loop';
import { offer } from './open-loop';
import type { OnEnd } from './run';
import { flags } from './run';

const OVERLOAD_FACTOR = 5;
const SATURATING_CLIENTS = [64, 128];
/** Unanswered requests of the load generator. The edge takes 2,000 at once. */
const MAX_IN_FLIGHT = 2_200;
const FULL = { firstWarmUpMs: 20_000, saturationMs: 10_000, overloadMs: 30_000 };
const QUICK = { firstWarmUpMs: 3_000, saturationMs: 3_000, overloadMs: 5_000 };

/** Share of the best throughput that the gateway must keep under overload. */
const MIN_SHARE_OF_BEST = 0.8;
const MAX_RESIDENT_BYTES = 300 * 1_048_576;
const MAX_RECOVERY_MS = 10_000;
/** The only allowed answers to rejected requests. */
const SHED = ['429', '503'];

const MEMORY_EVERY_MS = 1_000;
/** The gateway has recovered when it answers a light load as before, without rejections, for one window. */
const RECOVERY = { perSecond: 20, windowMs: 500, slowdown: 2, giveUpMs: 60_000 };

type Request = ReturnType<typeof saleOf>;

/** `npm run bench -- overload [--quick]`: sends five times as many SALEs as the gateway can take. */
export async function runOverload(onEnd: OnEnd, args: readonly string[]): Promise<void> {
  const pace = flags(args, ['quick']).has('quick') ? QUICK : FULL;
  const { baseUrl } = await startGateway(onEnd);
  const token = await tokenize(senderTo(baseUrl));
  const next = (): Request => saleOf(token);
  const [useCase] = cardUseCases(token);
  if (useCase === undefined) throw new Error('no use case');
  await measure({ baseUrl, useCase, clients: 64, warmUpMs: 0, measureMs: pace.firstWarmUpMs });

  let best = 0;
  for (const clients of SATURATING_CLIENTS) {
    const { perSecond } = await measure({ baseUrl, useCase, clients, warmUpMs: 1_000, measureMs: pace.saturationMs });
    best = Math.max(best, perSecond);
  }
  const calm = await offer({ baseUrl, perSecond: RECOVERY.perSecond, forMs: 3_000, maxInFlight: 100, next });

  const memory = watchMemory();
  const perSecond = OVERLOAD_FACTOR * best;
  const loaded = await offer({ baseUrl, perSecond, forMs: pace.overloadMs, maxInFlight: MAX_IN_FLIGHT, next });
  const recoveredAfterMs = loaded.drainMs + (await recovery(baseUrl, next, calm.p50Ms));
  report({ best, loaded, recoveredAfterMs, peaks: await memory.stop() });
}

function watchMemory(): { stop(): Promise<Map<string, number>> } {
  const peaks = new Map<string, number>();
  let watching = true;
  const watch = async (): Promise<void> => {
    while (watching) {
      // A process that is too busy to answer is asked again later.
      const figures = await figuresOfServices().catch(() => ({}));
      for (const [name, { residentBytes }] of Object.entries(figures)) {
        peaks.set(name, Math.max(peaks.get(name) ?? 0, residentBytes));
      }
      await pause(MEMORY_EVERY_MS);
    }
  };
  const watched = watch();
  return {
    async stop() {
      watching = false;
      await watched;
      return peaks;
    },
  };
}

/** Call it when all requests are answered. Resolves when the gateway has recovered, with the time it took in ms. */
async function recovery(baseUrl: string, next: () => Request, calmP50Ms: number): Promise<number> {
  const begunAt = performance.now();
  for (;;) {
    const elapsedMs = performance.now() - begunAt;
    const { perSecond, windowMs, slowdown, giveUpMs } = RECOVERY;
    const window = await offer({ baseUrl, perSecond, forMs: windowMs, maxInFlight: 100, next });
    if (window.others.size === 0 && window.p50Ms <= slowdown * calmP50Ms) return elapsedMs;
    if (elapsedMs > giveUpMs) return Infinity;
  }
}

function report(result: { best: number; loaded: Offered; recoveredAfterMs: number; peaks: Map<string, number> }): void {
  const { best, loaded, recoveredAfterMs, peaks } = result;
  const { offered, succeeded } = loaded.perSecond;
  const wrong = [...loaded.others].filter(([answer]) => !SHED.includes(answer));
  const [largest = 0] = [...peaks.values()].toSorted((a, b) => b - a);
  console.log(`\nbest throughput ${best.toFixed(0)}/s; offered ${offered.toFixed(0)}/s, ${loaded.unsent} not sent`);
  console.log(`SALEs that succeed: p50 ${loaded.p50Ms.toFixed(0)} ms, p99 ${loaded.p99Ms.toFixed(0)} ms`);
  console.log(`other answers: ${JSON.stringify(Object.fromEntries(loaded.others))}`);
  for (const [name, bytes] of peaks) console.log(`  ${name.padEnd(20)} ${mebibytes(bytes)} at most`);
  console.log('\nunder overload                  |      is |  target');
  verdict(
    'throughput, share of the best',
    (succeeded / best).toFixed(2),
    `>= ${MIN_SHARE_OF_BEST}`,
    succeeded / best >= MIN_SHARE_OF_BEST,
  );
  verdict(
    'answers but success, 429, 503',
    String(wrong.reduce((sum, [, count]) => sum + count, 0)),
    '0',
    wrong.length === 0,
  );
  verdict('largest process', mebibytes(largest), `<= ${mebibytes(MAX_RESIDENT_BYTES)}`, largest <= MAX_RESIDENT_BYTES);
  verdict(
    'recovered after',
    `${(recoveredAfterMs / 1_000).toFixed(1)} s`,
    `<= ${MAX_RECOVERY_MS / 1_000} s`,
    recoveredAfterMs <= MAX_RECOVERY_MS,
  );
}

function verdict(what: string, is: string, target: string, holds: boolean): void {
  console.log(`${what.padEnd(31)} | ${is.padStart(7)} | ${target.padStart(10)}  ${holds ? 'yes' : 'NO'}`);
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(0)} MiB`;
}
