import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { blocksOf, readDocument } from '../documents/blocks';

/** In the first line of a block that is a file: its name. */
const FILE_NAME = /^(?:<\?php )?(?:\/\/|#) (\S+)\n/;
export const SECTION_TIMEOUT_MS = 400_000;
const OUTPUT_BYTES_MAX = 16 * 1_048_576;
/** Each program runs once: to optimize it, or to compile packages of which it loads a part, takes longer than it saves. */
const ONCE = { JAVA_TOOL_OPTIONS: '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC', PIP_NO_COMPILE: '1' };

/** A document of which each section has files and commands, used as its reader would: all in one folder. */
export interface Page {
  readonly folder: string;
  readonly titles: readonly string[];
  /** Writes the files of a section, and returns its commands, a text for each block. */
  write(title: string): string[];
  /** Runs commands in the folder. Returns what they print, and throws with it if one fails. */
  run(commands: string, env?: NodeJS.ProcessEnv): Promise<string[]>;
  close(): void;
}

export function openPage(document: string): Page {
  const sections = new Map(
    readDocument(document)
      .split(/^## /m)
      .slice(1)
      .map((section) => [section.slice(0, section.indexOf('\n')), section] as const),
  );
  const folder = mkdtempSync(join(tmpdir(), 'gateway-clients-'));
  return {
    folder,
    titles: [...sections.keys()],
    write(title) {
      const blocks = blocksOf(document, sections.get(title) ?? '');
      for (const { language, text } of blocks) {
        if (language === 'sh') continue;
        const [, name = ''] = FILE_NAME.exec(text) ?? [];
        writeFileSync(join(folder, name), text);
      }
      return blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
    },
    async run(commands, env = {}) {
      const options = {
        cwd: folder,
        env: { ...process.env, ...ONCE, ...env },
        timeout: SECTION_TIMEOUT_MS,
        maxBuffer: OUTPUT_BYTES_MAX,
      };
      try {
        const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands], options);
        // Maven resets the colours of a terminal even where there is none.
        return stripVTControlCharacters(stdout).trim().split('\n');
      } catch (error) {
        const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
        throw new Error(`${commands}\n${stdout.slice(-4_000)}\n${stderr.slice(-4_000)}`, { cause: error });
      }
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
