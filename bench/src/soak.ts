import { setTimeout as pause } from 'node:timers/promises';
import { cardUseCases, saleOf, tokenize } from './card-use-cases';
import { senderTo } from './compare';
import type { ProcessFigures } from './gateway';
import { figuresOfServices, startGateway } from './gateway';
import { measure } from './load';
import { offer } from './open-loop';
import type { OnEnd } from './run';
import { flags, UsageError } from './run';

const SATURATING_CLIENTS = 64;
const LOAD = 0.5;
const MAX_IN_FLIGHT = 500;
const FIRST_WARM_UP_MS = 20_000;
const MINUTE_MS = 60_000;
const SOAK_MS = { long: 30 * MINUTE_MS, normal: 3 * MINUTE_MS, quick: MINUTE_MS / 3 };
const SAMPLES = 60;
/** The slope is measured from here, since caches and pools fill first. */
const SETTLED_AFTER = 0.25;
/** A process that grows by less than this over the run is flat, since garbage collection does not follow our samples. */
const FLAT = { share: 0.1, bytes: 16 * 1_048_576, count: 5 };

interface Sample {
  atMs: number;
  figures: Record<string, ProcessFigures>;
}

/** `npm run bench -- soak [--long|--quick]`: half of the best throughput for a long time; nothing may grow. */
export async function runSoak(onEnd: OnEnd, args: readonly string[]): Promise<void> {
  const given = flags(args, ['long', 'quick']);
  if (given.size > 1) throw new UsageError('--long and --quick exclude each other');
  const forMs = given.has('long') ? SOAK_MS.long : given.has('quick') ? SOAK_MS.quick : SOAK_MS.normal;
  const { baseUrl } = await startGateway(onEnd);
  const token = await tokenize(senderTo(baseUrl));
  const [useCase] = cardUseCases(token);
  if (useCase === undefined) throw new Error('no use case');
  const load = { baseUrl, useCase, clients: SATURATING_CLIENTS };
  await measure({ ...load, warmUpMs: 0, measureMs: Math.min(FIRST_WARM_UP_MS, forMs) });
  const { perSecond } = await measure({ ...load, warmUpMs: 0, measureMs: Math.min(FIRST_WARM_UP_MS, forMs) });

  const rate = LOAD * perSecond;
  console.log(
    `\n${rate.toFixed(0)} SALEs a second, half of ${perSecond.toFixed(0)}, for ${(forMs / MINUTE_MS).toFixed(1)} minutes`,
  );
  const samples: Sample[] = [];
  const sampling = sample(samples, forMs);
  const soaked = await offer({
    baseUrl,
    perSecond: rate,
    forMs,
    maxInFlight: MAX_IN_FLIGHT,
    next: () => saleOf(token),
  });
  await sampling;
  const others = JSON.stringify(Object.fromEntries(soaked.others));
  console.log(`p50 ${soaked.p50Ms.toFixed(1)} ms, p99 ${soaked.p99Ms.toFixed(1)} ms; answers but success: ${others}`);
  report(samples);
}

async function sample(samples: Sample[], forMs: number): Promise<void> {
  const begunAt = performance.now();
  for (let count = 0; count <= SAMPLES; count += 1) {
    const atMs = (count / SAMPLES) * forMs;
    await pause(Math.max(0, begunAt + atMs - performance.now()));
    samples.push({ atMs, figures: await figuresOfServices() });
  }
}

const FIGURES = [
  { name: 'residentBytes', title: 'RSS', unit: 1_048_576, decimals: 0, flat: FLAT.bytes },
  { name: 'heapBytes', title: 'heap', unit: 1_048_576, decimals: 0, flat: FLAT.bytes },
  { name: 'handles', title: 'handles', unit: 1, decimals: 0, flat: FLAT.count },
  { name: 'connections', title: 'connections', unit: 1, decimals: 0, flat: FLAT.count },
] as const;

function report(samples: readonly Sample[]): void {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined) throw new Error('no samples');
  const settled = samples.slice(Math.floor(SETTLED_AFTER * samples.length));
  console.log('\nprocess              figure      |  at start    at end    per hour   (RSS and heap in MiB)');
  for (const name of Object.keys(first.figures)) {
    for (const figure of FIGURES) {
      const at = ({ figures }: Sample): number => figures[name]?.[figure.name] ?? Number.NaN;
      const perMs = slope(settled.map((each) => [each.atMs, at(each)]));
      const growth = perMs * (last.atMs - (settled[0]?.atMs ?? 0));
      const isFlat = growth <= Math.max(figure.flat, FLAT.share * at(last));
      const shown = (value: number): string => (value / figure.unit).toFixed(figure.decimals).padStart(9);
      const values = [shown(at(first)), shown(at(last)), shown(perMs * 60 * MINUTE_MS)].join(' ');
      console.log(`${name.padEnd(20)} ${figure.title.padEnd(11)} | ${values}   ${isFlat ? 'flat' : 'GROWS'}`);
    }
  }
}

/** Slope by least squares. */
function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  const products = points.map(([x, y]) => (x - meanX) * (y - meanY));
  return mean(products) / mean(points.map(([x]) => (x - meanX) ** 2));
}
