import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { cardUseCases, tokenize } from './card-use-cases';
import { senderTo } from './compare';
import { SERVICES, startGateway } from './gateway';
import { measure } from './load';
import { restart, running } from './restart';
import type { OnEnd } from './run';
import { flags } from './run';

const CLIENTS = 64;
const IDLE_MS = 30_000;
const WARM_UP_MS = 20_000;
const MEASURE_MS = 30_000;
const SAMPLE_EVERY_MS = 1_000;
const MIB = 1_048_576;
/** Of Linux, on all common platforms. */
const TICKS_PER_SECOND = 100;
const TARGETS = { startMs: 1_500, idleMiB: 100, loadedMiB: 180, allMiB: 1.8 * 1_024 };

interface Start {
  /** From the start of the process until it says that it is ready. */
  wallMs: number;
  /** User and system time of all its threads. */
  cpuMs: number;
}

/**
 * `npm run bench -- footprint [--quick]`: how long each service takes to start while nothing else happens, and the
 * resident memory of all processes, idle and at 64 clients. Reads `/proc`, so on Linux only.
 */
export async function runFootprint(onEnd: OnEnd, args: readonly string[]): Promise<void> {
  const speed = flags(args, ['quick']).has('quick') ? 3 : 1;
  const { baseUrl } = await startGateway(onEnd);
  const starts = new Map<string, Start>();
  for (const name of SERVICES) starts.set(name, await startOf(name));
  await pause(IDLE_MS / speed);
  const idle = residentBytes();

  const token = await tokenize(senderTo(baseUrl));
  const [useCase] = cardUseCases(token);
  if (useCase === undefined) throw new Error('no use case');
  const load = { baseUrl, useCase, clients: CLIENTS, warmUpMs: WARM_UP_MS / speed, measureMs: MEASURE_MS / speed };
  const sampling = sampleLargest(load.warmUpMs, load.measureMs);
  const before = cpuMs();
  const { perSecond, p50Ms } = await measure(load);
  const after = cpuMs();
  const rounds = perSecond * ((load.warmUpMs + load.measureMs) / 1_000);
  print({ starts, idle, loaded: await sampling, cpuPerRound: perRound(before, after, rounds) });
  console.log(`\n${perSecond.toFixed(0)} SALEs a second at ${CLIENTS} clients, p50 ${p50Ms.toFixed(1)} ms`);
}

/** The start of the process that replaces an ended one. */
async function startOf(name: string): Promise<Start> {
  const pid = await restart(name);
  return { wallMs: ageMs(pid), cpuMs: cpuMsOf(pid) };
}

/** proc(5): the fields from the state on; the name before them may contain anything. */
function statOf(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function ageMs(pid: number): number {
  const [upSeconds = ''] = readFileSync('/proc/uptime', 'utf8').split(' ');
  return Number(upSeconds) * 1_000 - (Number(statOf(pid)[19]) / TICKS_PER_SECOND) * 1_000;
}

function cpuMsOf(pid: number): number {
  const stat = statOf(pid);
  return ((Number(stat[11]) + Number(stat[12])) / TICKS_PER_SECOND) * 1_000;
}

type Figures = Readonly<Record<string, number>>;

function ofEach(figure: (pid: number) => number): Figures {
  return Object.fromEntries(running().map(({ name, pid }) => [name, figure(pid)]));
}

function cpuMs(): Figures {
  return ofEach(cpuMsOf);
}

function residentBytes(): Figures {
  return ofEach((pid) => {
    const [, kib = ''] = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kib) * 1_024;
  });
}

/** The largest memory of each process while the load counts. */
async function sampleLargest(fromMs: number, forMs: number): Promise<Figures> {
  await pause(fromMs);
  const endMs = performance.now() + forMs;
  let largest: Figures = {};
  while (performance.now() < endMs) {
    const now = Object.entries(residentBytes());
    largest = Object.fromEntries(now.map(([name, bytes]) => [name, Math.max(bytes, largest[name] ?? 0)]));
    await pause(SAMPLE_EVERY_MS);
  }
  return largest;
}

function perRound(before: Figures, after: Figures, rounds: number): Figures {
  return Object.fromEntries(Object.entries(after).map(([name, ms]) => [name, (ms - (before[name] ?? ms)) / rounds]));
}

function print(figures: {
  starts: ReadonlyMap<string, Start>;
  idle: Figures;
  loaded: Figures;
  cpuPerRound: Figures;
}): void {
  const { starts, idle, loaded, cpuPerRound } = figures;
  console.log('\n                     |  ready ms   CPU ms | idle MiB   at 64 MiB | CPU ms a SALE');
  for (const name of Object.keys(idle)) {
    const start = starts.get(name);
    const begun = start === undefined ? ' '.repeat(18) : `${shown(start.wallMs, 9)}${shown(start.cpuMs, 9)}`;
    const memory = `${shown((idle[name] ?? NaN) / MIB, 8)}${shown((loaded[name] ?? NaN) / MIB, 12)}`;
    console.log(`${name.padEnd(20)} | ${begun} | ${memory} | ${shown(cpuPerRound[name] ?? NaN, 13, 3)}`);
  }
  const all = [idle, loaded].map((one) => sum(one) / MIB);
  const [allIdle = NaN, allLoaded = NaN] = all;
  console.log(
    `${'all'.padEnd(20)} | ${' '.repeat(18)} | ${shown(allIdle, 8)}${shown(allLoaded, 12)} | ${shown(sum(cpuPerRound), 13, 3)}`,
  );
  const { startMs, idleMiB, loadedMiB, allMiB } = TARGETS;
  console.log(
    `target               | ${shown(startMs, 9)}${' '.repeat(9)} | ${shown(idleMiB, 8)}${shown(loadedMiB, 12)} | all together ${allMiB.toFixed(0)} MiB`,
  );
}

function sum(figures: Figures): number {
  return Object.values(figures).reduce((total, one) => total + one, 0);
}

function shown(value: number, width: number, decimals = 0): string {
  return value.toFixed(decimals).padStart(width);
}
