import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { UsageError } from './command';

/** How far a listener is. */
export interface Position {
  cursor: string;
  /** Unix seconds: older callbacks are done. */
  at: number;
}

/** Saves the position of a listener, so that the next one continues there, however this one ends. */
export interface PositionFile {
  readonly path: string;
  /** Undefined if none was saved. @throws UsageError if the file holds something else */
  read(): Position | undefined;
  /** @throws UsageError if it cannot be written */
  save(position: Position): void;
}

const FOLDER_MODE = 0o700;
const NAME_LENGTH = 12;

export function openPositionFile(path: string): PositionFile {
  return {
    path,
    read() {
      let text: string;
      try {
        text = readFileSync(path, 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw new UsageError(`The position file cannot be read: ${(error as Error).message}.`);
      }
      const position = positionIn(text);
      if (position === undefined) throw new UsageError(`${path} is not a position file. Remove it, or name another.`);
      return position;
    },
    save(position) {
      try {
        replace(path, `${JSON.stringify(position)}\n`);
      } catch (error) {
        throw new UsageError(`The position cannot be saved: ${(error as Error).message}.`);
      }
    },
  };
}

/** Renames, so that a kill leaves the old file or the new one. */
function replace(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE });
  const next = `${path}.${process.pid}`;
  writeFileSync(next, text);
  renameSync(next, path);
}

function positionIn(text: string): Position | undefined {
  try {
    const { cursor, at } = JSON.parse(text) as Partial<Position>;
    return typeof cursor === 'string' && typeof at === 'number' ? { cursor, at } : undefined;
  } catch {
    return undefined;
  }
}

/** One for each gateway, account and address: different listeners have different positions. */
export function defaultPositionPath(env: NodeJS.ProcessEnv, ...names: readonly string[]): string {
  const state = env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state');
  const name = createHash('sha256').update(names.join('\n')).digest('hex').slice(0, NAME_LENGTH);
  return join(state, 'gateway', `listen-${name}.json`);
}
