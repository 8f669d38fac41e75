import { fileURLToPath } from 'node:url';
import { cached } from './download-cache.mjs';

const DOWNLOAD_TIMEOUT_MS = 300_000;

/** pip unpacks what it has checked, and writes byte code beside it: afterwards there are no sums to compare. */
const checkedByPip = () => undefined;

/**
 * Installs what a file of requirements lists, each with its hash, in a folder of its own.
 * @param {string} name with the version in it
 * @param {string} requirements name of the file beside this one
 * @param {{ processes: import('../processes/child-processes.mjs').ChildProcesses, progress: import('../progress.mjs').Progress }} context
 * @returns {Promise<string>} the folder, for PYTHONPATH
 */
export function installPackages(name, requirements, { processes, progress }) {
  const file = fileURLToPath(new URL(requirements, import.meta.url));
  const download = (/** @type {string} */ folder) =>
    progress.during(`${name}: download with pip`, () =>
      processes.run(`${name}-download`, {
        command: 'python3',
        args: ['-m', 'pip', 'install', '--quiet', '--target', folder, '--require-hashes', '--requirement', file],
        timeoutMs: DOWNLOAD_TIMEOUT_MS,
      }),
    );
  return cached(name, download, checkedByPip);
}
