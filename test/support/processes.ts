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
  /** Resolves with the exit code, or the signal's name, when the process has ended. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | string>;
}

/** Updates the build; takes a second if nothing has changed. */
export async function build(): Promise<void> {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  await promisify(execFile)(process.execPath, [tsc, '-b', 'tsconfig.build.json'], { cwd: root });
}

/** Resolves when the service is ready. Its log is shown only if it fails to start. */
export async function startProcess(service: string, env: Record<string, string>): Promise<ServiceProcess> {
  const opsPort = await freePort();
  const child = spawn(process.execPath, [join(root, 'services', service, 'dist', 'main.js')], {
    env: { PATH: process.env['PATH'] ?? '', ...env, OPS_PORT: String(opsPort) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => output.push(chunk.toString()));
  const ops = createHttpClient({ baseUrl: `http://127.0.0.1:${opsPort}`, timeoutMs: 2_000 });
  const isReady = async (): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`${service} has ended: ${output.slice(-5).join('')}`);
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
  return { pid: child.pid ?? 0, end: (signal) => end(child, signal) };
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<number | string> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }
  return child.exitCode ?? child.signalCode ?? 'running';
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
export async function runScript(path: string, env: Record<string, string>): Promise<Ended> {
  const child = spawn(process.execPath, [join(root, path)], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: START_TIMEOUT_MS,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code: code ?? -1, output };
}
