import type { Stats } from 'node:fs';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, open, readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';

/** A report on 10,000 payouts has about 2.5 MB; with the original transactions repeated, up to four times that. */
export const MAX_REPORT_BYTES = 10 * 1024 * 1024;
/** A file may still be growing for this long after a change. Agents should write elsewhere and rename anyway. */
export const QUIET_MS = 2_000;
/** Further ahead than clocks of two machines differ. */
const AHEAD_MS = 10_000;
/** What `readdir` puts in the place of bytes that are not UTF-8; no file has the name with it. */
const NOT_UTF_8 = '\ufffd';

/** What waits in the inbox, by name. */
export interface InboxFiles {
  /** Reports to read now, in the bank's order. */
  due: string[];
  /** Reports that are dated ahead. Their place in the bank's order is not known yet. */
  ahead: string[];
  /** Left alone: other endings, links, folders, pipes, names that are not UTF-8. */
  ignored: string[];
}

type Kind = keyof InboxFiles | 'growing';

/** Names with a leading dot, and those of `ours`, are left out. */
export async function listInbox(directory: string, now: number, ours: readonly string[]): Promise<InboxFiles> {
  const names = (await readdir(directory)).filter((name) => !name.startsWith('.') && !ours.includes(name));
  const found = await Promise.all(names.map(async (name) => ({ name, stats: await statsOf(join(directory, name)) })));
  const files = found
    .map(({ name, stats }) => ({ name, at: stats?.mtimeMs ?? 0, kind: kindOf(name, stats, now) }))
    .sort((a, b) => a.at - b.at || naturally(a.name, b.name));
  const named = (wanted: Kind) => files.filter(({ kind }) => kind === wanted).map(({ name }) => name);
  return { due: named('due'), ahead: named('ahead'), ignored: named('ignored') };
}

/** `growing`: not to be looked at yet, or gone because another replica has set it aside. */
function kindOf(name: string, stats: Stats | undefined, now: number): Kind {
  if (stats === undefined) return name.includes(NOT_UTF_8) ? 'ignored' : 'growing';
  if (!stats.isFile()) return 'ignored';
  const isReport = extname(name).toLowerCase() === '.xml';
  if (stats.mtimeMs > now + AHEAD_MS) return isReport ? 'ahead' : 'ignored';
  if (stats.mtimeMs > now - QUIET_MS) return 'growing';
  return isReport ? 'due' : 'ignored';
}

const byNumbers = new Intl.Collator('en', { numeric: true });

/** `R-9` before `R-10`, the same in every locale. */
function naturally(a: string, b: string): number {
  return byNumbers.compare(a, b) || (a < b ? -1 : 1);
}

/** Undefined if the file is gone. */
async function statsOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export type ReadFile =
  | { kind: 'read'; stats: Stats; bytes: Buffer }
  | { kind: 'too-large'; stats: Stats }
  /** Gone, no file any more, or changed while it was read. */
  | { kind: 'changed' };

/** Follows no link, and waits for no writer at the other end of a pipe. */
const ONLY_A_FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Gone; a link; a socket. */
const NO_FILE = new Set(['ENOENT', 'ELOOP', 'EMLINK', 'ENXIO']);

/**
 * Opens a file once, and judges and reads what was opened: a moment later its name may mean another one. Throws if it
 * cannot be read.
 */
export async function readOnce(path: string): Promise<ReadFile> {
  let file: FileHandle;
  try {
    file = await open(path, ONLY_A_FILE);
  } catch (error) {
    if (NO_FILE.has((error as NodeJS.ErrnoException).code ?? '')) return { kind: 'changed' };
    throw error;
  }
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return { kind: 'changed' };
    if (stats.size > MAX_REPORT_BYTES) return { kind: 'too-large', stats };
    const bytes = await contentOf(file, stats.size);
    return isSame(stats, await file.stat()) ? { kind: 'read', stats, bytes } : { kind: 'changed' };
  } finally {
    await file.close();
  }
}

async function contentOf(file: FileHandle, size: number): Promise<Buffer> {
  const bytes = Buffer.alloc(size);
  let filled = 0;
  while (filled < size) {
    const { bytesRead } = await file.read(bytes, filled, size - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

/** True if both are of one file that has not changed in between. */
export function isSame(a: Stats, b: Stats): boolean {
  return a.ino === b.ino && a.dev === b.dev && a.size === b.size && a.mtimeMs === b.mtimeMs;
}
