import { setTimeout as wait } from 'node:timers/promises';
import { CHECKS } from './checks/checks';
import type { Mutation } from './mutations';
import { MUTATIONS } from './mutations';
import type { RunResult } from './run';
import { run } from './run';
import type { Ground } from './world/ground';
import { openGround } from './world/ground';
import { edited, THIS_RELEASE } from './world/release';

const MERCHANTS = 8;
const THINK_MS = 500;
const PATIENCE_MS = 40_000;
const TEST_TIMEOUT_MS = 300_000;
const START_TIMEOUT_MS = 180_000;

let ground: Ground;
const lines: string[] = [];

beforeAll(async () => {
  ground = await openGround();
}, START_TIMEOUT_MS);

afterAll(async () => {
  process.stdout.write(`\n| disabled guard | caught by |\n| --- | --- |\n${lines.join('\n')}\n`);
  await ground.close();
});

function runWith(mutation: Mutation, edits: Mutation['edits']): Promise<RunResult> {
  return run({
    ground,
    seed: 1,
    merchants: MERCHANTS,
    thinkMs: THINK_MS,
    business: mutation.business,
    services: mutation.services,
    ...(mutation.settings === undefined ? {} : { settings: mutation.settings }),
    release: edited(THIS_RELEASE, edits),
    during: async (scene) => {
      await Promise.all([mutation.faults?.(scene), wait(mutation.seconds * 1_000)]);
    },
    patienceMs: PATIENCE_MS,
    log: () => undefined,
  });
}

function failingChecks({ evidence }: RunResult): string[] {
  return Object.entries(CHECKS).flatMap(([name, check]) => (check(evidence).length > 0 ? [name] : []));
}

test.each(MUTATIONS.map((mutation) => [mutation.guard, mutation] as const))(
  'without the %s',
  async (guard, mutation) => {
    const failing = failingChecks(await runWith(mutation, [...mutation.edits, ...(mutation.delays ?? [])]));
    const caught = failing.filter((name) => mutation.caughtBy.includes(name));
    const line = `| ${guard} | ${caught.length > 0 ? caught.join('; ') : `not caught (${failing.join('; ')})`} |`;
    lines.push(line);
    process.stdout.write(`${line}\n`);
    expect(caught).not.toEqual([]);
  },
  TEST_TIMEOUT_MS,
);
