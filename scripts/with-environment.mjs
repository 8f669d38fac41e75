/**
 * `node scripts/with-environment.mjs FILE [ARGS]`: runs a compiled command line (FILE is relative to the repository)
 * with the environment of the system that `npm start` runs and the secrets that it needs; a variable that is set wins.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { projectNode, root } from './checkout.mjs';
import { exitCodeOf, explain, Failure, StopRequested } from './failure.mjs';
import { storedSecrets, withOwnSecrets } from './gateway/secrets.mjs';
import { systemEnvironment } from './gateway/system-environment.mjs';

/** @param {string} file */
function compiled(file) {
  const path = join(root, file);
  if (!existsSync(projectNode) || !existsSync(path)) {
    throw new Failure(`${file} is not built here yet: run npm start, or npm ci and npm run build.`);
  }
  return path;
}

/**
 * @param {string | undefined} file
 * @param {string[]} args
 * @returns {Promise<number>} the exit code
 */
function run(file, args) {
  if (file === undefined) throw new Failure('Usage: node scripts/with-environment.mjs FILE [ARGS].');
  const path = compiled(file);
  const child = spawn(projectNode, [path, ...args], {
    stdio: 'inherit',
    env: withOwnSecrets(file, systemEnvironment(), storedSecrets()),
  });
  for (const signal of StopRequested.signals) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? exitCodeOf(signal ?? 'SIGTERM')));
  });
}

try {
  const [file, ...args] = process.argv.slice(2);
  process.exitCode = await run(file, args);
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
