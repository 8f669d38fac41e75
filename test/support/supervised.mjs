/**
 * `node supervised.mjs DIRECTORY COMMAND [ARGS]`: keeps one service running as `npm start` does, with shorter pauses.
 * FIRST_DELAY_MS: before the first restart. Prints what `npm start` would print of it; exit code 0 after a signal, 1 after a failure.
 */
import { join } from 'node:path';
import { explain, StopRequested } from '../../scripts/failure.mjs';
import { supervise } from '../../scripts/processes/supervise.mjs';

const [directory = '', command = '', ...args] = process.argv.slice(2);
const firstDelayMs = Number(process.env.FIRST_DELAY_MS);
const limits = {
  firstDelayMs,
  maxDelayMs: 4 * firstDelayMs,
  healthyAfterMs: 60_000,
  maxDeaths: 5,
  deathsWithinMs: 60_000,
};
const note = (/** @type {string} */ line) => console.log(line);
const onStopping = (/** @type {unknown} */ reason) => note(`${explain(reason)}\nStopping …`);

try {
  const options = { recordFile: join(directory, 'processes.json'), logDirectory: directory, onStopping };
  await supervise(options, async (processes) => {
    processes.keep('service', 'sample', { command, args }, { note, limits });
    await new Promise(() => undefined);
  });
} catch (error) {
  process.exitCode = error instanceof StopRequested ? 0 : 1;
}
process.exit();
