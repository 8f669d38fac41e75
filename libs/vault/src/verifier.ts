import type { KeyObject } from 'node:crypto';
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { Secret } from '@gateway/contracts';
import type { Sealed } from './key-ring';
import type { Keys } from './keys';

/**
 * Tells whether a secret is the right one, and does not give it back: HMAC-SHA256 under a key for each `context`, which
 * names what the secret belongs to.
 */
export interface Verifier {
  readonly activeKeyId: string;
  make(secret: Secret, context: string): Sealed;
  /** In constant time. Throws an UnknownKeyError. */
  matches(verifier: Sealed, secret: Secret, context: string): boolean;
}

export function createVerifier(keys: Keys): Verifier {
  const activeKeyId = keys.active.id;
  const byId = new Map(keys.all.map(({ id, key }) => [id, createSecretKey(key.expose())]));

  function macOf(keyId: string, secret: Secret, context: string): Buffer {
    const key: KeyObject = byId.get(keyId) ?? createSecretKey(keys.find(keyId).expose());
    const own = createSecretKey(createHmac('sha256', key).update(`verifier\0${context}`).digest());
    return createHmac('sha256', own).update(secret.expose()).digest();
  }

  return {
    activeKeyId,
    make: (secret, context) => ({ keyId: activeKeyId, data: macOf(activeKeyId, secret, context) }),
    matches({ keyId, data }, secret, context) {
      const mac = macOf(keyId, secret, context);
      return mac.length === data.length && timingSafeEqual(mac, data);
    },
  };
}
