import { StopRequested } from '../failure.mjs';
import { ChildProcesses } from './child-processes.mjs';
import { watchLauncher } from './launcher.mjs';

/**
 * Does `work` with child processes, until it ends or fails, one of them has ended and cannot be done without (see
 * {@link ChildProcesses.launch} and {@link ChildProcesses.keep}), or a signal asks to stop (npm's end counts as one); whichever comes first, every process is stopped before this returns or throws. A
 * signal throws {@link StopRequested}.
 * @template T
 * @param {{ recordFile: string, logDirectory: string, graceMs?: number, onStopping?: (reason: unknown) => void, stopWhen?: (stop: () => void) => void }} options
 *   `graceMs`: see {@link ChildProcesses.stop}; `onStopping` gets what this will throw, if anything; `stopWhen` may ask to stop like a signal
 * @param {(processes: ChildProcesses) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function supervise({ recordFile, logDirectory, graceMs, onStopping, stopWhen }, work) {
  /** @type {(reason: Error) => void} */
  let interrupt = () => undefined;
  /** @type {Promise<never>} */
  const interrupted = new Promise((_resolve, reject) => (interrupt = reject));
  // Under npm a signal to the terminal's process group comes twice; the handlers stay, and only the first one counts.
  for (const signal of StopRequested.signals) process.on(signal, () => interrupt(new StopRequested(signal)));
  watchLauncher(() => interrupt(new StopRequested('SIGHUP')));
  stopWhen?.(() => interrupt(new StopRequested('SIGTERM')));
  const processes = new ChildProcesses({ recordFile, logDirectory, onFailure: interrupt });
  /** @type {unknown} */
  let reason;
  try {
    return await Promise.race([work(processes), interrupted]);
  } catch (error) {
    reason = error;
    throw error;
  } finally {
    onStopping?.(reason);
    await processes.stop(graceMs === undefined ? {} : { graceMs });
  }
}
