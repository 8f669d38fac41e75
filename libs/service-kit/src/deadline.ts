import type { GenericAbortSignal } from 'axios';

/**
 * Ends a call when its whole time is over, connecting and reading included: axios' own `timeout` counts silence, and an
 * answer that trickles goes on for ever. `AbortSignal.timeout` at a fraction of its cost: one listener, and no timer
 * that outlives the call.
 */
export class Deadline implements GenericAbortSignal {
  aborted = false;
  #abort: (() => void) | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(timeoutMs: number) {
    this.#timer = setTimeout(() => {
      this.aborted = true;
      this.#abort?.();
    }, timeoutMs);
  }

  addEventListener(_type: 'abort', abort: () => void): void {
    this.#abort = abort;
  }

  /** What axios does when the call is over. */
  removeEventListener(): void {
    this.clear();
  }

  clear(): void {
    this.#abort = undefined;
    clearTimeout(this.#timer);
  }
}
