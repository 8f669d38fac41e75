import { LRUCache } from 'lru-cache';
import { createTokenBuckets } from '@gateway/service-kit';

/** Failures of one source at one account: 100 at once, then 5 a second. */
const OF_PAIR = { burst: 100, perSecond: 5 };
/**
 * Failures of a known pair: an account and a source from which its right password came. Whoever else is behind that
 * address can send wrong passwords too, so the bucket is large enough for a shop and a few broken scripts beside it.
 */
const OF_KNOWN_PAIR = { burst: 500, perSecond: 50 };
/** Failures of one source at all accounts together: well above those of a misconfigured shop. */
const OF_SOURCE = { burst: 300, perSecond: 20 };
const MAX_PAIRS = 50_000;
const MAX_SOURCES = 10_000;
/** Since the last right password. Longer than any shop is closed. */
const KNOWN_FOR_MS = 30 * 86_400_000;

/**
 * Limits failed passwords by account and source (an IPv4 address or an IPv6 /64), and by source alone for those who try
 * many accounts. A right password makes the pair known. A known pair has a bucket of its own and none but that, so what
 * others do wrong behind its address, before or after, does not slow it (ADR 0080).
 */
export interface FailureThrottle {
  /** 0 if the account may be tried from this source, else the seconds until it may. */
  wait(merchantAccount: string, source: string): number;
  count(merchantAccount: string, source: string): void;
  /** Takes back a `count`. */
  giveBack(merchantAccount: string, source: string): void;
  /** Records that the right password came from this source. */
  prove(merchantAccount: string, source: string): void;
  /** Of all sources, the most accounts that one of them proved. */
  mostProvedOfASource(): number;
}

export function createFailureThrottle({ now }: { now: () => number }): FailureThrottle {
  const ofPairs = createTokenBuckets({ now, maxKeys: MAX_PAIRS });
  const ofSources = createTokenBuckets({ now, maxKeys: MAX_SOURCES });
  const ofKnownPairs = createTokenBuckets({ now, maxKeys: MAX_PAIRS });
  /** Epoch ms of the last right password. */
  const proved = new LRUCache<string, number>({ max: MAX_PAIRS });

  const isFresh = (provedAt: number | undefined): boolean => provedAt !== undefined && now() - provedAt < KNOWN_FOR_MS;
  const isKnown = (pair: string): boolean => isFresh(proved.get(pair));

  return {
    wait(merchantAccount, source) {
      const pair = pairOf(merchantAccount, source);
      if (isKnown(pair)) return ofKnownPairs.wait(pair, OF_KNOWN_PAIR);
      return Math.max(ofPairs.wait(pair, OF_PAIR), ofSources.wait(source, OF_SOURCE));
    },
    count(merchantAccount, source) {
      const pair = pairOf(merchantAccount, source);
      if (isKnown(pair)) {
        ofKnownPairs.take(pair, OF_KNOWN_PAIR);
        return;
      }
      ofPairs.take(pair, OF_PAIR);
      ofSources.take(source, OF_SOURCE);
    },
    giveBack(merchantAccount, source) {
      const pair = pairOf(merchantAccount, source);
      if (isKnown(pair)) {
        ofKnownPairs.giveBack(pair);
        return;
      }
      ofPairs.giveBack(pair);
      ofSources.giveBack(source);
    },
    prove: (merchantAccount, source) => void proved.set(pairOf(merchantAccount, source), now()),
    mostProvedOfASource() {
      const accounts = new Map<string, number>();
      let most = 0;
      for (const [pair, provedAt] of proved.entries()) {
        if (!isFresh(provedAt)) continue;
        const source = sourceOf(pair);
        const count = (accounts.get(source) ?? 0) + 1;
        accounts.set(source, count);
        most = Math.max(most, count);
      }
      return most;
    },
  };
}

/** Sources contain no spaces. */
function pairOf(merchantAccount: string, source: string): string {
  return `${source} ${merchantAccount}`;
}

function sourceOf(pair: string): string {
  return pair.slice(0, pair.indexOf(' '));
}
