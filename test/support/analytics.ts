import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { environmentWith } from './processes';

const MAIN = join(__dirname, '..', '..', 'examples', 'analytics', 'dist', 'main.js');

/** examples/analytics in a process of its own. */
export interface AnalyticsProcess {
  /** Standard output and standard error so far. */
  output(): string;
  /** How many partitions it reads since it last joined its group; undefined before. */
  partitions(): number | undefined;
  /** Resolves with the exit code, or the signal's name. */
  readonly ended: Promise<number | string>;
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | string>;
}

const started: AnalyticsProcess[] = [];

/** Ends what a failed test has left. */
export async function endAnalytics(): Promise<void> {
  await Promise.all(started.map((one) => one.end('SIGKILL')));
}

export function startAnalytics(env: Record<string, string>, args: readonly string[] = []): AnalyticsProcess {
  const child: ChildProcess = spawn(process.execPath, [MAIN, ...args], {
    env: environmentWith(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string);
  const analytics: AnalyticsProcess = {
    output: () => output,
    partitions() {
      if (child.exitCode !== null) throw new Error(`analytics has ended: ${output}`);
      const last = Array.from(output.matchAll(/^reading (\d+) partitions$/gm)).at(-1);
      return last === undefined ? undefined : Number(last[1]);
    },
    ended,
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
  started.push(analytics);
  return analytics;
}

/** Runs it once, which must succeed. @returns what it has printed */
export async function runAnalytics(env: Record<string, string>): Promise<string> {
  const { ended, output } = startAnalytics(env);
  expect([await ended, output()]).toEqual([0, output()]);
  return output();
}

/** Bytes of transactions that wait to be merged into the file. */
export function logBytes(directory: string): number {
  const path = join(directory, 'analytics.duckdb.wal');
  return existsSync(path) ? statSync(path).size : 0;
}

/** True while Parquet files are being written. */
export function isExporting(directory: string): boolean {
  const folder = join(directory, 'parquet');
  return existsSync(folder) && readdirSync(folder).some((name) => name.endsWith('.new'));
}

/**
 * Runs a query with the files of stopped readers attached.
 *
 * @param directories by the name that the query has for each
 * @returns rows; BIGINT and DECIMAL as text
 */
export async function query<Row extends object>(directories: Record<string, string>, sql: string): Promise<Row[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    for (const [name, directory] of Object.entries(directories)) {
      await connection.run(`ATTACH '${join(directory, 'analytics.duckdb')}' AS ${name}`);
    }
    const [main] = Object.keys(directories);
    if (main !== undefined) await connection.run(`USE ${main}`);
    return (await connection.runAndReadAll(sql)).getRowObjectsJson() as Row[];
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
