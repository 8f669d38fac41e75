import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { Secret, sourceKey } from '@gateway/service-kit';
import type { Account } from './account';
import { MAX_CREDENTIAL_LENGTH, MIN_CREDENTIAL_LENGTH } from './account';

import type { AccountDirectory } from './directory';
import { createHashPool, HashPoolFull } from './hash-pool';
import type { PasswordHasher } from './passwords';
import { createTokenBuckets } from './token-buckets';

const MAX_REMEMBERED = 10_000;
/** Hashing runs on libuv's four threads; two stay free for name resolution and files. */
const HASH_CONCURRENCY = 2;
const MAX_QUEUED_HASHES = 64;
const FULL_POOL_RETRY_SECONDS = 1;
/** Failures of one source: 100 at once, then 5 a second. */
const FAILURES = { burst: 100, perSecond: 5 };
const MAX_SOURCES = 10_000;

/** What a request carries, unchecked, and the address that it came from. */
export interface CredentialAttempt {
  readonly merchantAccount: unknown;
  readonly password: unknown;
  readonly source: string;
}

export type CredentialVerdict =
  /** The account may still be suspended or closed: that is told only to who knows its password. */
  | { readonly kind: 'ok'; readonly account: Account }
  /** Unknown account, wrong password, malformed credential: 2001, indistinguishable by message and by time. */
  | { readonly kind: 'refused' }
  /** Too many failures from this source, or too many passwords to check: nothing was checked. */
  | { readonly kind: 'throttled'; readonly retryAfterSeconds: number };

export interface CredentialCheck {
  /** Throws what the directory throws when the database is away. */
  verify(attempt: CredentialAttempt): Promise<CredentialVerdict>;
}

export interface CredentialCheckOptions {
  directory: AccountDirectory;
  passwords: Pick<PasswordHasher, 'matches' | 'dummyHash'>;
  /** Epoch ms. */
  now: () => number;
}

interface Credential {
  readonly merchantAccount: string;
  readonly password: Secret;
  /** Keyed by a key of this process: says nothing to anyone else. */
  readonly fingerprint: string;
}

/**
 * Checks merchants' passwords. A credential that was right before, and whose stored hash is the same, costs no hash;
 * everything else costs exactly one, of the same parameters, whether the account exists or not.
 */
export function createCredentialCheck(options: CredentialCheckOptions): CredentialCheck {
  const { directory, passwords, now } = options;
  const processKey = randomBytes(32);
  /** The stored hash that a credential was right by. Only right ones are in it, so that wrong ones push none out. */
  const remembered = new LRUCache<string, string>({ max: MAX_REMEMBERED });
  /** Bounded by the pool and by the directory's loads. */
  const checks = new Map<string, Promise<CredentialVerdict>>();
  const pool = createHashPool({ concurrency: HASH_CONCURRENCY, maxQueued: MAX_QUEUED_HASHES });
  const failures = createTokenBuckets({ now, maxKeys: MAX_SOURCES });

  function readCredential({ merchantAccount, password }: CredentialAttempt): Credential | undefined {
    if (!isWellFormed(merchantAccount) || !isWellFormed(password)) return undefined;
    // As JSON no character of a name can be taken for the end of it.
    const fingerprint = createHmac('sha256', processKey).update(JSON.stringify([merchantAccount, password]));
    return { merchantAccount, password: new Secret(password), fingerprint: fingerprint.digest('base64') };
  }

  /** A password that was rotated since has another stored hash, so that the old one is not remembered any more. */
  async function recall(credential: Credential): Promise<Account | undefined> {
    const storedHash = remembered.get(credential.fingerprint);
    if (storedHash === undefined) return undefined;
    const account = await directory.find(credential.merchantAccount);
    return account?.credentials.expose().passwordHash === storedHash ? account : undefined;
  }

  async function check(credential: Credential): Promise<CredentialVerdict> {
    const account = await directory.find(credential.merchantAccount);
    const storedHash = account?.credentials.expose().passwordHash ?? passwords.dummyHash;
    const matches = await pool.run(() => passwords.matches(storedHash, credential.password));
    if (account === undefined || !matches) return { kind: 'refused' };
    remembered.set(credential.fingerprint, storedHash);
    return { kind: 'ok', account };
  }

  /** Takes as long as a check does. */
  async function refuseMalformed(): Promise<CredentialVerdict> {
    await pool.run(() => passwords.matches(passwords.dummyHash, new Secret('')));
    return { kind: 'refused' };
  }

  /** The token is taken before the hash, so that attempts in parallel cannot get round the limit. */
  async function givingBackUnlessRefused(
    source: string,
    checking: () => Promise<CredentialVerdict>,
  ): Promise<CredentialVerdict> {
    let verdict: CredentialVerdict | undefined;
    try {
      verdict = await checking();
    } catch (error) {
      if (!(error instanceof HashPoolFull)) throw error;
      verdict = { kind: 'throttled', retryAfterSeconds: FULL_POOL_RETRY_SECONDS };
    } finally {
      if (verdict?.kind !== 'refused') failures.giveBack(source);
    }
    return verdict;
  }

  return {
    async verify(attempt) {
      const credential = readCredential(attempt);
      const known = credential && (await recall(credential));
      if (known !== undefined) return { kind: 'ok', account: known };

      // Identical attempts that arrive together share one hash, and one token: they learn no more than one of them.
      const running = credential && checks.get(credential.fingerprint);
      if (running !== undefined) return running;

      const source = sourceKey(attempt.source);
      const retryAfterSeconds = failures.take(source, FAILURES);
      if (retryAfterSeconds > 0) return { kind: 'throttled', retryAfterSeconds };
      if (credential === undefined) return givingBackUnlessRefused(source, refuseMalformed);
      const { fingerprint } = credential;
      const started = givingBackUnlessRefused(source, () => check(credential)).finally(() =>
        checks.delete(fingerprint),
      );
      checks.set(fingerprint, started);
      return started;
    },
  };
}

function isWellFormed(value: unknown): value is string {
  return typeof value === 'string' && value.length >= MIN_CREDENTIAL_LENGTH && value.length <= MAX_CREDENTIAL_LENGTH;
}
