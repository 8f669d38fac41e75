import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Failure } from '../failure.mjs';

/** Lines as of `sha256sum`: the sum, two spaces, `<download>/<file>`. */
const RECORD = 'downloads.sha256';
const recordFile = new URL(RECORD, import.meta.url);

/**
 * The recorded sums of a download.
 * @param {string} name with the version in it
 * @returns {Map<string, string>} SHA-256 in hex by file; empty if none is recorded
 */
export function recordedSums(name) {
  const lines = readFileSync(recordFile, 'utf8').split('\n').filter(Boolean);
  const records = lines.map((line) => /** @type {[string, string]} */ (line.split('  ')));
  const own = records.filter(([, file]) => file.startsWith(`${name}/`));
  return new Map(own.map(([sum, file]) => [file.slice(name.length + 1), sum]));
}

/**
 * Throws a Failure unless a folder holds exactly the recorded files, each with its recorded sum. What a server loads
 * comes from package indexes that we do not control, and Maven resolves what our pom does not name.
 * @param {string} name with the version in it
 * @param {string} folder
 */
export async function requireRecordedSums(name, folder) {
  const recorded = recordedSums(name);
  const present = readdirSync(folder);
  const missing = [...recorded.keys()].filter((file) => !present.includes(file));
  const unknown = present.filter((file) => !recorded.has(file));
  const sums = await Promise.all([...recorded.keys()].filter((file) => present.includes(file)).map(sumIn(folder)));
  const differing = sums.filter(({ file, sum }) => recorded.get(file) !== sum).map(({ file }) => file);
  const problems = [
    ...differing.map((file) => `${file} has another SHA-256`),
    ...missing.map((file) => `${file} is missing`),
    ...unknown.map((file) => `${file} is not recorded`),
  ];
  if (problems.length === 0) return;
  throw new Failure(
    `${folder} is not the ${name} that scripts/install/${RECORD} records: ${problems.join('; ')}. Nothing of it was ` +
      'started. Remove the folder to download it again; after a change of version, record the new sums (CONTRIBUTING.md).',
  );
}

/** @param {string} folder */
function sumIn(folder) {
  return async (/** @type {string} */ file) => ({ file, sum: await sha256Of(join(folder, file)) });
}

/**
 * @param {string} path
 * @returns {Promise<string>} in hex
 */
export async function sha256Of(path) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
