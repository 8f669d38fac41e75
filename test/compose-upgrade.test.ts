import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { services } from '@gateway/contracts';
import { parse } from 'yaml';

const root = join(__dirname, '..');
const SCRIPT = join(root, 'deploy', 'compose', 'upgrade.sh');
const READERS_FIRST = ['callback-dispatcher', 'auth-expiry', 'threeds', 'payout', 'card-processing', 'api-edge'];

const folder = mkdtempSync(join(tmpdir(), 'compose-upgrade-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the script with a docker-compose that writes down its version and words, and fails for one service. */
function upgrade(args: readonly string[], failing = 'none') {
  const calls = join(folder, 'calls');
  const compose = join(folder, 'docker-compose');
  writeFileSync(calls, '');
  writeFileSync(
    compose,
    `#!/bin/sh\necho "$GATEWAY_VERSION $*" >> ${calls}\ncase "$*" in *${failing}) exit 1;; esac\n`,
    {
      mode: 0o700,
    },
  );
  const { status } = spawnSync(SCRIPT, args, { env: { PATH: process.env['PATH'], COMPOSE: compose } });
  return { status, calls: readFileSync(calls, 'utf8').trim().split('\n') };
}

const replaced = (version: string, names: readonly string[]) =>
  names.map((name) => `${version} up --detach --no-deps --no-build --wait ${name}`);

test('an upgrade builds images with a tag of their own, provisions, and replaces readers before writers', () => {
  expect(upgrade(['1.5.0'])).toEqual({
    status: 0,
    calls: ['1.5.0 build', '1.5.0 run --rm --no-deps provision', ...replaced('1.5.0', READERS_FIRST)],
  });
});

test('the way back takes the images that are there, in the reverse order', () => {
  expect(upgrade(['--back', '1.4.0'])).toEqual({ status: 0, calls: replaced('1.4.0', READERS_FIRST.toReversed()) });
});

test('a service that does not become healthy ends it', () => {
  const { status, calls } = upgrade(['1.5.0'], 'threeds');
  expect([status, calls.at(-1)]).toEqual([1, replaced('1.5.0', ['threeds'])[0]]);
});

test.each([[[]], [['--back']], [['1.5.0', '1.6.0']], [['my shop']], [['--help']]])('%j is wrong usage', (args) => {
  expect(upgrade(args)).toEqual({ status: 2, calls: [''] });
});

test('it replaces every service of the closed system, and each image has the tag of its version', () => {
  const file = readFileSync(join(root, 'deploy', 'compose', 'production.yml'), 'utf8');
  const parsed = parse(file, { merge: true }) as { services: Record<string, { image: string; build?: unknown }> };
  const built = Object.entries(parsed.services).filter(([, { build }]) => build !== undefined);
  const own = Object.values(services)
    .map(({ name }) => name as string)
    .filter((name) => name !== 'simulator');
  expect(own.toSorted()).toEqual(READERS_FIRST.toSorted());
  expect(built.map(([name]) => name).toSorted()).toEqual([...own, 'operations', 'provision'].toSorted());
  for (const [name, { image }] of built) {
    const repository = name === 'provision' ? 'operations' : name;
    expect(image).toBe(`payment-gateway/${repository}:\${GATEWAY_VERSION:-0.1.0}`);
  }
});
