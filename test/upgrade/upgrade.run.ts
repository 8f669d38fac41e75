import { setTimeout as wait } from 'node:timers/promises';
import { openSpace } from '@gateway/testing';
import { CHECKS } from '../faults/checks/checks';
import { readOptions } from '../faults/options';
import { reportOutcomes } from '../faults/report';
import type { RunResult } from '../faults/run';
import { run, seconds } from '../faults/run';
import type { Release } from '../faults/world/release';
import { edited, THIS_RELEASE } from '../faults/world/release';
import type { World } from '../faults/world/world';
import { REPLICAS, SERVICE_NAMES } from '../faults/world/world';
import { ADDITIONS, meetings } from './additions';

const RUN_TIMEOUT_MS = 900_000;
/** auth-expiry repeats a request after up to two minutes if the acquirer has failed it once. */
const PATIENCE_MS = 180_000;
const MINUTE_MS = 60_000;
const SHOWN_MAX = 25;
/** While all replicas are of one release, and while half of them are. */
const TOGETHER_MS = 6_000;
const DEFAULTS = { FAULTS_MERCHANTS: '12', FAULTS_THINK_MS: '600' };

const { UPGRADE_FROM: name = 'this checkout', UPGRADE_FROM_FOLDER: folder } = process.env;
const oldRelease: Release = folder === undefined ? THIS_RELEASE : { root: folder, preloads: [] };
const newRelease = edited(THIS_RELEASE, ADDITIONS);

const log = (line: string): void => void process.stdout.write(`${new Date().toISOString().slice(11, 23)} ${line}\n`);

let result: RunResult;

beforeAll(async () => {
  const options = readOptions({ ...DEFAULTS, ...process.env });
  log(`Seed ${options.seed}. From ${name} to this checkout with three more fields, and back`);
  result = await run({
    ...options,
    ground: { openSpace: () => openSpace('upgrade'), close: async () => undefined },
    release: oldRelease,
    during: ({ world }) => thereAndBack(world),
    patienceMs: PATIENCE_MS,
    log,
  });
  log(reportOutcomes(result));
  for (const [what, times] of Object.entries(meetings(result.evidence))) log(`${String(times).padStart(6)}  ${what}`);
}, RUN_TIMEOUT_MS);

/** First one replica of each service, so that all services have both releases; then the other. And back. */
async function thereAndBack(world: World): Promise<void> {
  await wait(TOGETHER_MS);
  for (const [release, called] of [
    [newRelease, 'new'],
    [oldRelease, 'old'],
  ] as const) {
    for (let index = 0; index < REPLICAS; index += 1) {
      await replaceOneOfEach(world, index, release, called);
      await wait(TOGETHER_MS);
    }
  }
}

async function replaceOneOfEach(world: World, index: number, release: Release, called: string): Promise<void> {
  for (const service of SERVICE_NAMES) {
    const replica = world.replicas(service)[index];
    if (replica === undefined) throw new Error(`no replica ${index} of ${service}`);
    const began = Date.now();
    await replica.restartAs(release);
    log(`${replica.name} is of the ${called} release after ${seconds(Date.now() - began)}`);
  }
}

test.each(Object.entries(CHECKS))(
  '%s',
  (_name, check) => {
    const problems = check(result.evidence);
    const more = problems.length > SHOWN_MAX ? [`… ${problems.length} in all`] : [];
    expect([...problems.slice(0, SHOWN_MAX), ...more]).toEqual([]);
  },
  MINUTE_MS,
);

test('each release worked on what the other had written', () => {
  const never = Object.entries(meetings(result.evidence)).filter(([, times]) => times === 0);
  expect(never).toEqual([]);
});

test('no process ended by itself', () => {
  expect(result.deaths).toEqual([]);
});
