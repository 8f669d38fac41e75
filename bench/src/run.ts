/** Registers something to close at the end of the run, or on a signal. Closes in reverse order. */
export type OnEnd = (close: () => Promise<unknown> | void) => void;

/** One bench. `args` follow its name on the command line. */
export interface Run {
  (onEnd: OnEnd, args: readonly string[]): Promise<void>;
}

/** Wrong arguments, named in the message. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The given options. @throws UsageError for any other argument. */
export function flags<Name extends string>(args: readonly string[], names: readonly Name[]): Set<Name> {
  const unknown = args.find((argument) => !names.some((name) => argument === `--${name}`));
  if (unknown !== undefined) throw new UsageError(`unknown option: ${unknown}`);
  return new Set(names.filter((name) => args.includes(`--${name}`)));
}
