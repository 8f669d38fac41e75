/** Refusals that are sent at once: a burst, then a rate per second. */
const PROMPT = { burst: 100, perSecond: 50 };
const DELAY_MIN_MS = 1_000;
/**
 * Clients that all waited for the same time would all come back in the same moment, again and again, and everybody else
 * would wait until they have been answered.
 */
const DELAY_SPREAD_MS = 2_000;
const MAX_DELAYED = 5_000;

/**
 * Slows down clients that answer a 429 with their next request. A refusal costs as much CPU as a CHECK, and a few
 * hundred such clients would take all of it from clients within their limits. `Retry-After` asks for a longer wait
 * anyway.
 *
 * @returns a promise that resolves when a refusal may be sent
 */
export function createRefusalPace(options: {
  now: () => number;
  /** Default: `Math.random`. */
  random?: () => number;
}): () => Promise<void> {
  const { now, random = Math.random } = options;
  let tokens = PROMPT.burst;
  let filledAtMs = now();
  let delayed = 0;
  return async () => {
    const elapsedMs = Math.max(0, now() - filledAtMs);
    tokens = Math.min(PROMPT.burst, tokens + (elapsedMs * PROMPT.perSecond) / 1000);
    filledAtMs = now();
    if (tokens >= 1) {
      tokens -= 1;
      return;
    }
    if (delayed >= MAX_DELAYED) return;
    delayed += 1;
    await new Promise((resolve) => setTimeout(resolve, DELAY_MIN_MS + random() * DELAY_SPREAD_MS));
    delayed -= 1;
  };
}
