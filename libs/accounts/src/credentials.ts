import { Secret } from '@gateway/contracts';
import { createFairSlots, sourceKey } from '@gateway/service-kit';
import type { Account } from './account';
import { MAX_CREDENTIAL_LENGTH, MIN_CREDENTIAL_LENGTH } from './account';
import type { AccountDirectory } from './directory';
import { createHashedPasswords, HashesFull } from './hashed-passwords';
import type { PasswordHasher } from './passwords';
import type { PasswordCheck } from './signing';
import type { FailureThrottle } from './failure-throttle';
import { createFailureThrottle } from './failure-throttle';

/** Less than the directory's concurrent reads, so that unknown names cannot block other reads. */
const LOOK_UPS = { max: 128, maxWaiting: 2_000, waitTimeoutMs: 5_000 };
const MAX_LOOK_UPS_PER_SOURCE = 1_000;
const FULL_RETRY_SECONDS = 1;

/** The unchecked credentials of a request, and its source address. */
export interface CredentialAttempt {
  readonly merchantAccount: unknown;
  readonly password: unknown;
  readonly source: string;
}

export type CredentialVerdict =
  /** The account may still be suspended or closed; only a caller with the right password learns that. */
  | { readonly kind: 'ok'; readonly account: Account }
  /** Unknown account, wrong password, malformed credential: 2001, indistinguishable by message and by time. */
  | { readonly kind: 'refused' }
  /** Too many failures from this source, or too many checks at once. The password may be right or wrong. */
  | { readonly kind: 'throttled'; readonly retryAfterSeconds: number };

export interface CredentialCheck {
  /** Throws the directory's errors when the database is away. */
  verify(attempt: CredentialAttempt): Promise<CredentialVerdict>;
  /**
   * How many accounts sent their right password from the source that most of them share, among those remembered. If it
   * is high, sources are a proxy's address rather than the merchants', and merchants share their failures.
   */
  mostAccountsOfASource(): number;
}

export interface CredentialCheckOptions {
  directory: AccountDirectory;
  /** Takes as long without an account. */
  matchesPassword: PasswordCheck;
  passwords: Pick<PasswordHasher, 'matches'>;
  /** Epoch ms. */
  now: () => number;
}

interface Credential {
  readonly merchantAccount: string;
  readonly password: Secret;
}

/**
 * Checks merchants' passwords against keyed verifiers (ADR 0079). A check needs no hash, so guessers do not delay others.
 * The hash decides only if a verifier's key is gone.
 */
export function createCredentialCheck(options: CredentialCheckOptions): CredentialCheck {
  const { directory, matchesPassword, now } = options;
  const lookUps = createFairSlots(LOOK_UPS);
  const hashed = createHashedPasswords(options.passwords);
  const failures: FailureThrottle = createFailureThrottle({ now });

  /** Sources take turns: one that asks for unknown names only delays itself. */
  async function find(
    merchantAccount: string,
    source: string,
    how: 'find' | 'findLatest' = 'find',
  ): Promise<Account | undefined | 'crowded'> {
    const slot = await lookUps.take(source, MAX_LOOK_UPS_PER_SOURCE);
    if (typeof slot === 'string') return 'crowded';
    try {
      return await directory[how](merchantAccount);
    } finally {
      slot.release();
    }
  }

  /** Counts the failure before hashing, so that parallel attempts cannot evade the limit. */
  async function checkByHash(account: Account, { password }: Credential, source: string): Promise<CredentialVerdict> {
    const { merchantAccount, credentials } = account;
    const claim = { merchantAccount, password, storedHash: credentials.expose().passwordHash };
    const proved = (): CredentialVerdict => {
      failures.prove(merchantAccount, source);
      return { kind: 'ok', account };
    };
    if (hashed.remembers(claim)) return proved();
    failures.count(merchantAccount, source);
    let isCounted = false;
    try {
      isCounted = !(await hashed.matches(claim, source));
    } catch (error) {
      if (!(error instanceof HashesFull)) throw error;
      return { kind: 'throttled', retryAfterSeconds: FULL_RETRY_SECONDS };
    } finally {
      if (!isCounted) failures.giveBack(merchantAccount, source);
    }
    return isCounted ? { kind: 'refused' } : proved();
  }

  /**
   * A refusal from the cache takes a read too, like that of a name that is not in it: else its time tells which accounts
   * are in use. A password that was changed a moment ago is right at once.
   */
  async function checkLatest(credential: Credential, source: string): Promise<CredentialVerdict> {
    const { merchantAccount } = credential;
    const latest = await find(merchantAccount, source, 'findLatest');
    if (latest === 'crowded') return { kind: 'refused' };
    const isRight = matchesPassword(latest, credential.password);
    if (latest === undefined || isRight !== true) return { kind: 'refused' };
    failures.giveBack(merchantAccount, source);
    failures.prove(merchantAccount, source);
    return { kind: 'ok', account: latest };
  }

  return {
    async verify(attempt) {
      const source = sourceKey(attempt.source);
      const credential = readCredential(attempt);
      const isRemembered = credential !== undefined && directory.remembers(credential.merchantAccount);
      const account = credential && (await find(credential.merchantAccount, source));
      if (account === 'crowded') return { kind: 'throttled', retryAfterSeconds: FULL_RETRY_SECONDS };
      // All malformed names share one count: there are too many of them.
      const name = credential?.merchantAccount ?? '';
      // Before the password is looked at, so that a throttled guesser does not learn when it is right.
      const retryAfterSeconds = failures.wait(name, source);
      if (retryAfterSeconds > 0) return { kind: 'throttled', retryAfterSeconds };
      const isRight = matchesPassword(account, credential?.password ?? NO_PASSWORD);
      if (account !== undefined && credential !== undefined && isRight === undefined) {
        return checkByHash(account, credential, source);
      }
      if (account !== undefined && isRight === true) {
        failures.prove(name, source);
        return { kind: 'ok', account };
      }
      // Before the next read, so that parallel attempts cannot evade the limit.
      failures.count(name, source);
      return isRemembered ? checkLatest(credential, source) : { kind: 'refused' };
    },
    mostAccountsOfASource: () => failures.mostProvedOfASource(),
  };
}

const NO_PASSWORD = new Secret('');

function readCredential({ merchantAccount, password }: CredentialAttempt): Credential | undefined {
  if (!isWellFormed(merchantAccount) || !isWellFormed(password)) return undefined;
  return { merchantAccount, password: new Secret(password) };
}

function isWellFormed(value: unknown): value is string {
  return typeof value === 'string' && value.length >= MIN_CREDENTIAL_LENGTH && value.length <= MAX_CREDENTIAL_LENGTH;
}
