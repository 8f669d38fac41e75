import { constants } from 'node:os';

/** An expected failure. The message is a sentence for the person at the terminal and says what to do; no stack is shown. */
export class Failure extends Error {}

/** This process was asked to end. */
export class StopRequested extends Error {
  /** The signals for it. */
  static signals = /** @type {const} */ (['SIGHUP', 'SIGINT', 'SIGTERM']);

  /** @param {NodeJS.Signals} signal */
  constructor(signal) {
    super('Stopped.');
    this.exitCode = exitCodeOf(signal);
  }
}

/**
 * @param {NodeJS.Signals} signal
 * @returns {number} what shells report for a process that this signal has ended
 */
export function exitCodeOf(signal) {
  return 128 + constants.signals[signal];
}

/**
 * What to print about an error: the sentence of an expected one, the stack of a defect.
 * @param {unknown} error
 * @returns {string}
 */
export function explain(error) {
  if (error instanceof Failure || error instanceof StopRequested) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
