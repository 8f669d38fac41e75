import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Run } from './support/packed-client';
import { newProject, packClient, run, succeed, TYPED_PROGRAM } from './support/packed-client';

const root = join(__dirname, '..');
const inModules = (path: string): string => join(root, 'node_modules', path);
const TSC = inModules('typescript/bin/tsc');

let work: string;
let tarball: string;

beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), 'gateway-client-'));
  tarball = await packClient(work);
}, 60_000);
afterAll(() => rmSync(work, { recursive: true, force: true }));

const node = (cwd: string, ...args: string[]): Promise<Run> => run(process.execPath, args, cwd);

/** An empty project with the client and these files. */
async function project(name: string, files: Record<string, string>): Promise<string> {
  const cwd = newProject(work, name, files);
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

test('it holds nothing but the built client and its documents, and needs no other package', async () => {
  const listed = await succeed(run('tar', ['-tzf', tarball], work));
  const files = listed.trim().split('\n');
  expect(
    files.filter(
      (file) =>
        !/^package\/(package\.json|README\.md|CHANGELOG\.md|LICENSE|bin\/gateway\.js|dist\/.+\.(d\.)?m?[jt]s)$/.test(
          file,
        ),
    ),
  ).toEqual([]);
  expect(files).toEqual(expect.arrayContaining(['package/LICENSE', 'package/CHANGELOG.md']));
  expect(files.filter((file) => /test|fixture|tsbuildinfo/.test(file))).toEqual([]);
  const manifest = JSON.parse(await succeed(run('tar', ['-xzOf', tarball, 'package/package.json'], work))) as object;
  expect(Object.keys(manifest).filter((key) => /dependencies|^private$/i.test(key))).toEqual([]);
});

test('its command runs where it is installed', async () => {
  const cwd = await project('command', {});
  expect(await succeed(run(join(cwd, 'node_modules', '.bin', 'gateway'), ['help'], cwd))).toMatch(/^Usage: gateway /);
});

test('npm knows the tarball that it is from, and asks no registry for it', async () => {
  const cwd = await project('origin', {});
  const { packages } = JSON.parse(readFileSync(join(cwd, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { resolved?: string; integrity?: string }>;
  };
  expect(packages['node_modules/@payment-gateway/client']).toMatchObject({
    resolved: expect.stringMatching(/^file:.+\/payment-gateway-client-[\d.]+\.tgz$/),
    integrity: expect.stringMatching(/^sha512-/),
  });
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
    'commonjs.cjs': `const ${NAMES} = require('@payment-gateway/client');${PROGRAM}`,
    'esm.mjs': `import ${NAMES} from '@payment-gateway/client';${PROGRAM}`,
    'names.mjs': `
      import * as own from '@payment-gateway/client';
      import { createRequire } from 'node:module';
      const other = createRequire(import.meta.url)('@payment-gateway/client');
      console.log(String(Object.keys(own).sort()) === String(Object.keys(other).sort()));`,
  };
  const cwd = await project('javascript', files);
  expect((await succeed(node(cwd, 'commonjs.cjs'))).trim()).toBe(PRINTED);
  expect((await succeed(node(cwd, 'esm.mjs'))).trim()).toBe(PRINTED);
  expect((await succeed(node(cwd, 'names.mjs'))).trim()).toBe('true');
}, 30_000);

test('a bundler makes one file of a program and the client', async () => {
  const files = {
    'esm.mjs': `import ${NAMES} from '@payment-gateway/client';${PROGRAM}`,
    'commonjs.cjs': `const ${NAMES} = require('@payment-gateway/client');${PROGRAM}`,
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
  const { imports, uses, complete } = TYPED_PROGRAM;
  const incomplete = complete.replace(/ {4}case 'unknown':\n.*\n/, '');
  const missing = complete.replace('request)', "{ amount: '1', currency: 'XTS' })");
  const cwd = await project('typescript', {
    'commonjs.cts': imports + uses + complete,
    'esm.mts': imports + uses + complete,
    'incomplete.mts': imports + incomplete,
    'missing.mts': imports + missing,
    'tsconfig.json': options(['commonjs.cts', 'esm.mts']),
    'tsconfig.wrong.json': options(['incomplete.mts', 'missing.mts']),
  });
  expect(incomplete).not.toBe(complete);
  expect(missing).not.toBe(complete);
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
import { expressCallbackHandler, fetchCallbackHandler } from '@payment-gateway/client';
createServer(expressCallbackHandler({ password: 'b' }, () => undefined));
export const POST: (request: Request) => Promise<Response> = fetchCallbackHandler({ password: 'b' }, () => undefined);
`;
