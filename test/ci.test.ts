import { execFile } from 'node:child_process';
import {
  chmodSync,
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

const RUN = join(__dirname, '..', '.ci', 'run');
/** Each suite that runs reports this. */
const RESULTS = { numPassedTests: 3, numFailedTests: 0, numRuntimeErrorTestSuites: 0 };

let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'payment-gateway-ci-test-'))));
afterEach(() => rmSync(directory, { recursive: true }));

/** Runs .ci/run with programs that do nothing but say that they were called. `fails`: the command that ends with 1. */
async function run(fails = 'no command'): Promise<{ exitCode: number; last: string; called: string[] }> {
  const programs = join(directory, 'bin');
  const log = join(directory, 'called');
  rmSync(log, { force: true });
  mkdirSync(programs, { recursive: true });
  const program = (name: string, body = ''): void => {
    const file = join(programs, name);
    writeFileSync(file, `#!/usr/bin/env bash\necho "${name} $*" >>"${log}"\n${body}\n`);
    chmodSync(file, 0o755);
  };
  for (const name of ['chromium', 'curl', 'openssl', 'java', 'mvn', 'python3']) program(name);
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
  const env = { ...process.env, PATH: `${programs}:${process.env['PATH']}`, TMPDIR: directory };
  const { exitCode, stdout } = await new Promise<{ exitCode: number; stdout: string }>((resolve) => {
    execFile(RUN, { env }, (error, output) => resolve({ exitCode: Number(error?.code ?? 0), stdout: output }));
  });
  const called = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
  return { exitCode, last: stdout.trim().split('\n').at(-1) ?? '', called };
}

const SUITES = ['npm test', 'npm run test:security', 'npm run test:faults', 'npm run test:upgrade'];
const suitesOf = (called: readonly string[]) =>
  SUITES.filter((suite) => called.some((one) => one.startsWith(`${suite} -- `)));

test('counts what all suites counted', async () => {
  const { exitCode, last, called } = await run();
  expect({ exitCode, last }).toEqual({ exitCode: 0, last: '12 passed, 0 failed' });
  expect(suitesOf(called)).toEqual(SUITES);
});

test('runs all suites although the supply chain has a problem, and fails', async () => {
  const { exitCode, last, called } = await run('npm run supply-chain');
  expect({ exitCode, last }).toEqual({ exitCode: 1, last: '12 passed, 1 failed' });
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
