/** Has something closed at the end of the run, and when a signal cuts it short: what was opened last closes first. */
export type OnEnd = (close: () => Promise<unknown> | void) => void;

/** One bench. `args` stand after its name. */
export interface Run {
  (onEnd: OnEnd, args: readonly string[]): Promise<void>;
}

/** Wrong arguments: the text says which. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
