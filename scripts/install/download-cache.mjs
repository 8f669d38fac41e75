import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { requireRecordedSums } from './recorded-sums.mjs';

const PARTIAL = '.partial-';
const ABANDONED_AFTER_MS = 3_600_000;

/** Downloads that every checkout on this machine shares. */
const cacheDirectory = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'payment-gateway');

/** @param {string} name */
export function isCached(name) {
  return existsSync(join(cacheDirectory, name));
}

/**
 * A folder of the cache, filled on first use. It appears under its name in one step when it is complete: a run that
 * is stopped leaves no half of it, and of two runs that fill it at the same time the first one wins. Each use checks
 * it, so that nothing unknown runs.
 * @param {string} name with the version in it
 * @param {(folder: string) => Promise<void>} fill
 * @param {(name: string, folder: string) => Promise<void> | void} check throws unless the folder holds what is
 *   recorded; default: in downloads.sha256
 * @returns {Promise<string>} the folder's path
 */
export async function cached(name, fill, check = requireRecordedSums) {
  const folder = join(cacheDirectory, name);
  if (isCached(name)) {
    await check(name, folder);
    return folder;
  }
  mkdirSync(cacheDirectory, { recursive: true });
  removeAbandoned();
  const partial = mkdtempSync(join(cacheDirectory, PARTIAL));
  try {
    await fill(partial);
    await check(name, partial);
    moveIntoPlace(partial, folder);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return folder;
}

/**
 * @param {string} partial
 * @param {string} folder
 */
function moveIntoPlace(partial, folder) {
  try {
    renameSync(partial, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
}

/** Leftovers of killed runs. */
function removeAbandoned() {
  for (const name of readdirSync(cacheDirectory).filter((name) => name.startsWith(PARTIAL))) {
    const path = join(cacheDirectory, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > ABANDONED_AFTER_MS) rmSync(path, { recursive: true, force: true });
  }
}
