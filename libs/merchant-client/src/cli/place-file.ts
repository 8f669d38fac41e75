import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { UsageError } from './command';

/** Where a listener is. */
export interface Place {
  cursor: string;
  /** Unix seconds: what arose earlier is done. */
  at: number;
}

/** Keeps the place of a listener, so that the next one continues there, however this one ends. */
export interface PlaceFile {
  readonly path: string;
  /** Undefined if none was kept. @throws UsageError if the file is something else */
  read(): Place | undefined;
  /** @throws UsageError if it cannot be written */
  keep(place: Place): void;
}

const FOLDER_MODE = 0o700;
const NAME_LENGTH = 12;

export function openPlaceFile(path: string): PlaceFile {
  return {
    path,
    read() {
      let text: string;
      try {
        text = readFileSync(path, 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw new UsageError(`The place file cannot be read: ${(error as Error).message}.`);
      }
      const place = placeIn(text);
      if (place === undefined) throw new UsageError(`${path} is no place file. Remove it, or name another one.`);
      return place;
    },
    keep(place) {
      try {
        replace(path, `${JSON.stringify(place)}\n`);
      } catch (error) {
        throw new UsageError(`The place cannot be kept: ${(error as Error).message}.`);
      }
    },
  };
}

/** Renames, so that whoever is killed here leaves the old file or the new one. */
function replace(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE });
  const next = `${path}.${process.pid}`;
  writeFileSync(next, text);
  renameSync(next, path);
}

function placeIn(text: string): Place | undefined {
  try {
    const { cursor, at } = JSON.parse(text) as Partial<Place>;
    return typeof cursor === 'string' && typeof at === 'number' ? { cursor, at } : undefined;
  } catch {
    return undefined;
  }
}

/** One for each gateway, account and address: listeners that do different things have different places. */
export function defaultPlacePath(env: NodeJS.ProcessEnv, ...names: readonly string[]): string {
  const state = env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state');
  const name = createHash('sha256').update(names.join('\n')).digest('hex').slice(0, NAME_LENGTH);
  return join(state, 'gateway', `listen-${name}.json`);
}
