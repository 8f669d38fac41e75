import type { Sealed, SealedSecret } from '@gateway/vault';

/**
 * A secret in the database: sealed for callback-dispatcher, or, from a release before ADR 0079 and without
 * `writerKeyId`, encrypted under ACCOUNT_KEYS, which api-edge has, too.
 */
export type StoredSecret = Sealed & Partial<Pick<SealedSecret, 'writerKeyId'>>;

export function isSealed(stored: StoredSecret): stored is SealedSecret {
  return stored.writerKeyId !== undefined;
}
