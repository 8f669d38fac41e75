/** A record's states only go forward, so that few rounds are ever lost to others. */
const ROUNDS_MAX = 8;

/** Runs `round` again while it returns undefined: someone else wrote in between, and all has to be read again. */
export async function untilSettled<T>(round: (lost: number) => Promise<T | undefined>): Promise<T> {
  for (let lost = 0; lost < ROUNDS_MAX; lost++) {
    const settled = await round(lost);
    if (settled !== undefined) return settled;
  }
  throw new Error(`gave up after ${ROUNDS_MAX} rounds lost to others`);
}
