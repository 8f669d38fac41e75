import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { blocksOf } from '../documents/blocks';
import type { System } from '../support/system';
import { startSystem } from '../support/system';

/** Every block of docs/clients.md, as a merchant would run it: in one folder, against a running gateway. */

const docs = join(__dirname, '..', '..', 'docs');
const DOCUMENT = 'openapi-clients.yaml';
const FILE_NAME = /^(?:\/\/|#) (\S+)\n/;
const SECTION_TIMEOUT_MS = 400_000;
const OUTPUT_BYTES_MAX = 16 * 1_048_576;
/** Each program runs once: to optimize it, or to compile packages of which it loads a part, takes longer than it saves. */
const ONCE = { JAVA_TOOL_OPTIONS: '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC', PIP_NO_COMPILE: '1' };

/** What the programs of the page print. */
const OUTCOMES = [
  'SALE success 0',
  'CHECK SUCCESS 0',
  'AUTH success 0',
  'SETTLE success 0',
  'payout pending 0',
  'checkout success 0',
];

const sections = new Map(
  readFileSync(join(docs, 'clients.md'), 'utf8')
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section] as const),
);

let folder: string;
let system: System;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-clients-'));
  copyFileSync(join(docs, DOCUMENT), join(folder, DOCUMENT));
  system = await startSystem('clients', { withPayouts: true });
  await run('The generator');
}, SECTION_TIMEOUT_MS);
afterAll(async () => {
  await system.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Writes the files of a section, then runs its commands. */
async function run(title: string): Promise<string[]> {
  const blocks = blocksOf('docs/clients.md', sections.get(title) ?? '');
  for (const { language, text } of blocks) {
    if (language === 'sh') continue;
    const [, name = ''] = FILE_NAME.exec(text) ?? [];
    writeFileSync(join(folder, name), text);
  }
  const commands = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
  expect(commands).toHaveLength(1);
  const env = { ...process.env, ...ONCE, GATEWAY: system.http.defaults.baseURL };
  const options = { cwd: folder, env, timeout: SECTION_TIMEOUT_MS, maxBuffer: OUTPUT_BYTES_MAX };
  try {
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands.join('\n')], options);
    // Maven resets the colours of a terminal even where there is none.
    return stripVTControlCharacters(stdout).trim().split('\n');
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${title}:\n${stdout.slice(-4_000)}\n${stderr.slice(-4_000)}`, { cause: error });
  }
}

test.each(['Java', 'Python', 'Go', 'TypeScript'])(
  'a client in %s sends requests and reads the answers into its types',
  async (title) => {
    const printed = await run(title);
    expect(printed.slice(-OUTCOMES.length)).toEqual(OUTCOMES);
  },
  SECTION_TIMEOUT_MS,
);

test.each(['PHP', 'Types alone, in TypeScript', 'Python, by openapi-python-client'])(
  'what is generated for %s compiles',
  async (title) => {
    await expect(run(title)).resolves.toBeDefined();
  },
  SECTION_TIMEOUT_MS,
);
