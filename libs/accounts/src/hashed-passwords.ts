import { createHmac, randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { LRUCache } from 'lru-cache';
import type { Secret } from '@gateway/contracts';
import { createFairSlots, OverloadedError } from '@gateway/service-kit';
import type { PasswordHasher } from './passwords';

const MAX_REMEMBERED = 10_000;
/** Leaves one core for requests, and two of libuv's four threads for name resolution and files. */
const MAX_HASHES = Math.min(2, Math.max(1, availableParallelism() - 1));
const MAX_WAITING = 64;
const MAX_PER_SOURCE = 16;
const WAIT_TIMEOUT_MS = 10_000;

/** Too many passwords wait for a hash, from this source or in total. */
export class HashesFull extends OverloadedError {}

export interface HashedPassword {
  readonly merchantAccount: string;
  readonly password: Secret;
  readonly storedHash: string;
}

/** Checks passwords against their scrypt hashes. Remembers correct ones until the stored hash changes. */
export interface HashedPasswords {
  remembers(claim: HashedPassword): boolean;
  /** Sources take turns. @throws HashesFull if the queue is full; then nothing was hashed. */
  matches(claim: HashedPassword, source: string): Promise<boolean>;
}

export function createHashedPasswords(passwords: Pick<PasswordHasher, 'matches'>): HashedPasswords {
  const processKey = randomBytes(32);
  /** By fingerprint. Only correct passwords, so that wrong ones evict none. */
  const remembered = new LRUCache<string, true>({ max: MAX_REMEMBERED });
  /** By fingerprint. Identical concurrent claims share one hash. */
  const running = new Map<string, Promise<boolean>>();
  const slots = createFairSlots({ max: MAX_HASHES, maxWaiting: MAX_WAITING, waitTimeoutMs: WAIT_TIMEOUT_MS });

  /** JSON keeps the boundary between name and password unambiguous. */
  function fingerprintOf({ merchantAccount, password, storedHash }: HashedPassword): string {
    const text = JSON.stringify([merchantAccount, password.expose(), storedHash]);
    return createHmac('sha256', processKey).update(text).digest('base64');
  }

  async function hash({ password, storedHash }: HashedPassword, source: string): Promise<boolean> {
    const slot = await slots.take(source, MAX_PER_SOURCE);
    if (typeof slot === 'string') throw new HashesFull('too many passwords to check at once');
    try {
      return await passwords.matches(storedHash, password);
    } finally {
      slot.release();
    }
  }

  return {
    remembers: (claim) => remembered.has(fingerprintOf(claim)),

    matches(claim, source) {
      const fingerprint = fingerprintOf(claim);
      const known = running.get(fingerprint);
      if (known !== undefined) return known;
      const started = hash(claim, source)
        .then((matches) => {
          if (matches) remembered.set(fingerprint, true);
          return matches;
        })
        .finally(() => running.delete(fingerprint));
      running.set(fingerprint, started);
      return started;
    },
  };
}
