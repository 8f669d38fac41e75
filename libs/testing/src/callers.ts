import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallerKind } from '@gateway/service-kit';
import { CALLER_KINDS } from '@gateway/service-kit';

/** An entry of a CALLERS_FILE, with the token itself. */
export interface TestCaller {
  name: string;
  kind: CallerKind;
  token: string;
}

/** A CALLERS_FILE that a test may replace. */
export interface TestCallers {
  readonly file: string;
  /** The token of the first caller of a kind. */
  token(kind: CallerKind): string;
  write(callers: readonly TestCaller[]): void;
  /** Replaces the file by a text that may be no list. */
  writeText(text: string): void;
  remove(): void;
}

export function newCaller(name: string, kind: CallerKind): TestCaller {
  return { name, kind, token: randomBytes(24).toString('base64url') };
}

/** A CALLERS_FILE in a directory of its own, by default with one caller of each kind, named like it. */
export function createCallers(callers = CALLER_KINDS.map((kind) => newCaller(kind, kind))): TestCallers {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-callers-'));
  const file = join(directory, 'callers.json');
  const writeText = (text: string): void => {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  const write = (list: readonly TestCaller[]): void =>
    writeText(
      JSON.stringify(
        list.map(({ name, kind, token }) => ({
          name,
          kind,
          tokenSha256: createHash('sha256').update(token).digest('hex'),
        })),
      ),
    );
  write(callers);
  return {
    file,
    token: (kind) => callers.find((caller) => caller.kind === kind)?.token ?? 'nobody',
    write,
    writeText,
    remove: () => rmSync(directory, { recursive: true }),
  };
}
