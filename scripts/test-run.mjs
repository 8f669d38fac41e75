/** Shared by the processes that run servers for tests. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkoutId } from './checkout.mjs';
import { explain, StopRequested } from './failure.mjs';
import { stopLeftovers } from './processes/child-processes.mjs';
import { identify, isRunning } from './processes/identity.mjs';
import { supervise } from './processes/supervise.mjs';
import { createProgress } from './progress.mjs';

/** What the names of the test runs of this checkout begin with, in the system's directory for temporary files. */
const TEST_RUN_PREFIX = `payment-gateway-tests-${checkoutId}-`;

const ownerFile = 'owner.json';
const recordFile = 'processes.json';

/** @returns {string} where a test run keeps its servers' data and logs; exists while the servers do */
export function newTestRunDirectory() {
  return join(tmpdir(), `${TEST_RUN_PREFIX}${randomBytes(4).toString('hex')}`);
}

/**
 * Holds servers for a test run: prints what `start` returns as one line of JSON, or `{ failure }`, one sentence, and
 * goes on until standard input ends, which also happens when the test run is killed. Then it stops the servers and
 * removes their data, and ends this process.
 * @param {string} directory takes the servers' data and logs
 * @param {(parts: { processes: import('./processes/child-processes.mjs').ChildProcesses, progress: import('./progress.mjs').Progress }) => Promise<object>} start
 * @param {() => Promise<void>} [stop] what the end takes beside the end of the processes
 * @returns {Promise<never>}
 */
export async function holdServers(directory, start, stop) {
  const progress = createProgress(process.stderr);
  let announced = false;
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, ownerFile), JSON.stringify(identify('test servers', process.pid)));
  try {
    await removeAbandonedRuns();
    const stopWhen = (/** @type {() => void} */ end) => process.stdin.once('end', end).once('error', end).resume();
    const options = { recordFile: join(directory, recordFile), logDirectory: directory, graceMs: 0, stopWhen };
    await supervise(options, async (processes) => {
      process.stdout.write(`${JSON.stringify(await start({ processes, progress }))}\n`);
      announced = true;
      await new Promise(() => undefined);
    });
  } catch (error) {
    if (error instanceof StopRequested) process.exitCode = 0;
    else if (announced) progress.note(explain(error));
    else process.stdout.write(`${JSON.stringify({ failure: explain(error) })}\n`);
  } finally {
    await stop?.();
    rmSync(directory, { recursive: true, force: true });
  }
  process.exit();
}

/** Ends processes left behind by killed holders. */
async function removeAbandonedRuns() {
  for (const name of readdirSync(tmpdir()).filter((name) => name.startsWith(TEST_RUN_PREFIX))) {
    const abandoned = join(tmpdir(), name);
    if (ownerIsRunning(abandoned)) continue;
    await stopLeftovers(join(abandoned, recordFile));
    rmSync(abandoned, { recursive: true, force: true });
  }
}

/** @param {string} runDirectory */
function ownerIsRunning(runDirectory) {
  try {
    return isRunning(JSON.parse(readFileSync(join(runDirectory, ownerFile), 'utf8')));
  } catch {
    // Not written yet: another run is starting.
    return true;
  }
}
