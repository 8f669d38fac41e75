import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { projectNode, root } from '../checkout.mjs';
import { requireRecordedNode } from './recorded-node.mjs';

const INSTALL_TIMEOUT_MS = 600_000;

const lockFile = join(root, 'package-lock.json');
/** npm's own record of installed packages; written last. */
const installedLockFile = join(root, 'node_modules', '.package-lock.json');
/** The installed package-lock.json; its time alone would not survive a checkout or a copy. */
const stampFile = join(root, 'node_modules', '.installed-package-lock.sha256');

/**
 * Installs the dependencies unless they match package-lock.json.
 * @param {{ processes: import('../processes/child-processes.mjs').ChildProcesses, progress: import('../progress.mjs').Progress }} context
 */
export async function installDependencies({ processes, progress }) {
  const wanted = createHash('sha256').update(readFileSync(lockFile)).digest('hex');
  if (isInstalled(wanted)) return;
  await progress.during('Dependencies: npm ci', () =>
    processes.run('npm-ci', {
      command: 'npm',
      // Also where NODE_ENV is production: Node itself is one of them.
      args: ['ci', '--include=dev', '--no-fund', '--no-audit'],
      env: withoutProjectNode(process.env),
      timeoutMs: INSTALL_TIMEOUT_MS,
    }),
  );
  const unchecked = await requireRecordedNode();
  if (unchecked !== undefined) progress.note(unchecked);
  writeFileSync(stampFile, wanted);
}

/** @param {string} wanted */
function isInstalled(wanted) {
  if (!existsSync(installedLockFile) || !existsSync(projectNode)) return false;
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted) return true;
  // Installed by hand, after the lock file was last changed.
  return statSync(installedLockFile).mtimeMs >= statSync(lockFile).mtimeMs;
}

/**
 * Under `npm start`, npm puts node_modules/.bin first on the path; `npm ci` must not run on the Node that it deletes.
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv}
 */
function withoutProjectNode(env) {
  const path = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== join(root, 'node_modules', '.bin'));
  return { ...env, PATH: path.join(delimiter) };
}
