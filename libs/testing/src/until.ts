const LOOK_EVERY_MS = 20;

/** Polls a condition within a bound, never for a time to pass. Returns its truthy result. */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  timeoutMs = 20_000,
): Promise<NonNullable<Exclude<T, false>>> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== false && found !== undefined && found !== null) return found as NonNullable<Exclude<T, false>>;
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs} ms without success: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
