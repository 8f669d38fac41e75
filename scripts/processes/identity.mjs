import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * A process as recorded on disk. The system reuses process ids, so the start time is part of the identity.
 * @typedef {{ name: string, pid: number, born: string }} ProcessIdentity
 */

const POLL_INTERVAL_MS = 50;

/**
 * @param {string} name
 * @param {number} pid a living process
 * @returns {ProcessIdentity}
 */
export function identify(name, pid) {
  return { name, pid, born: birthOf(pid) ?? 'unknown' };
}

/** @param {ProcessIdentity} identity */
export function isRunning({ pid, born }) {
  return birthOf(pid) === born;
}

/**
 * Waits until the process has ended, at most `timeoutMs`.
 * @param {ProcessIdentity} identity
 * @param {number} timeoutMs
 * @returns {Promise<boolean>} whether it has ended
 */
export async function ended(identity, timeoutMs) {
  const deadline = Date.now() + timeoutMs;
  while (isRunning(identity)) {
    if (Date.now() > deadline) return false;
    await delay(POLL_INTERVAL_MS);
  }
  return true;
}

/**
 * Signals a process that was started as the leader of a group, and its group; one that is gone is no error.
 * @param {number} pid
 * @param {NodeJS.Signals} signal
 */
export function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error;
  }
}

/**
 * @param {number} pid
 * @returns {string | undefined} the same for the whole life of a process; undefined when there is none
 */
function birthOf(pid) {
  return process.platform === 'linux' ? birthFromProc(pid) : birthFromPs(pid);
}

/** @param {number} pid */
function birthFromProc(pid) {
  let stat;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // proc(5): the command's name, in parentheses, may hold anything; field 3 (state) follows, field 22 is the start time.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  return state === 'Z' || state === 'X' ? undefined : fields[19];
}

/** @param {number} pid */
function birthFromPs(pid) {
  const { status, stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
  return status === 0 && stdout.trim() !== '' ? stdout.trim() : undefined;
}
