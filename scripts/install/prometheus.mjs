import { execFile } from 'node:child_process';
import { globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Failure } from '../failure.mjs';
import { cached } from './download-cache.mjs';
import { findOnPath, isExecutable } from './programs.mjs';

const DOWNLOAD_TIMEOUT_MS = 300_000;
const PROGRAMS = /** @type {const} */ (['prometheus', 'promtool']);

/**
 * Prometheus for tests: the one on the path, else Debian's package, which apt checks. It is unpacked into the cache of
 * downloads and not installed, because its installation would start a service.
 * @returns {Promise<{ prometheus: string, promtool: string }>} their files
 */
export async function installPrometheus() {
  const [prometheus, promtool] = PROGRAMS.map((name) => findOnPath([name]));
  if (prometheus !== undefined && promtool !== undefined) return { prometheus, promtool };
  if (findOnPath(['apt-get']) === undefined) {
    throw new Failure('The tests of the alerts need prometheus and promtool on the path.');
  }
  const folder = await cached('prometheus-debian', unpackPackage, requirePrograms);
  return { prometheus: fileOf(folder, 'prometheus'), promtool: fileOf(folder, 'promtool') };
}

/**
 * @param {string} folder
 * @param {string} name
 */
const fileOf = (folder, name) => join(folder, 'usr', 'bin', name);

/** @param {string} folder */
async function unpackPackage(folder) {
  const run = (/** @type {string} */ command, /** @type {string[]} */ args) =>
    promisify(execFile)(command, args, { cwd: folder, timeout: DOWNLOAD_TIMEOUT_MS });
  const download = () => run('apt-get', ['--quiet', 'download', 'prometheus']);
  try {
    await download();
  } catch (error) {
    // A new machine has no lists of packages, and only root can get them.
    if (process.getuid?.() !== 0) throw error;
    await run('apt-get', ['--quiet', 'update']);
    await download();
  }
  const [archive = ''] = globSync('*.deb', { cwd: folder });
  await run('dpkg-deb', ['--extract', archive, '.']);
  rmSync(join(folder, archive));
}

/**
 * @param {string} _name
 * @param {string} folder
 */
function requirePrograms(_name, folder) {
  const missing = PROGRAMS.filter((program) => !isExecutable(fileOf(folder, program)));
  if (missing.length > 0)
    throw new Failure(`${folder} has no ${missing.join(' and no ')}: remove it to download it again.`);
}
