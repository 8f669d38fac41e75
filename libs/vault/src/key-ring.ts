import type { KeyObject } from 'node:crypto';
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { ConfigurationError } from '@gateway/service-kit';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const MAX_KEYS = 16;
const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/;

/** A ciphertext with the id of its key. `data` is iv (12 bytes), tag (16 bytes), ciphertext. */
export interface Sealed {
  readonly keyId: string;
  readonly data: Buffer;
}

/** Encryption keys by id. The first one encrypts, all of them decrypt, which allows rotation. */
export interface KeyRing {
  readonly activeKeyId: string;
  /**
   * `aad` names what the ciphertext belongs to (collection, record id, …). It must be unique per record and the same on
   * decryption.
   */
  encrypt(plaintext: Buffer | string, aad: string): Sealed;
  /** Throws {@link UnknownKeyError} or {@link DecryptionError}. */
  decrypt(sealed: Sealed, aad: string): Buffer;
}

/** The record's key is not, or no longer, in VAULT_KEYS. */
export class UnknownKeyError extends Error {
  constructor(readonly keyId: string) {
    super(`Encryption key "${keyId}" is not in VAULT_KEYS, so what was written under it cannot be read.`);
  }
}

/** The ciphertext was changed, belongs to another record, or its key id now names another key. */
export class DecryptionError extends Error {
  constructor(readonly keyId: string) {
    super(`A ciphertext under key "${keyId}" does not belong here, was changed, or was written under another key.`);
  }
}

/**
 * Reads `id:base64(32 bytes)[,id:base64(32 bytes)…]`, the active key first. Throws a ConfigurationError that lists every
 * problem by the entry's position.
 */
export function parseKeyRing(text: string): KeyRing {
  const { keyRing, problems } = readKeyRing(text);
  if (problems.length > 0) throw new ConfigurationError(`Configuration: ${problems.join('; ')}.`);
  return keyRing;
}

/** Use the ring only if there are no problems. Problems never quote an entry, because it may consist of a key alone. */
export function readKeyRing(text: string): { keyRing: KeyRing; problems: string[] } {
  const keys = new Map<string, KeyObject>();
  const entries = text.split(',').map((entry) => entry.trim());
  const problems = entries.length > MAX_KEYS ? [`VAULT_KEYS has more than ${MAX_KEYS} entries`] : [];
  entries.forEach((entry, index) => {
    const problem = addKey(keys, entry);
    if (problem !== undefined) problems.push(`VAULT_KEYS entry ${index + 1} ${problem}`);
  });
  return { keyRing: createKeyRing(keys), problems };
}

function addKey(keys: Map<string, KeyObject>, entry: string): string | undefined {
  const separator = entry.indexOf(':');
  if (separator < 0) return 'is not of the form id:base64';
  const id = entry.slice(0, separator);
  if (!KEY_ID.test(id)) return 'has an id that is not 1 to 32 letters, digits, _ or -';
  if (keys.has(id)) return `repeats the id "${id}"`;
  const key = decodeBase64(entry.slice(separator + 1));
  if (key?.length !== KEY_BYTES) return `has a key that is not the base64 of ${KEY_BYTES} bytes`;
  keys.set(id, createSecretKey(key));
  return undefined;
}

/** Undefined unless the text is the exact encoding of its bytes: Buffer.from skips invalid characters. */
export function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length > 0 && bytes.toString('base64') === text ? bytes : undefined;
}

function createKeyRing(keys: ReadonlyMap<string, KeyObject>): KeyRing {
  const activeKeyId = [...keys.keys()][0] ?? '';

  /**
   * Each record has a key of its own, derived from what it belongs to. Random 96-bit IVs are good for 2^32 messages
   * under one key (NIST SP 800-38D, 8.3); a busy gateway gets there within months.
   */
  const recordKey = (keyId: string, aad: string): Buffer => {
    const key = keys.get(keyId);
    if (key === undefined) throw new UnknownKeyError(keyId);
    return createHmac('sha256', key).update(aad).digest();
  };

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
