import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const OWNER_ONLY = 0o600;

/**
 * Writes settings that only their owner may read. Concurrent readers get the old or the new ones.
 * @param {string} path
 * @param {Record<string, string> | object[]} settings
 */
export function writePrivateFile(path, settings) {
  writePrivateText(path, `${JSON.stringify(settings, null, 2)}\n`);
}

/**
 * The same for a text.
 * @param {string} path
 * @param {string} text
 */
export function writePrivateText(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text, { mode: OWNER_ONLY });
  renameSync(draft, path);
}

/**
 * @param {string} path
 * @returns {Record<string, string> | undefined} undefined when there is no such file
 */
export function readPrivateFile(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}
