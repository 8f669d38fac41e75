import { CHECKS } from './checks/checks';
import { readOptions } from './options';
import { reportOutcomes } from './report';
import type { RunResult } from './run';
import { run } from './run';
import { openGround } from './world/ground';

const MINUTE_MS = 60_000;
const PATIENCE_MS = 120_000;
/** Start, quiet, and the checks. */
const MARGIN_MS = 6 * MINUTE_MS;
const SHOWN_MAX = 25;

const options = readOptions();
let result: RunResult;

const log = (line: string): void => void process.stdout.write(`${new Date().toISOString()} ${line}\n`);

beforeAll(
  async () => {
    log(`Seed ${options.seed}, ${options.minutes} minutes`);
    const ground = await openGround();
    try {
      result = await run({
        ground,
        ...options,
        during: () => new Promise((resolve) => setTimeout(resolve, options.minutes * MINUTE_MS)),
        patienceMs: PATIENCE_MS,
        log,
      });
    } finally {
      await ground.close();
    }
    log(reportOutcomes(result));
    for (const death of result.deaths) log(`A process ended by itself: ${death}`);
  },
  options.minutes * MINUTE_MS + MARGIN_MS,
);

test.each(Object.entries(CHECKS))(
  '%s',
  (_name, check) => {
    const problems = check(result.evidence);
    const shown =
      problems.length > SHOWN_MAX ? [...problems.slice(0, SHOWN_MAX), `… ${problems.length} in all`] : problems;
    expect(shown).toEqual([]);
  },
  MINUTE_MS,
);
