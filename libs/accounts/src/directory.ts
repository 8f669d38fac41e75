import { LRUCache } from 'lru-cache';
import { OverloadedError } from '@gateway/service-kit';
import type { Account } from './account';

/** decisions.md, section 8: changes take effect within 30 s everywhere. */
const CACHE_TTL_MS = 30_000;
const MAX_ENTRIES = 10_000;
const MAX_CONCURRENT_LOADS = 256;

/** Accounts, or what belongs to them, by name, from a cache that is never older than its time to live. */
export interface AccountDirectory<Found = Account> {
  /**
   * Undefined for an unknown account, which is cached too. Throws the errors of loading, and an OverloadedError if too
   * many accounts are being loaded.
   */
  find(merchantAccount: string): Promise<Found | undefined>;
  /** Whether `find` answers from the cache. */
  remembers(merchantAccount: string): boolean;
  /** The same without the cache, for rare decisions that a change must not miss. */
  findLatest(merchantAccount: string): Promise<Found | undefined>;
}

export interface AccountDirectoryOptions<Found = Account> {
  /** Reads one account from the database. */
  load: (merchantAccount: string) => Promise<Found | undefined>;
  /** Epoch ms. */
  now: () => number;
  cacheTtlMs?: number;
  maxEntries?: number;
  maxConcurrentLoads?: number;
}

interface Entry<Found> {
  account: Found | undefined;
  /** Start of the read: it may miss later writes. */
  readAtMs: number;
}

export function createAccountDirectory<Found = Account>(
  options: AccountDirectoryOptions<Found>,
): AccountDirectory<Found> {
  const { load, now } = options;
  const cacheTtlMs = options.cacheTtlMs ?? CACHE_TTL_MS;
  const maxConcurrentLoads = options.maxConcurrentLoads ?? MAX_CONCURRENT_LOADS;
  const entries = new LRUCache<string, Entry<Found>>({ max: options.maxEntries ?? MAX_ENTRIES });
  const loads = new Map<string, Promise<Entry<Found>>>();

  async function read(merchantAccount: string): Promise<Entry<Found>> {
    const readAtMs = now();
    const entry = { account: await load(merchantAccount), readAtMs };
    entries.set(merchantAccount, entry);
    return entry;
  }

  /** Requests for an account that is being read share that read. */
  function loadOnce(merchantAccount: string): Promise<Entry<Found>> {
    const running = loads.get(merchantAccount);
    if (running !== undefined) return running;
    if (loads.size >= maxConcurrentLoads) throw new OverloadedError('too many accounts to load at once');
    const started = read(merchantAccount).finally(() => loads.delete(merchantAccount));
    loads.set(merchantAccount, started);
    return started;
  }

  function remembered(merchantAccount: string): Entry<Found> | undefined {
    const known = entries.get(merchantAccount);
    return known !== undefined && now() - known.readAtMs < cacheTtlMs ? known : undefined;
  }

  return {
    find: async (merchantAccount) => (remembered(merchantAccount) ?? (await loadOnce(merchantAccount))).account,
    remembers: (merchantAccount) => remembered(merchantAccount) !== undefined,
    // A read that is under way may have begun before the change.
    findLatest: async (merchantAccount) => (await read(merchantAccount)).account,
  };
}
