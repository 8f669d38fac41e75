import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Failure } from '../failure.mjs';
import { identify, isRunning } from './identity.mjs';

/**
 * Makes this process the only one that runs the system of this checkout, until it releases the lock or ends in any way:
 * a lock whose holder is gone does not count.
 * @param {string} lockFile
 * @returns {() => void} releases the lock
 */
export function becomeOnlyInstance(lockFile) {
  mkdirSync(dirname(lockFile), { recursive: true });
  const candidate = `${lockFile}.${process.pid}`;
  writeFileSync(candidate, JSON.stringify(identify('npm start', process.pid)));
  try {
    if (!claim(candidate, lockFile)) {
      refuseWhenHeld(lockFile);
      rmSync(lockFile, { force: true });
      if (!claim(candidate, lockFile)) refuseWhenHeld(lockFile);
    }
  } finally {
    rmSync(candidate);
  }
  return () => rmSync(lockFile, { force: true });
}

/**
 * A hard link appears at once and with its content, so no process ever reads half a lock.
 * @param {string} candidate
 * @param {string} lockFile
 * @returns {boolean} whether the lock is ours
 */
function claim(candidate, lockFile) {
  try {
    linkSync(candidate, lockFile);
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false;
    throw error;
  }
}

/** @param {string} lockFile */
function refuseWhenHeld(lockFile) {
  const holder = JSON.parse(readFileSync(lockFile, 'utf8'));
  if (!isRunning(holder)) return;
  throw new Failure(
    `The system of this checkout is running already: stop it first, with Ctrl-C where it was started or with kill ${holder.pid}.`,
  );
}
