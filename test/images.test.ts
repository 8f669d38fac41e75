import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { services } from '@gateway/contracts';
import { build } from './support/processes';

/** What can be said about images without Docker. `npm run images -- --verify` builds them. */

const root = join(__dirname, '..');
const node = join(root, 'node_modules', '.bin', 'node');
const run = promisify(execFile);
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
/** The smallest service, one with files beside its code, and the command lines. */
const NAMES = ['auth-expiry', 'operations', 'payout'];
const EPOCH = 1_700_000_000;

let output: string;
beforeAll(async () => {
  await build();
  output = mkdtempSync(join(tmpdir(), 'images-'));
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(EPOCH) };
  await run(node, [join(root, 'scripts/images/collect.mjs'), output, ...NAMES], { env, maxBuffer: 1 << 24 });
}, 240_000);
afterAll(() => rmSync(output, { recursive: true, force: true }));

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
}

test('each service has an image, and the command lines have one', async () => {
  const list = `import('${join(root, 'scripts/images/declared.mjs')}').then(({ images }) => console.log(JSON.stringify(images)))`;
  const images = JSON.parse((await run(node, ['-e', list])).stdout) as { name: string; workspace: string }[];
  const declared = Object.values(services).map(({ name }) => ({ name, workspace: `services/${name}` }));
  const expected = [...declared, { name: 'operations', workspace: 'deploy/operations' }];
  expect(images).toEqual(expect.arrayContaining(expected.map((image) => expect.objectContaining(image) as unknown)));
  expect(images).toHaveLength(expected.length);
});

test('an image starts its service, or provisions', () => {
  expect(readdirSync(output).toSorted()).toEqual(NAMES);
  for (const name of NAMES) {
    const start = readFileSync(join(output, name, 'own/bin/start'), 'utf8');
    const [, file] = /exec node .*\/app\/(\S+)$/m.exec(start) ?? [];
    if (name === 'operations') expect(start).toContain('exec provision');
    else expect([name, file]).toEqual([name, `services/${name}/dist/main.js`]);
    if (file !== undefined) expect(statSync(join(output, name, 'own', file)).isFile()).toBe(true);
  }
});

test('operations has every command line', () => {
  const bin = join(output, 'operations/own/bin');
  expect(readdirSync(bin)).toEqual(
    expect.arrayContaining([
      'provision',
      'kafka',
      'mongo',
      'merchant',
      'vault',
      'payouts',
      'callbacks',
      'audit',
      'privacy',
      'dlq',
    ]),
  );
  for (const command of readdirSync(bin)) {
    const [, file] = /\/app\/(\S+)/.exec(readFileSync(join(bin, command), 'utf8')) ?? [];
    if (file !== undefined)
      expect([command, statSync(join(output, 'operations/own', file)).isFile()]).toEqual([command, true]);
  }
});

test('an image has what its service needs, and nothing of development or of other services', () => {
  const folder = join(output, 'auth-expiry');
  expect(readdirSync(join(folder, 'packages/node_modules'))).toEqual(
    expect.arrayContaining(['kafkajs', 'mongodb', 'winston']),
  );
  for (const name of ['typescript', 'jest', 'node', 'testcontainers', 'libxml2-wasm', '@aws-sdk']) {
    expect(readdirSync(join(folder, 'packages/node_modules'))).not.toContain(name);
  }
  expect(readdirSync(join(folder, 'own/services'))).toEqual(['auth-expiry']);
  expect(readdirSync(join(output, 'payout/own/services/payout')).toSorted()).toEqual([
    'dist',
    'package.json',
    'schemas',
  ]);
});

test('all files have the same time and modes, and no maps, types or tests are among them', () => {
  for (const name of NAMES) {
    const files = filesIn(join(output, name)).filter((file) => !file.includes('/@gateway/'));
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter((file) => /\.(d\.[cm]?ts|map|tsbuildinfo)$|\.(test|fixture)\.[cm]?js$/.test(file))).toEqual([]);
    const modes = new Set(files.map((file) => (statSync(file).mode & 0o777).toString(8)));
    expect([...modes].filter((mode) => mode !== '644' && mode !== '755')).toEqual([]);
    expect(new Set(files.map((file) => statSync(file).mtimeMs))).toEqual(new Set([EPOCH * 1_000]));
  }
});

test('a collected service starts, and says what it lacks', async () => {
  // As in an image, where the two parts lie in one another.
  const app = join(output, 'payout/app');
  for (const part of ['packages', 'own']) {
    cpSync(join(output, 'payout', part), app, { recursive: true, verbatimSymlinks: true });
  }
  const started = run(node, [join(app, 'services/payout/dist/main.js')], { env: { NODE_ENV: 'production' }, cwd: app });
  const { code, stderr } = await started.then(
    () => ({ code: 0, stderr: '' }),
    (error: { code: number; stderr: string }) => error,
  );
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('Configuration: KAFKA_BROKERS is not set; MONGODB_URI is not set'),
  ]);
});

describe('the build', () => {
  const dockerfile = read('deploy/Dockerfile');

  test('runs as nobody special, checks its health, and is production', () => {
    expect(dockerfile).toMatch(/^USER 1000:1000$/m);
    expect(dockerfile).toMatch(/^HEALTHCHECK .*CMD \["healthy"\]$/m);
    expect(dockerfile).toMatch(/NODE_ENV=production/);
    expect(dockerfile).not.toMatch(/^(ADD|VOLUME|EXPOSE)|--mount|--chown|sudo/m);
  });

  test('stands on one base image, which is recorded by its digest', () => {
    const { tag, digest } = JSON.parse(read('deploy/base-image.json')) as { tag: string; digest: string };
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(dockerfile).toContain(`ARG NODE_IMAGE=${tag}\n`);
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
    expect(new Set(bases)).toEqual(new Set(['${NODE_IMAGE}']));
  });

  const [all, ...rest] = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const named = rest.filter((line) => line.startsWith('!')).map((line) => line.slice(1));

  test('sees no secret, no history and no local build', () => {
    expect(all).toBe('*');
    expect(named).not.toContain('.git');
    expect(named.filter((name) => name.startsWith('.'))).toEqual(['.npmrc']);
    expect(rest).toEqual(expect.arrayContaining(['**/node_modules', '**/dist', '**/.env*', '**/*.pem', '**/*.key']));
    expect(read('.npmrc')).not.toMatch(/_auth|_password|token/i);
  });

  test('sees the package.json of every workspace, which npm ci wants', () => {
    const { workspaces } = JSON.parse(read('package.json')) as { workspaces: string[] };
    const manifests = workspaces.flatMap((folders) => globSync(`${folders}/package.json`, { cwd: root }));
    expect(manifests.length).toBeGreaterThan(20);
    // The classic builder enters a folder only if a name here begins with its path, so a wildcard finds nothing.
    const isSeen = (path: string) => named.some((name) => path === name || path.startsWith(`${name}/`));
    expect(manifests.filter((path) => !isSeen(path))).toEqual([]);
  });
});
