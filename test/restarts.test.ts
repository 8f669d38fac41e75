import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@gateway/testing';

/** Writes its pid to the log and runs forever. */
const STEADY = 'console.log(process.pid); setInterval(() => undefined, 1000)';
/** Cannot start. */
const BROKEN = "console.error('a setting is missing'); process.exit(3)";

let directory: string;
let runs: ChildProcess[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'restarts-'));
});

afterEach(async () => {
  for (const run of runs) run.kill('SIGKILL');
  runs = [];
  await rm(directory, { recursive: true });
});

interface Supervised {
  output(): string;
  end(signal: NodeJS.Signals): void;
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
}

function supervise(program: string, firstDelayMs = 50): Supervised {
  const script = join(__dirname, 'support', 'supervised.mjs');
  const env = { ...process.env, FIRST_DELAY_MS: String(firstDelayMs) };
  const run = spawn(process.execPath, [script, directory, process.execPath, '-e', program], { env });
  runs.push(run);
  let output = '';
  for (const stream of [run.stdout, run.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return {
    output: () => output,
    end: (signal) => void run.kill(signal),
    ended: once(run, 'close').then(([code]) => code as number | null),
  };
}

/** Pids of all starts so far. */
async function pids(): Promise<number[]> {
  const log = await readFile(join(directory, 'sample.log'), 'utf8').catch(() => '');
  return log.split('\n').filter(Boolean).map(Number);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('a killed service restarts, keeps its log, and ends with the run', async () => {
  const run = supervise(STEADY);
  for (const starts of [1, 2, 3]) {
    await until(`start ${starts}`, async () => (await pids()).length === starts);
    if (starts < 3) process.kill((await pids())[starts - 1] ?? 0, 'SIGKILL');
  }
  const death = /sample has died \(SIGKILL\), restart in (0\.\d+) s: see .*sample\.log/g;
  const delays = () => [...run.output().matchAll(death)].map(([, delay]) => delay);
  await until('both deaths are reported', () => delays().length === 2);
  expect(delays()).toEqual(['0.05', '0.1']);
  const [, , last = 0] = await pids();
  expect(isAlive(last)).toBe(true);
  run.end('SIGTERM');
  expect(await run.ended).toBe(0);
  expect((await pids()).filter(isAlive)).toEqual([]);
});

test('a service that cannot start ends the run, which prints its name, the reason and the end of its log', async () => {
  const run = supervise(BROKEN);
  expect(await run.ended).toBe(1);
  expect(run.output().match(/sample has died \(exit code 3\)/g)).toHaveLength(4);
  expect(run.output()).toContain('sample keeps dying, 5 times within 60 s (exit code 3). The end of ');
  expect(run.output()).toMatch(/sample\.log:\n( {2}a setting is missing\n){5}Stopping …\n$/);
});

test('stopping a run does not wait for a pending restart', async () => {
  const run = supervise('console.log(process.pid)', 30_000);
  await until('it waits', () => run.output().includes('has died (exit code 0), restart in 30 s'));
  run.end('SIGTERM');
  expect(await run.ended).toBe(0);
  expect(await pids()).toHaveLength(1);
}, 20_000);
