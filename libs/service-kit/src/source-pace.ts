import { sourceKey } from './address-range';
import { createTokenBuckets } from './token-buckets';

/**
 * Many cardholders share the address of a mobile network or an office, and each needs about five requests in a minute
 * to pay. 50 a second let 500 of them pay at once; the burst is for a sale that begins. A page takes a
 * millisecond, so one source gets a twentieth of a core.
 */
export const STRANGERS = { burst: 200, perSecond: 50 };
/** Longer waits would only hold connections. */
export const PACE_WAIT_MAX_MS = 2_000;
const MAX_SOURCES = 10_000;

/**
 * One pace for all work of a source (an IPv4 address or an IPv6 /64) that nobody has authenticated: pages, unknown
 * addresses, refused logins and signatures. Merchants with the right password take none of it.
 */
export interface SourcePace {
  /**
   * Resolves when it is the turn of a piece of work. False if it never will be, after {@link PACE_WAIT_MAX_MS}: a client
   * that answers a refusal with its next request must not take the others' CPU.
   *
   * @param address the client's
   */
  take(address: string): Promise<boolean>;
}

export function createSourcePace({ now }: { now: () => number }): SourcePace {
  const sources = createTokenBuckets({ now, maxKeys: MAX_SOURCES });
  return {
    async take(address) {
      const waitMs = sources.reserve(sourceKey(address), STRANGERS, PACE_WAIT_MAX_MS);
      // One request of a connection waits at a time, so the limit of connections bounds them.
      if (waitMs !== 0) await new Promise((resolve) => setTimeout(resolve, waitMs ?? PACE_WAIT_MAX_MS));
      return waitMs !== undefined;
    },
  };
}
