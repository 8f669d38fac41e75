import type { KeyObject } from 'node:crypto';
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { Secret } from '@gateway/contracts';
import type { Sealed } from './key-ring';
import type { Keys } from './keys';

/**
 * Tells whether a secret is the right one, and does not give it back: HMAC-SHA256 under a key for each context, which
 * names what the secret belongs to.
 */
export interface Verifier {
  /**
   * Makes verifiers of secrets in a context, whose key is derived once. Throws an UnknownKeyError.
   *
   * @param keyId the active key's by default
   */
  of(context: string, keyId?: string): (secret: Secret) => Sealed;
}

export function createVerifier(keys: Keys): Verifier {
  const byId = new Map(keys.all.map(({ id, key }) => [id, createSecretKey(key.expose())]));

  return {
    of(context, keyId = keys.active.id) {
      const key: KeyObject = byId.get(keyId) ?? createSecretKey(keys.find(keyId).expose());
      const own = createSecretKey(createHmac('sha256', key).update(`verifier\0${context}`).digest());
      return (secret) => ({ keyId, data: createHmac('sha256', own).update(secret.expose()).digest() });
    },
  };
}

/** In constant time. */
export function isSameVerifier(one: Sealed, other: Sealed): boolean {
  return one.keyId === other.keyId && one.data.length === other.data.length && timingSafeEqual(one.data, other.data);
}
