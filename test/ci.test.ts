import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const CI = join(__dirname, '..', '.ci');
/** Each suite that runs reports this. */
const RESULTS = { numPassedTests: 3, numFailedTests: 0, numRuntimeErrorTestSuites: 0 };

let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'payment-gateway-ci-test-'))));
afterEach(() => rmSync(directory, { recursive: true }));

/** A program on the path of {@link runScript} that says that it was called, and does no more than `body`. */
function program(name: string, body = ''): void {
  const programs = join(directory, 'bin');
  mkdirSync(programs, { recursive: true });
  const file = join(programs, name);
  writeFileSync(file, `#!/usr/bin/env bash\necho "${name} $*" >>"${directory}/called"\n${body}\n`);
  chmodSync(file, 0o755);
}

interface Ended {
  exitCode: number;
  stdout: string;
  stderr: string;
  /** Commands of programs, in order. */
  called: string[];
}

async function runScript(file: string, ...args: string[]): Promise<Ended> {
  const log = join(directory, 'called');
  rmSync(log, { force: true });
  const env = { ...process.env, PATH: `${join(directory, 'bin')}:${process.env['PATH']}`, TMPDIR: directory };
  const ended = await new Promise<Omit<Ended, 'called'>>((resolve) => {
    execFile(file, args, { env }, (error, stdout, stderr) =>
      resolve({ exitCode: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
  return { ...ended, called: existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [] };
}

/** Runs .ci/run with programs that do nothing but say that they were called. `fails`: the command that ends with 1. */
async function run(fails = 'no command'): Promise<{ exitCode: number; last: string; called: string[] }> {
  for (const name of ['chromium', 'curl', 'openssl', 'javac', 'mvn', 'php', 'ruby', 'python3']) program(name);
  program('git', 'if [[ $* == *clone* ]]; then mkdir -p "${@: -1}"; fi');
  // The system's Node counts results; scripts are not in the clone that the false git makes.
  program(
    'node',
    `if [[ "node $*" == *"${fails}"* ]]; then exit 1; fi\nif [[ $1 == -p ]]; then exec "${process.execPath}" "$@"; fi`,
  );
  program(
    'npm',
    `if [[ "npm $*" == *"${fails}"* ]]; then exit 1; fi
     for word; do if [[ $word == --outputFile=* ]]; then echo '${JSON.stringify(RESULTS)}' >"\${word#*=}"; fi; done`,
  );
  const { exitCode, stdout, called } = await runScript(join(CI, 'run'));
  return { exitCode, last: stdout.trim().split('\n').at(-1) ?? '', called };
}

const SUITES = [
  'npm test',
  'npm run test:security',
  'npm run test:faults',
  'npm run test:upgrade',
  'npm run test:rotation',
  'npm run test:restore',
  'npm run test:bank',
  'npm run test:clients',
];
const suitesOf = (called: readonly string[]) =>
  SUITES.filter((suite) => called.some((one) => one.startsWith(`${suite} -- `)));

test('counts what all suites counted', async () => {
  const { exitCode, last, called } = await run();
  expect({ exitCode, last }).toEqual({ exitCode: 0, last: '24 passed, 0 failed' });
  expect(suitesOf(called)).toEqual(SUITES);
});

test('runs all suites although the supply chain has a problem, and fails', async () => {
  const { exitCode, last, called } = await run('npm run supply-chain');
  expect({ exitCode, last }).toEqual({ exitCode: 1, last: '24 passed, 1 failed' });
  expect(suitesOf(called)).toEqual(SUITES);
});

test("checks the project's Node on the system's, before it first runs", async () => {
  const CHECK = 'node scripts/check-node.mjs';
  const { called } = await run();
  const installed = called.indexOf('npm ci');
  expect(called[installed + 1]).toBe(CHECK);
  const { exitCode, called: untilCheck } = await run(CHECK);
  expect(exitCode).toBe(1);
  expect(untilCheck.at(-1)).toBe(CHECK);
});

describe('the workflows', () => {
  const folder = join(__dirname, '..', '.github', 'workflows');
  const files = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const);
  const found = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, value]) => value);

  test.each(files)('%s pins what it uses by commit or digest', (_name, text) => {
    const others = found(text, /^\s*(?:- )?uses: (.+)$/gm).filter((used) => !used?.startsWith('./'));
    expect(others.filter((used) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(used ?? ''))).toEqual([]);
    const images = found(text, /^\s*(?:container|image): (.+)$/gm);
    expect(images.filter((image) => !/@sha256:[0-9a-f]{64}$/.test(image ?? ''))).toEqual([]);
  });

  test.each(files)('%s checks out the tags, too', (_name, text) => {
    const checkouts = text.split(/^ *- /m).filter((step) => step.startsWith('uses: actions/checkout@'));
    expect(checkouts.length).toBeGreaterThan(0);
    expect(checkouts.filter((step) => !/^ *fetch-depth: 0$/m.test(step))).toEqual([]);
  });

  test('CI runs .ci/run and nothing else', () => {
    const [, ci = ''] = files.find(([name]) => name === 'ci.yml') ?? [];
    expect(found(ci, /^\s*- run: (.+)$/gm)).toEqual(['.ci/run']);
    expect(ci.match(/run:/g)).toHaveLength(1);
  });
});

test('ends at a failed step before the suites', async () => {
  const { exitCode, last, called } = await run('npm run lint');
  expect({ exitCode, last }).toEqual({ exitCode: 1, last: '0 passed, 1 failed' });
  expect(suitesOf(called)).toEqual([]);
});

describe('a release', () => {
  const checkout = (...path: string[]): string => join(directory, 'checkout', ...path);
  const author = ['user.name=Ann', 'user.email=ann@example.com', 'commit.gpgsign=false', 'tag.gpgsign=false'];
  const settings = author.flatMap((setting) => ['-c', setting]);
  const git = (...args: string[]) => execFileSync('git', ['-C', checkout(), ...settings, ...args]);
  const release = (tag: string, folder: string) => runScript(checkout('.ci', 'release'), tag, folder, '--pinned');

  /** Two releases of a small project. The later one is checked out. */
  beforeEach(() => {
    for (const folder of ['.ci', 'docs']) mkdirSync(checkout(folder), { recursive: true });
    copyFileSync(join(CI, 'release'), checkout('.ci', 'release'));
    writeFileSync(checkout('package.json'), '{ "version": "1.2.3" }');
    writeFileSync(checkout('.gitignore'), '/release/\n');
    for (const name of ['openapi.yaml', 'openapi-clients.yaml', 'asyncapi.yaml'])
      writeFileSync(checkout('docs', name), name);
    git('init', '--quiet');
    git('add', '.');
    git('commit', '--quiet', '--message', 'Take payments');
    git('tag', 'v1.2.2');
    git('commit', '--quiet', '--allow-empty', '--message', 'Pay out');
    git('tag', 'v1.2.3');
    program('node', `if [[ $1 == -p ]]; then exec "${process.execPath}" "$@"; fi`);
    program(
      'npm',
      'case "$*" in *--sbom*) touch "${@: -1}" ;; *--pack-destination*) touch "${@: -1}/client.tgz" ;; esac',
    );
    program('helm', 'touch "${@: -1}/chart.tgz"');
    program('docker');
  });

  test('has the change log, the bill of materials, the chart, the client, the documents, and their sums', async () => {
    const { exitCode, called } = await release('v1.2.3', 'release');
    expect(exitCode).toBe(0);
    expect(called.slice(1, 5)).toEqual([
      'npm ci',
      'node scripts/check-node.mjs',
      'npm run supply-chain -- --sbom release/sbom.cdx.json',
      'npm run images -- --pinned',
    ]);
    const files = [
      'CHANGES.md',
      'asyncapi.yaml',
      'chart.tgz',
      'client.tgz',
      'openapi-clients.yaml',
      'openapi.yaml',
      'sbom.cdx.json',
    ];
    expect(readdirSync(checkout('release')).toSorted()).toEqual([...files, 'SHA256SUMS'].toSorted());
    const sums = readFileSync(checkout('release', 'SHA256SUMS'), 'utf8');
    expect([...sums.matchAll(/^[0-9a-f]{64} [ *](.+)$/gm)].map(([, file]) => file).toSorted()).toEqual(files);
    const changes = readFileSync(checkout('release', 'CHANGES.md'), 'utf8');
    expect(changes).toMatch(/^# v1\.2\.3\n\n- Pay out \([0-9a-f]+\)\n$/);
  });

  test('that is the first has no list of changes', async () => {
    git('tag', '--delete', 'v1.2.2');
    expect(await release('v1.2.3', 'release')).toMatchObject({ exitCode: 0 });
    expect(readFileSync(checkout('release', 'CHANGES.md'), 'utf8')).toBe('# v1.2.3\n\nThe first release.\n');
  });

  test('is none without a bill of materials', async () => {
    program('npm');
    const { exitCode, stderr, called } = await release('v1.2.3', 'release');
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: 'There is no bill of materials: see above.\n' });
    expect(called.at(-1)).toBe('npm run supply-chain -- --sbom release/sbom.cdx.json');
  });

  const differs = 'The checkout differs from the tag v1.2.3:';
  test.each<[string, () => void, string, string, string]>([
    ['of another version', () => undefined, 'v1.2.2', 'release', 'The tag v1.2.2 is not that of version 1.2.3'],
    [
      'of another commit',
      () => git('commit', '--quiet', '--allow-empty', '--message', 'Go on'),
      'v1.2.3',
      'release',
      'The checkout is not at the tag v1.2.3.',
    ],
    ['with changes', () => writeFileSync(checkout('docs', 'openapi.yaml'), 'new'), 'v1.2.3', 'release', differs],
    ['in a folder that makes a change', () => undefined, 'v1.2.3', 'out', differs],
  ])('%s is refused before anything is built', async (_what, change, tag, folder, sentence) => {
    change();
    const { exitCode, stderr, called } = await release(tag, folder);
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(sentence) });
    expect(called.filter((command) => !command.startsWith('node -p'))).toEqual([]);
  });
});
