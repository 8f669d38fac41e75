import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { CallerKind } from '@gateway/service-kit';
import { CALLER_KINDS } from '@gateway/service-kit';
import type { TestCallers } from '@gateway/testing';
import { createCallers } from '@gateway/testing';
import { freePort } from '../support/free-port';
import type { GatewayProcesses } from '../support/gateway-processes';
import { startGateway } from '../support/gateway-processes';
import type { Block } from './blocks';
import { blocksOf, documents, NOT_RUN, notRunBecause, orphansOf, placeOf, readDocument, root, stepsOf } from './blocks';
import type { Stands } from './runner';
import { runDocument, syntaxErrors, typeErrors } from './runner';

/** Languages that a block may have. What a newcomer can copy is `sh` or `ts`; test/analytics runs `sql`, test/clients other programs. */
const LANGUAGES = [
  'sh',
  'ts',
  'js',
  'json',
  'yaml',
  'http',
  'html',
  'text',
  'mermaid',
  'sql',
  'java',
  'python',
  'go',
  'php',
  'ruby',
];
const DOCUMENT_TIMEOUT_MS = 120_000;

const byDocument = documents()
  .map((path) => ({ path, blocks: blocksOf(path, readDocument(path)) }))
  .filter(({ blocks }) => blocks.length > 0);
const blocks = byDocument.flatMap((document) => document.blocks);
const shell = blocks.filter(({ language }) => language === 'sh');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

const isCaller = (service: string): service is CallerKind => (CALLER_KINDS as readonly string[]).includes(service);
const places = (found: readonly Block[]): string[] => found.map(placeOf);

describe('every block', () => {
  test('names its language', () => {
    expect(places(blocks.filter(({ language }) => !LANGUAGES.includes(language)))).toEqual([]);
  });

  test('that is not run says why, by a reason of the list', () => {
    const reasons = blocks.flatMap((block) => notRunBecause(block) ?? []);
    expect(reasons.filter((reason) => !Object.keys(NOT_RUN).includes(reason))).toEqual([]);
    expect(Object.keys(NOT_RUN).filter((reason) => !reasons.includes(reason))).toEqual([]);
  });

  test('of output follows one that is run', () => {
    expect(places(byDocument.flatMap((document) => orphansOf(document.blocks)))).toEqual([]);
  });

  test('of JSON can be read', () => {
    const unreadable = blocks.filter(({ language, marks, text }) => {
      if (language !== 'json' || marks.includes('output')) return false;
      try {
        return JSON.parse(text) === undefined;
      } catch {
        return true;
      }
    });
    expect(places(unreadable)).toEqual([]);
  });
});

describe('every shell block', () => {
  test('has the syntax of bash', () => {
    expect(
      shell
        .flatMap((block) => syntaxErrors(block.text) && `${placeOf(block)}: ${syntaxErrors(block.text)}`)
        .filter(Boolean),
    ).toEqual([]);
  });

  test('uses scripts that exist', () => {
    const unknown = shell.flatMap((block) =>
      Array.from(block.text.matchAll(/\bnpm run (?:--silent )?([\w:-]+)/g), ([, name = '']) => name)
        .filter((name) => scripts[name] === undefined)
        .map((name) => `${placeOf(block)}: npm run ${name}`),
    );
    expect(unknown).toEqual([]);
  });
});

test('no command has npx fetch a package: with --no it runs what is installed', () => {
  const fetching = documents().flatMap((path) =>
    Array.from(readDocument(path).matchAll(/(?:^|[`|&;(] *)npx (?!--no\b).*$/gm), ([found]) => `${path}: ${found}`),
  );
  expect(fetching).toEqual([]);
});

test('every TypeScript block fits the types of what it uses', () => {
  const isChecked = (block: Block) => block.language === 'ts' && notRunBecause(block) !== 'clients';
  expect(typeErrors(blocks.filter(isChecked))).toEqual([]);
});

describe('on a running gateway', () => {
  let gateway: GatewayProcesses;
  let callers: TestCallers;
  let directory: string;
  let env: NodeJS.ProcessEnv;
  let stands: Stands;

  beforeAll(async () => {
    callers = createCallers();
    directory = mkdtempSync(join(tmpdir(), 'gateway-documents-'));
    const bank = join(directory, 'bank');
    mkdirSync(bank);
    const debtors = join(bank, 'debtors.json');
    writeFileSync(
      debtors,
      JSON.stringify([{ name: 'Gateway Ltd', iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' }]),
    );
    gateway = await startGateway('documents', {
      settings: {
        PAYOUT_BANK: 'iso20022',
        ISO20022_OUTBOX_DIR: join(bank, 'outbox'),
        ISO20022_INBOX_DIR: join(bank, 'inbox'),
        ISO20022_DEBTORS: debtors,
        ISO20022_INITIATING_PARTY: 'Gateway Ltd',
        ISO20022_POLL_MS: '200',
        CALLERS_FILE: callers.file,
      },
      settingsOf: (service) => (isCaller(service) ? { IDENTITY_TOKEN: callers.token(service) } : {}),
    });
    const base = `127.0.0.1:${gateway.env['PORT'] ?? ''}`;
    env = {
      ...process.env,
      ...gateway.env,
      IDENTITY_TOKEN: callers.token('operator'),
      PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
      GATEWAY_URL: `http://${base}`,
      XDG_STATE_HOME: directory,
      ANALYTICS_DIR: join(directory, 'analytics'),
    };
    const receiver = await freePort();
    stands = [
      ['127.0.0.1:8080', base],
      ['127.0.0.1:8081', `127.0.0.1:${gateway.env['THREEDS_PORT'] ?? ''}`],
      ['127.0.0.1:8090', `127.0.0.1:${gateway.env['SIMULATOR_PORT'] ?? ''}`],
      ['localhost:4242', `localhost:${receiver}`],
      ['listen(4242)', `listen(${receiver})`],
      ['/tmp/bank', bank],
    ];
  }, 180_000);
  afterAll(async () => {
    await gateway.stop();
    rmSync(directory, { recursive: true });
    callers.remove();
  });

  const run = byDocument
    .map(({ path, blocks: own }) => ({ path, steps: stepsOf(own) }))
    .filter(({ steps }) => steps.length > 0);

  test.each(run)(
    'the blocks of $path run, and print what it shows',
    async ({ steps }) => {
      expect(await runDocument(steps, { env, stands })).toEqual([]);
    },
    DOCUMENT_TIMEOUT_MS,
  );

  test('commands with names to fill in exist, with their options', () => {
    const commands = shell
      .filter((block) => notRunBecause(block) === 'placeholders')
      .flatMap((block) => Array.from(block.text.matchAll(/\bnpm run ([\w:-]+) --((?: [^\s#|<>]+)+)/g)))
      .map(([, script = '', args = '']) => ({ script, args: args.trim().split(' ') }));
    expect(commands).not.toEqual([]);
    const helpOf = new Map(
      Array.from(new Set(commands.map(({ script }) => script)), (script) => [script, help(script)]),
    );
    const unknown = commands.flatMap(({ script, args: [command = '', ...rest] }) =>
      [command, ...rest.filter((word) => word.startsWith('--'))]
        .filter((word) => word !== 'help' && !helpOf.get(script)?.includes(word))
        .map((word) => `npm run ${script} -- ${command} … ${word}`),
    );
    expect(unknown).toEqual([]);
  });

  function help(script: string): string {
    const { stdout, stderr } = spawnSync('npm', ['run', '--silent', script, '--', 'help'], {
      cwd: root,
      env,
      encoding: 'utf8',
    });
    return stdout + stderr;
  }
});
