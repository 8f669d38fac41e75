import { spawn } from 'node:child_process';
import { exitCodeOf, StopRequested } from '../failure.mjs';

/**
 * Runs a program at this terminal until it ends. Signals that ask this process to end go to it.
 * @param {{ command: string, args: string[], env: NodeJS.ProcessEnv }} program
 * @returns {Promise<number>} the exit code
 */
export function runInForeground({ command, args, env }) {
  const child = spawn(command, args, { stdio: 'inherit', env });
  for (const signal of StopRequested.signals) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? exitCodeOf(signal ?? 'SIGTERM')));
  });
}
