import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { OnEnd } from './run';

const root = join(__dirname, '..', '..');

/** How `npm start` and the images run Node for a service. */
export interface ServiceOptions {
  execArgv: string[];
  env: { MALLOC_ARENA_MAX: string };
}

/** Reads them from where `npm start` does, so that benches measure processes as they are deployed. */
export async function serviceOptions(): Promise<ServiceOptions> {
  const declared: unknown = await import(pathToFileURL(join(root, 'scripts', 'gateway', 'services.mjs')).href);
  const { NODE_OPTIONS, MALLOC_ARENA_MAX } = declared as { NODE_OPTIONS: string[]; MALLOC_ARENA_MAX: string };
  return { execArgv: NODE_OPTIONS, env: { MALLOC_ARENA_MAX } };
}

/** Starts a service by itself, with settings in addition to this process's environment. It ends with the bench. */
export async function startService(
  name: string,
  { logFile, settings }: { logFile: string; settings: Record<string, string> },
  onEnd: OnEnd,
): Promise<ChildProcess> {
  const { execArgv, env } = await serviceOptions();
  const log = openSync(logFile, 'a');
  const main = join(root, 'services', name, 'dist', 'main.js');
  const child = spawn(process.execPath, [...execArgv, main], {
    env: { NODE_ENV: 'development', ...env, ...process.env, ...settings },
    stdio: ['ignore', log, log],
  });
  onEnd(() => terminate(child));
  return child;
}

/** Ends a process, unless it has ended, and waits for its end. */
export async function terminate(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
