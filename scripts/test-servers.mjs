/**
 * Holds the servers of one test run. Prints one line of JSON: `{ kafkaBrokers, mongodbUri }` when they answer, or
 * `{ failure }`, one sentence. Runs until its standard input ends, which also happens when the test run is killed; then
 * it stops the servers and removes their data.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { explain, StopRequested } from './failure.mjs';
import { stopLeftovers } from './processes/child-processes.mjs';
import { identify, isRunning } from './processes/identity.mjs';
import { supervise } from './processes/supervise.mjs';
import { createProgress } from './progress.mjs';
import { findFreePorts } from './servers/ports.mjs';
import { provideServers } from './servers/provide-servers.mjs';
import { TestContainers } from './servers/test-containers.mjs';
import { newTestRunDirectory, TEST_RUN_PREFIX } from './test-run-directory.mjs';

const directory = process.env.TEST_RUN_DIRECTORY || newTestRunDirectory();
const ownerFile = 'owner.json';
const recordFile = 'processes.json';
const progress = createProgress(process.stderr);

/** @type {TestContainers | undefined} */
let containers;
let announced = false;

/** @param {import('./processes/child-processes.mjs').ChildProcesses} processes */
async function holdServers(processes) {
  const [kafka = 0, kafkaController = 0, mongodb = 0] = await findFreePorts(3);
  const context = {
    directory,
    logDirectory: directory,
    ports: { kafka, kafkaController, mongodb },
    processes,
    progress,
    installed: Promise.resolve(),
  };
  const servers = await provideServers(process.env, context, () => (containers = new TestContainers(context)));
  process.stdout.write(`${JSON.stringify(servers)}\n`);
  announced = true;
  await new Promise(() => undefined);
}

/** Ends what holders that were killed themselves have left. */
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
    // Not written yet: somebody is just starting.
    return true;
  }
}

mkdirSync(directory, { recursive: true });
writeFileSync(join(directory, ownerFile), JSON.stringify(identify('test servers', process.pid)));
try {
  await removeAbandonedRuns();
  const stopWhen = (/** @type {() => void} */ stop) => process.stdin.once('end', stop).once('error', stop).resume();
  await supervise(
    { recordFile: join(directory, recordFile), logDirectory: directory, graceMs: 0, stopWhen },
    holdServers,
  );
} catch (error) {
  if (error instanceof StopRequested) process.exitCode = 0;
  else if (announced) progress.note(explain(error));
  else process.stdout.write(`${JSON.stringify({ failure: explain(error) })}\n`);
} finally {
  await containers?.stop();
  rmSync(directory, { recursive: true, force: true });
}
process.exit();
