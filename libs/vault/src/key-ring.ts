import type { KeyObject } from 'node:crypto';
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, randomBytes } from 'node:crypto';
import type { Keys } from './keys';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** A ciphertext with the id of its key. */
export interface Sealed {
  readonly keyId: string;
  readonly data: Buffer;
}

/** Symmetric encryption under keys by id. `data` is iv (12 bytes), tag (16 bytes), ciphertext. */
export interface KeyRing {
  readonly activeKeyId: string;
  /**
   * `aad` names what the ciphertext belongs to (collection, record id, …). It must be unique per record and the same on
   * decryption.
   */
  encrypt(plaintext: Buffer | string, aad: string): Sealed;
  /** Throws UnknownKeyError or {@link DecryptionError}. */
  decrypt(sealed: Sealed, aad: string): Buffer;
}

/** The ciphertext was changed, belongs to another record, or its key id now names another key. */
export class DecryptionError extends Error {
  constructor(readonly keyId: string) {
    super(`A ciphertext under key "${keyId}" does not belong here, was changed, or was written under another key.`);
  }
}

export function createKeyRing(keys: Keys): KeyRing {
  const activeKeyId = keys.active.id;
  const byId = new Map(keys.all.map(({ id, key }) => [id, createSecretKey(key.expose())]));

  /**
   * Each record has a key of its own, derived from what it belongs to. Random 96-bit IVs are good for 2^32 messages
   * under one key (NIST SP 800-38D, 8.3); a busy gateway gets there within months. A KeyObject, because buffers are slow
   * keys (ADR 0058).
   */
  const recordKey = (keyId: string, aad: string): KeyObject =>
    createSecretKey(
      createHmac('sha256', byId.get(keyId) ?? keys.find(keyId).expose())
        .update(aad)
        .digest(),
    );

  return {
    activeKeyId,

    encrypt(plaintext, aad) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(CIPHER, recordKey(activeKeyId, aad), iv, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(aad));
      const ciphertext = Buffer.concat([cipher.update(Buffer.from(plaintext)), cipher.final()]);
      return { keyId: activeKeyId, data: Buffer.concat([iv, cipher.getAuthTag(), ciphertext]) };
    },

    decrypt({ keyId, data }, aad) {
      const key = recordKey(keyId, aad);
      if (data.length < IV_BYTES + TAG_BYTES) throw new DecryptionError(keyId);
      const decipher = createDecipheriv(CIPHER, key, data.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(aad));
      decipher.setAuthTag(data.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      try {
        return Buffer.concat([decipher.update(data.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
      } catch {
        throw new DecryptionError(keyId);
      }
    },
  };
}
