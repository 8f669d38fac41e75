import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The merchants' client as shops get it: the packed tarball, installed into projects that have nothing else. */

const root = join(__dirname, '..');
const folder = join(root, 'libs', 'merchant-client');
const inModules = (path: string): string => join(root, 'node_modules', path);
const TSC = inModules('typescript/bin/tsc');

let work: string;
let tarball: string;

beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), 'gateway-client-'));
  tarball = await pack();
}, 60_000);
afterAll(() => rmSync(work, { recursive: true, force: true }));

interface Run {
  code: number;
  output: string;
}

/** Runs to the end, whatever the exit code. */
async function run(file: string, args: string[], cwd: string): Promise<Run> {
  try {
    const { stdout, stderr } = await promisify(execFile)(file, args, { cwd });
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: stdout + stderr };
  }
}

const node = (cwd: string, ...args: string[]): Promise<Run> => run(process.execPath, args, cwd);

async function succeed(running: Promise<Run>): Promise<string> {
  const { code, output } = await running;
  if (code !== 0) throw new Error(output);
  return output;
}

/** From a copy of the repository's relevant part, because other tests build in the folder itself. */
async function pack(): Promise<string> {
  const copy = join(work, 'source', 'libs', 'merchant-client');
  const isSource = (path: string): boolean => !/^\/(dist|node_modules|test)(\/|$)/.test(path.slice(folder.length));
  cpSync(folder, copy, { recursive: true, filter: isSource });
  cpSync(join(root, 'tsconfig.base.json'), join(work, 'source', 'tsconfig.base.json'));
  symlinkSync(join(root, 'node_modules'), join(work, 'source', 'node_modules'));
  const packed = await succeed(
    run('npm', ['pack', '--json', '--foreground-scripts=false', '--pack-destination', work], copy),
  );
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('['), packed.lastIndexOf(']') + 1)) as [
    { filename: string },
  ];
  return join(work, filename);
}

/** An empty project with the client and these files. */
async function project(name: string, files: Record<string, string>, manifest: object = {}): Promise<string> {
  const cwd = join(work, name);
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ name, private: true, ...manifest }));
  for (const [file, content] of Object.entries(files)) writeFileSync(join(cwd, file), content);
  await succeed(run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', tarball], cwd));
  return cwd;
}

/** Uses the client without a gateway. */
const PROGRAM = `
const secrets = { password: 'demo_password' };
const { verified } = verifyCallback(signTestCallback({}, secrets), secrets);
const client = createClient({ baseUrl: 'https://127.0.0.1:9', account: 'demo_merchant', password: 'demo_password' });
console.log(verified, typeof client.sale, adviceOf(RESPONSE_CODES.INSUFFICIENT_FUNDS).advice);
`;
const PRINTED = 'true function other-card';
const NAMES = '{ adviceOf, createClient, RESPONSE_CODES, signTestCallback, verifyCallback }';

test('it holds nothing but the built client and its README, and needs no other package', async () => {
  const listed = await succeed(run('tar', ['-tzf', tarball], work));
  const files = listed.trim().split('\n');
  expect(
    files.filter(
      (file) =>
        !/^package\/(package\.json|README\.md|CHANGELOG\.md|bin\/gateway\.js|dist\/.+\.(d\.)?m?[jt]s)$/.test(file),
    ),
  ).toEqual([]);
  expect(files.filter((file) => /test|fixture|tsbuildinfo/.test(file))).toEqual([]);
  const manifest = JSON.parse(await succeed(run('tar', ['-xzOf', tarball, 'package/package.json'], work))) as object;
  expect(Object.keys(manifest).filter((key) => /dependencies|^private$/i.test(key))).toEqual([]);
});

test('its command runs where it is installed', async () => {
  const cwd = await project('command', {});
  expect(await succeed(run(join(cwd, 'node_modules', '.bin', 'gateway'), ['help'], cwd))).toMatch(/^Usage: gateway /);
});

test('publint finds nothing', async () => {
  const { code, output } = await node(work, inModules('publint/src/cli.js'), 'run', tarball, '--strict');
  expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('All good!') });
}, 30_000);

test('arethetypeswrong finds nothing', async () => {
  const { code, output } = await node(
    work,
    inModules('@arethetypeswrong/cli/dist/index.js'),
    tarball,
    '--format',
    'json',
  );
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(JSON.parse(output)).toMatchObject({ analysis: { types: { kind: 'included' }, problems: [] } });
}, 30_000);

test('CommonJS and ES modules have the same names, and run', async () => {
  const files = {
    'commonjs.cjs': `const ${NAMES} = require('@gateway/client');${PROGRAM}`,
    'esm.mjs': `import ${NAMES} from '@gateway/client';${PROGRAM}`,
    'names.mjs': `
      import * as own from '@gateway/client';
      import { createRequire } from 'node:module';
      const other = createRequire(import.meta.url)('@gateway/client');
      console.log(String(Object.keys(own).sort()) === String(Object.keys(other).sort()));`,
  };
  const cwd = await project('javascript', files);
  expect((await succeed(node(cwd, 'commonjs.cjs'))).trim()).toBe(PRINTED);
  expect((await succeed(node(cwd, 'esm.mjs'))).trim()).toBe(PRINTED);
  expect((await succeed(node(cwd, 'names.mjs'))).trim()).toBe('true');
}, 30_000);

test('a bundler makes one file of a program and the client', async () => {
  const files = {
    'esm.mjs': `import ${NAMES} from '@gateway/client';${PROGRAM}`,
    'commonjs.cjs': `const ${NAMES} = require('@gateway/client');${PROGRAM}`,
  };
  const cwd = await project('bundler', files);
  for (const [entry, format] of [
    ['esm.mjs', 'esm'],
    ['esm.mjs', 'cjs'],
    ['commonjs.cjs', 'cjs'],
  ] as const) {
    const out = join(work, `bundle-${format}.${format === 'esm' ? 'mjs' : 'cjs'}`);
    const args = [entry, '--bundle', '--platform=node', `--format=${format}`, `--outfile=${out}`];
    await succeed(run(inModules('esbuild/bin/esbuild'), args, cwd));
    expect((await succeed(node(work, out))).trim()).toBe(PRINTED);
  }
}, 30_000);

const COMPLETE = `
export async function pay(client: Client, request: ChargeRequest): Promise<string> {
  const outcome = await client.sale(request);
  switch (outcome.kind) {
    case 'approved':
      return outcome.reference;
    case 'declined':
      return outcome.cardholderText ?? outcome.advice;
    case 'error':
      return outcome.advice;
    case 'unknown':
      return outcome.transaction_unique_id ?? '';
    default:
      return assertNever(outcome);
  }
}
`;
const IMPORTS = `import { assertNever, createClient, expressCallbackHandler, fetchCallbackHandler } from '@gateway/client';
import type { ChargeRequest, Client } from '@gateway/client';
`;
const USES = `
export const client: Client = createClient({ baseUrl: 'https://pay.example', account: 'a', password: 'b' });
export const handlers = [expressCallbackHandler({ password: 'b' }, () => undefined), fetchCallbackHandler({}, async () => {})];
`;

test('TypeScript in both kinds of modules, without any other types, and an outcome that is left out', async () => {
  const compilerOptions = {
    strict: true,
    module: 'node20',
    target: 'es2022',
    lib: ['es2022'],
    types: [],
    noEmit: true,
  };
  const options = (files: string[]): string =>
    JSON.stringify({ compilerOptions: { ...compilerOptions, exactOptionalPropertyTypes: true }, files });
  const incomplete = COMPLETE.replace(/ {4}case 'unknown':\n.*\n/, '');
  const missing = COMPLETE.replace('request)', "{ amount: '1', currency: 'XTS' })");
  const cwd = await project('typescript', {
    'commonjs.cts': IMPORTS + USES + COMPLETE,
    'esm.mts': IMPORTS + USES + COMPLETE,
    'incomplete.mts': IMPORTS + incomplete,
    'missing.mts': IMPORTS + missing,
    'tsconfig.json': options(['commonjs.cts', 'esm.mts']),
    'tsconfig.wrong.json': options(['incomplete.mts', 'missing.mts']),
  });
  expect(incomplete).not.toBe(COMPLETE);
  expect(missing).not.toBe(COMPLETE);
  expect(await node(cwd, TSC, '-p', '.')).toEqual({ code: 0, output: '' });
  const { output } = await node(cwd, TSC, '-p', 'tsconfig.wrong.json');
  expect(output).toContain("Argument of type 'Unknown' is not assignable to parameter of type 'never'");
  expect(output).toMatch(/missing\.mts.+error TS2345/);
  // Where the types of Node are, a handler fits express and fetch.
  const typed = {
    compilerOptions: { ...compilerOptions, types: ['node'], typeRoots: [inModules('@types')] },
    files: ['web.mts'],
  };
  writeFileSync(join(cwd, 'web.mts'), WEB);
  writeFileSync(join(cwd, 'tsconfig.web.json'), JSON.stringify(typed));
  expect(await node(cwd, TSC, '-p', 'tsconfig.web.json')).toEqual({ code: 0, output: '' });
}, 60_000);

const WEB = `
import { createServer } from 'node:http';
import { expressCallbackHandler, fetchCallbackHandler } from '@gateway/client';
createServer(expressCallbackHandler({ password: 'b' }, () => undefined));
export const POST: (request: Request) => Promise<Response> = fetchCallbackHandler({ password: 'b' }, () => undefined);
`;
