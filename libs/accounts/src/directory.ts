import { LRUCache } from 'lru-cache';
import { OverloadedError } from '@gateway/service-kit';
import type { Account } from './account';

/** decisions.md, section 8: changes take effect within 30 s everywhere. */
const CACHE_TTL_MS = 30_000;
const MAX_ENTRIES = 10_000;
const MAX_CONCURRENT_LOADS = 256;

/** Accounts by name, from a cache that is never older than its time to live. */
export interface AccountDirectory {
  /**
   * Undefined for an unknown account, which is remembered too. Throws what loading throws, and an OverloadedError when
   * too many accounts are being loaded at once.
   */
  find(merchantAccount: string): Promise<Account | undefined>;
}

export interface AccountDirectoryOptions {
  /** Reads one account from where it is kept. */
  load: (merchantAccount: string) => Promise<Account | undefined>;
  /** Epoch ms. */
  now: () => number;
  cacheTtlMs?: number;
  maxEntries?: number;
  maxConcurrentLoads?: number;
}

interface Entry {
  account: Account | undefined;
  /** When reading began: what was written after that may be missing. */
  readAtMs: number;
}

export function createAccountDirectory(options: AccountDirectoryOptions): AccountDirectory {
  const { load, now } = options;
  const cacheTtlMs = options.cacheTtlMs ?? CACHE_TTL_MS;
  const maxConcurrentLoads = options.maxConcurrentLoads ?? MAX_CONCURRENT_LOADS;
  const entries = new LRUCache<string, Entry>({ max: options.maxEntries ?? MAX_ENTRIES });
  const loads = new Map<string, Promise<Entry>>();

  async function read(merchantAccount: string): Promise<Entry> {
    const readAtMs = now();
    const entry = { account: await load(merchantAccount), readAtMs };
    entries.set(merchantAccount, entry);
    return entry;
  }

  /** Who asks while an account is being read waits for that one reading. */
  function loadOnce(merchantAccount: string): Promise<Entry> {
    const running = loads.get(merchantAccount);
    if (running !== undefined) return running;
    if (loads.size >= maxConcurrentLoads) throw new OverloadedError('too many accounts to load at once');
    const started = read(merchantAccount).finally(() => loads.delete(merchantAccount));
    loads.set(merchantAccount, started);
    return started;
  }

  const isFresh = (entry: Entry): boolean => now() - entry.readAtMs < cacheTtlMs;

  return {
    async find(merchantAccount) {
      const known = entries.get(merchantAccount);
      if (known !== undefined && isFresh(known)) return known.account;
      return (await loadOnce(merchantAccount)).account;
    },
  };
}
