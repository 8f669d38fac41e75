import type { ChildProcess } from 'node:child_process';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createHttpClient } from '@gateway/service-kit';
import { until } from '@gateway/testing';
import { freePort } from './free-port';

const root = join(__dirname, '..', '..');
const START_TIMEOUT_MS = 60_000;

/** A service as in production: the built code, in a process of its own. */
export interface ServiceProcess {
  readonly pid: number;
  /** Base URL of `/health` and `/metrics`. */
  readonly opsUrl: string;
  /** What it has written so far, to standard output and standard error. */
  output(): string;
  isRunning(): boolean;
  /** Resolves with the exit code, or the signal's name, when the process has ended. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | string>;
}

/**
 * The environment of a process: the profile, and from this one where programs are, and where Node keeps the code that it
 * has compiled, which production does not take.
 */
export function environmentWith(env: Record<string, string>): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE: cache } = process.env;
  const mayCache = cache !== undefined && env['NODE_ENV'] !== 'production';
  return { NODE_ENV: 'test', PATH, ...(mayCache ? { NODE_COMPILE_CACHE: cache } : {}), ...env };
}

/** Updates the build; takes a second if nothing has changed. */
export async function build(): Promise<void> {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  await promisify(execFile)(process.execPath, [tsc, '-b', 'tsconfig.build.json'], { cwd: root });
}

/**
 * Resolves when the service is ready. Its log is shown only if it fails to start.
 *
 * @param preloads scripts that run before the service
 */
export async function startProcess(
  service: string,
  env: Record<string, string>,
  preloads: readonly string[] = [],
): Promise<ServiceProcess> {
  const opsPort = await freePort();
  const required = preloads.flatMap((file) => ['--require', file]);
  const child = spawn(process.execPath, [...required, join(root, 'services', service, 'dist', 'main.js')], {
    env: environmentWith({ ...env, OPS_PORT: String(opsPort) }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // Not `exit`: its last output may come later.
  const closed = once(child, 'close');
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => output.push(chunk.toString()));
  const scheme = env['INTERNAL_TLS_CERT_FILE'] ? 'https' : 'http';
  const opsUrl = `${scheme}://127.0.0.1:${opsPort}`;
  const ops = createHttpClient({ baseUrl: opsUrl, timeoutMs: 2_000, caFile: env['INTERNAL_TLS_CA_FILE'] });
  const isReady = async (): Promise<boolean> => {
    if (hasEnded(child)) {
      await closed;
      throw new Error(`${service} has ended: ${output.slice(-5).join('')}`);
    }
    return ops.get('/health/ready').then(
      ({ status }) => status === 200,
      () => false,
    );
  };
  try {
    await until(`${service} to be ready`, isReady, START_TIMEOUT_MS);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return {
    pid: child.pid ?? 0,
    opsUrl,
    output: () => output.join(''),
    isRunning: () => !hasEnded(child),
    async end(signal) {
      if (!hasEnded(child)) child.kill(signal);
      await closed;
      return child.exitCode ?? child.signalCode ?? 'running';
    },
  };
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

interface Ended {
  code: number;
  /** All that it has written. */
  output: string;
}

/** Runs a service that must not start. */
export function runToEnd(service: string, env: Record<string, string>): Promise<Ended> {
  return runScript(join('services', service, 'dist', 'main.js'), env);
}

/** Runs a built script to its end. `path` is relative to the repository. */
export async function runScript(
  path: string,
  env: Record<string, string>,
  args: readonly string[] = [],
): Promise<Ended> {
  const child = spawn(process.execPath, [join(root, path), ...args], {
    env: environmentWith(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: START_TIMEOUT_MS,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code: code ?? -1, output };
}
