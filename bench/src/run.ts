/** Has something closed at the end of the run, and when a signal cuts it short: what was opened last closes first. */
export type OnEnd = (close: () => Promise<unknown> | void) => void;

/** One bench. `counts` are the numbers given after its name. */
export interface Run {
  (onEnd: OnEnd, counts: readonly number[]): Promise<void>;
}
