import { CHECKS } from './checks/checks';
import type { Happened } from './injection/inject';
import { injectAll } from './injection/inject';
import { describeFault, planFaults } from './injection/schedule';
import { readOptions } from './options';
import { reportOutcomes, reportRecovery, reportSchedule } from './report';
import type { RunResult } from './run';
import { run } from './run';
import { openGround } from './world/ground';

const MINUTE_MS = 60_000;
/** auth-expiry repeats a request after up to three minutes if the acquirer has failed it four times. */
const PATIENCE_MS = 5 * MINUTE_MS;
/** For start, quiet phase and last CHECKs. */
const MARGIN_MS = 10 * MINUTE_MS;
const SHOWN_MAX = 25;

const options = readOptions();
const totalMs = options.minutes * MINUTE_MS;
const happened: Happened[] = [];
let result: RunResult;

const log = (line: string): void => void process.stdout.write(`${new Date().toISOString().slice(11, 23)} ${line}\n`);

beforeAll(async () => {
  const planned = planFaults(options.seed, totalMs);
  log(`Seed ${options.seed}, ${options.minutes} minutes of faults\n${reportSchedule(planned)}`);
  const ground = await openGround();
  try {
    result = await run({
      ground,
      ...options,
      during: (scene) =>
        injectAll(scene, planned, totalMs, (one) => {
          log(`${describeFault(one.fault)}, over after ${one.endedAt - one.startedAt} ms ${one.failed ?? ''}`);
          happened.push(one);
        }),
      patienceMs: PATIENCE_MS,
      log,
    });
  } finally {
    await ground.close();
  }
  log(`${reportOutcomes(result)}\n${reportRecovery(happened, result.notebook.approvals)}`);
  for (const death of result.deaths) log(`A process died unexpectedly: ${death}`);
}, totalMs + MARGIN_MS);

test.each(Object.entries(CHECKS))(
  '%s',
  (_name, check) => {
    const problems = check(result.evidence);
    const more = problems.length > SHOWN_MAX ? [`… ${problems.length} in all`] : [];
    expect([...problems.slice(0, SHOWN_MAX), ...more]).toEqual([]);
  },
  MINUTE_MS,
);

test('every planned fault happened', () => {
  expect(happened.filter(({ failed }) => failed !== undefined)).toEqual([]);
});
