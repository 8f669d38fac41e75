import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** Addresses of the servers of this test run. */
export interface TestServers {
  /** `host:port,host:port` */
  kafkaBrokers: string;
  /** A replica set's URI, without a database. */
  mongodbUri: string;
}

/** A process that runs servers. */
export type Holder = ChildProcessByStdio<Writable, Readable, null>;

const root = join(__dirname, '..', '..', '..');
let holder: Holder | undefined;

/**
 * Starts a script that runs servers. It stops them when its standard input closes, so also when this process is killed.
 * A separate session keeps Ctrl-C from it, so that it can clean up.
 */
export function startHolder(script: string, args: readonly string[] = []): Holder {
  const node = join(root, 'node_modules', '.bin', 'node');
  return spawn(node, [join(root, 'scripts', script), ...args], { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
}

/** Resolves when the holder has stopped its servers and removed their data. */
export async function endHolder(running: Holder): Promise<void> {
  if (running.exitCode !== null || running.signalCode !== null) return;
  const exited = once(running, 'exit');
  running.stdin.end();
  await exited;
}

/**
 * Provides the servers of the run: those of KAFKA_BROKERS and MONGODB_URI, else containers, else local processes.
 *
 * @throws Error with one sentence if none can be started.
 */
export async function startServers(): Promise<TestServers> {
  holder = startHolder('test-servers.mjs');
  const failed = once(holder, 'error').then(([error]) => Promise.reject(error as Error));
  const answer = await Promise.race([announcementOf<TestServers>(holder), failed]);
  if ('failure' in answer) throw withoutStack(answer.failure);
  return answer;
}

/** Stops the servers of {@link startServers} and waits until their processes and data are gone. */
export async function stopServers(): Promise<void> {
  if (holder !== undefined) await endHolder(holder);
}

/** The first line that a holder prints. */
export async function announcementOf<T>(from: Holder): Promise<T | { failure: string }> {
  for await (const line of createInterface({ input: from.stdout })) {
    return JSON.parse(line) as T | { failure: string };
  }
  return { failure: 'The process that holds the test servers has ended without a word.' };
}

/** Jest prints the stack of errors in global set-up; here only the sentence helps. */
function withoutStack(sentence: string): Error {
  const error = new Error(sentence);
  error.stack = sentence;
  return error;
}
