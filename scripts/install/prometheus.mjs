import { execFile } from 'node:child_process';
import { globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Failure } from '../failure.mjs';
import { cached } from './download-cache.mjs';
import { findOnPath, isExecutable } from './programs.mjs';

const DOWNLOAD_TIMEOUT_MS = 300_000;
const PROGRAMS = /** @type {const} */ (['prometheus', 'promtool']);
const ALERTMANAGER = /** @type {const} */ (['prometheus-alertmanager', 'amtool']);

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
  const folder = await cached('prometheus-debian', unpack('prometheus'), requirePrograms(PROGRAMS));
  return { prometheus: fileOf(folder, 'prometheus'), promtool: fileOf(folder, 'promtool') };
}

/**
 * Alertmanager for tests, in the same way. Debian puts its name before it.
 * @returns {Promise<{ alertmanager: string, amtool: string }>} their files
 */
export async function installAlertmanager() {
  if (findOnPath(['apt-get']) === undefined) {
    throw new Failure('The test of the example for Alertmanager needs apt-get, which has it.');
  }
  const folder = await cached('alertmanager-debian', unpack('prometheus-alertmanager'), requirePrograms(ALERTMANAGER));
  const [alertmanager, amtool] = ALERTMANAGER;
  return { alertmanager: fileOf(folder, alertmanager), amtool: fileOf(folder, amtool) };
}

/**
 * @param {string} folder
 * @param {string} name
 */
const fileOf = (folder, name) => join(folder, 'usr', 'bin', name);

/** @param {string} name of a package of Debian */
const unpack = (name) => async (/** @type {string} */ folder) => {
  const run = (/** @type {string} */ command, /** @type {string[]} */ args) =>
    promisify(execFile)(command, args, { cwd: folder, timeout: DOWNLOAD_TIMEOUT_MS });
  const download = () => run('apt-get', ['--quiet', 'download', name]);
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
};

/** @param {readonly string[]} programs */
const requirePrograms = (programs) => (/** @type {string} */ _name, /** @type {string} */ folder) => {
  const missing = programs.filter((program) => !isExecutable(fileOf(folder, program)));
  if (missing.length > 0)
    throw new Failure(`${folder} has no ${missing.join(' and no ')}: remove it to download it again.`);
};
