import { LRUCache } from 'lru-cache';
import { createTokenBuckets } from './token-buckets';

/** Failures of one source at one account: 100 at once, then 5 a second. */
const OF_ACCOUNT = { burst: 100, perSecond: 5 };
/** Failures of one source at all accounts together: well above those of a misconfigured shop. */
const OF_SOURCE = { burst: 300, perSecond: 20 };
const MAX_PAIRS = 50_000;
const MAX_SOURCES = 10_000;

/**
 * Limits failed passwords by account and source (an IPv4 address or an IPv6 /64), and by source alone for those who try
 * many accounts. A shop that sent its right password from a source is exempt from that source's second limit, so
 * neighbours behind one address do not lock each other out (ADR 0008).
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
  const ofAccounts = createTokenBuckets({ now, maxKeys: MAX_PAIRS });
  const ofSources = createTokenBuckets({ now, maxKeys: MAX_SOURCES });
  const proved = new LRUCache<string, true>({ max: MAX_PAIRS });

  return {
    wait(merchantAccount, source) {
      const pair = pairOf(merchantAccount, source);
      const seconds = ofAccounts.wait(pair, OF_ACCOUNT);
      return proved.get(pair) === true ? seconds : Math.max(seconds, ofSources.wait(source, OF_SOURCE));
    },
    count(merchantAccount, source) {
      ofAccounts.take(pairOf(merchantAccount, source), OF_ACCOUNT);
      ofSources.take(source, OF_SOURCE);
    },
    giveBack(merchantAccount, source) {
      ofAccounts.giveBack(pairOf(merchantAccount, source));
      ofSources.giveBack(source);
    },
    prove: (merchantAccount, source) => void proved.set(pairOf(merchantAccount, source), true),
    mostProvedOfASource() {
      const accounts = new Map<string, number>();
      let most = 0;
      for (const pair of proved.keys()) {
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
