/**
 * `node scripts/with-environment.mjs FILE [ARGS]`: runs a compiled command line (FILE is relative to the repository)
 * with the environment of the system that `npm start` runs and the secrets that it needs; a variable that is set wins.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { projectNode, root } from './checkout.mjs';
import { explain, Failure } from './failure.mjs';
import { storedSecrets, withOwnSecrets } from './gateway/secrets.mjs';
import { systemEnvironment } from './gateway/system-environment.mjs';
import { runInForeground } from './processes/foreground.mjs';

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
  const env = withOwnSecrets(file, systemEnvironment(), storedSecrets());
  return runInForeground({ command: projectNode, args: [path, ...args], env });
}

try {
  const [file, ...args] = process.argv.slice(2);
  process.exitCode = await run(file, args);
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
