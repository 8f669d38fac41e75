import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './support/processes';

const ROOT = join(__dirname, '..');
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
/** Every command line that works on a system. Analytics is an example that reads Kafka alone. */
const FILES = Object.entries(scripts).flatMap(([name, script]) => {
  const [, file] = /with-environment\.mjs (\S+)$/.exec(script) ?? [];
  return file === undefined || name === 'analytics' ? [] : [[name, file] as const];
});

interface Ended {
  code: number;
  output: string;
}

function run(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const { PATH = '' } = process.env;
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: ROOT, env: { PATH, ...env } }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
}

beforeAll(build, 180_000);

test('the command lines are found', () => {
  expect(FILES.map(([name]) => name)).toEqual(
    expect.arrayContaining(['audit', 'callbacks', 'dlq', 'doctor', 'kafka', 'merchant', 'mongo', 'payouts', 'vault']),
  );
});

test.each(FILES)('%s works only under a named profile', async (_name, file) => {
  const { code, output } = await run([file, 'help']);
  expect([code, output]).toEqual([2, expect.stringMatching(/^NODE_ENV is not set: production .+\n$/)]);
  const named = await run([file, 'help'], { NODE_ENV: 'production' });
  expect([named.code, named.output]).toEqual([0, expect.stringContaining('npm run ')]);
});

test('the catalogue of the sandbox needs no profile', async () => {
  const { code, output } = await run(['services/simulator/dist/cli.js', 'fields', 'insufficient-funds']);
  expect([code, output]).toEqual([0, expect.stringContaining('=')]);
});
