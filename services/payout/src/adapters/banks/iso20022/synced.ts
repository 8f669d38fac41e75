import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';

/** Makes a rename or link in this directory survive a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Writes a new file, and makes it survive a power cut. Throws if there is one of that name. */
export async function writeSynced(
  path: string,
  mode: number,
  write: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    await write(file);
    await file.sync();
  } finally {
    await file.close();
  }
}
