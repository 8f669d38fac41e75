import { execFile } from 'node:child_process';
import { globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Failure } from '../failure.mjs';
import { cached } from './download-cache.mjs';
import { findOnPath, isExecutable } from './programs.mjs';

const DOWNLOAD_TIMEOUT_MS = 300_000;

/**
 * Programs of one of Debian's packages, which apt checks. It is unpacked into the cache of downloads and not installed,
 * because its installation would start a service.
 * @param {string} name of the package
 * @param {readonly string[]} programs in its folder usr/bin
 * @returns {Promise<string[]>} their files, in the same order
 */
export async function unpackPrograms(name, programs) {
  if (findOnPath(['apt-get']) === undefined) throw new Failure(`This test needs apt-get, which has ${name}.`);
  const fileOf = (/** @type {string} */ folder, /** @type {string} */ program) => join(folder, 'usr', 'bin', program);
  const folder = await cached(`${name}-debian`, unpack(name), (_name, at) => {
    const missing = programs.filter((program) => !isExecutable(fileOf(at, program)));
    if (missing.length > 0)
      throw new Failure(`${at} has no ${missing.join(' and no ')}: remove it to download it again.`);
  });
  return programs.map((program) => fileOf(folder, program));
}

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
