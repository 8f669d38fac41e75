import type { webcrypto } from 'node:crypto';
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  decapsulate,
  encapsulate,
  KeyObject,
} from 'node:crypto';
import { Aes256Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core';
import { Secret } from '@gateway/contracts';
import type { Sealed } from './key-ring';
import { DecryptionError } from './key-ring';
import type { Key, Keys } from './keys';
import { UnknownKeyError } from './keys';

/**
 * Public-key encryption: RFC 9180 with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and AES-256-GCM, in PSK mode. Only the
 * private key opens a ciphertext, and only who holds the pre-shared key can write one that opens.
 *
 * The key schedule is the library's. Its primitives would each visit Web Crypto's thread pool, about 20 times per
 * message; these call OpenSSL directly, at a third of the cost (ADR 0040).
 */

type Bytes = ArrayBufferLike | ArrayBufferView;

const ENCAPSULATED_BYTES = 32;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';
/** PKCS#8 of an X25519 private key (RFC 8410), without the key itself. */
const PKCS8_X25519 = Buffer.from('302e020100300506032b656e04220420', 'hex');

class Kem extends DhkemX25519HkdfSha256 {
  override async encap({ recipientPublicKey }: Parameters<DhkemX25519HkdfSha256['encap']>[0]) {
    const { sharedKey, ciphertext } = encapsulate(KeyObject.from(recipientPublicKey as webcrypto.CryptoKey));
    return { sharedSecret: arrayOf(sharedKey), enc: arrayOf(ciphertext) };
  }

  override async decap({ recipientKey, enc }: Parameters<DhkemX25519HkdfSha256['decap']>[0]) {
    return arrayOf(decapsulate(KeyObject.from(recipientKey as webcrypto.CryptoKey), bufferOf(enc)));
  }
}

class Kdf extends HkdfSha256 {
  override async extract(salt: Bytes, material: Bytes): Promise<ArrayBuffer> {
    return arrayOf(hmac(salt, bufferOf(material)));
  }

  /** HKDF-Expand (RFC 5869) with a single block. The suite never asks for more. */
  override async extractAndExpand(salt: Bytes, material: Bytes, info: Bytes, length: number): Promise<ArrayBuffer> {
    if (length > this.hashSize) return super.extractAndExpand(salt, material, info, length);
    return arrayOf(hmac(hmac(salt, bufferOf(material)), bufferOf(info), Buffer.of(1)).subarray(0, length));
  }
}

class Aead extends Aes256Gcm {
  override createEncryptionContext(rawKey: Bytes) {
    const key = secretKeyOf(rawKey);
    return {
      async seal(iv: Bytes, plaintext: Bytes, aad: Bytes): Promise<ArrayBuffer> {
        const cipher = createCipheriv(CIPHER, key, bufferOf(iv), { authTagLength: TAG_BYTES });
        cipher.setAAD(bufferOf(aad));
        return arrayOf(Buffer.concat([cipher.update(bufferOf(plaintext)), cipher.final(), cipher.getAuthTag()]));
      },
      async open(iv: Bytes, sealed: Bytes, aad: Bytes): Promise<ArrayBuffer> {
        const bytes = bufferOf(sealed);
        const decipher = createDecipheriv(CIPHER, key, bufferOf(iv), { authTagLength: TAG_BYTES });
        decipher.setAAD(bufferOf(aad));
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
        return arrayOf(Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]));
      },
    };
  }
}

function hmac(key: Bytes, ...parts: readonly Buffer[]): Buffer {
  const hash = createHmac('sha256', secretKeyOf(key));
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** Node throws and catches two errors to find out that a buffer is no KeyObject, which takes longer than a hash. */
function secretKeyOf(bytes: Bytes): KeyObject {
  return createSecretKey(bufferOf(bytes));
}

function bufferOf(bytes: Bytes): Buffer {
  return ArrayBuffer.isView(bytes)
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : Buffer.from(bytes as ArrayBuffer);
}

function arrayOf(buffer: Buffer): ArrayBuffer {
  return new Uint8Array(buffer).buffer;
}

const suite = new CipherSuite({ kem: new Kem(), kdf: new Kdf(), aead: new Aead() });

/** What a ciphertext is for. Never opens as another. */
export type Purpose = 'card' | 'cvv' | 'signing';

/** Encrypts for the holder of a private key, and cannot decrypt. */
export interface Sealer {
  readonly keyId: string;
  /** `aad` names what the ciphertext belongs to, and must be the same when it is opened. Whoever opens it must name the same `psk`. */
  seal(plaintext: string, aad: string, psk: Key): Promise<Sealed>;
}

export interface Opener {
  /** Seals for the active key. */
  readonly sealer: Sealer;
  /** Throws UnknownKeyError or {@link DecryptionError}, also if it was sealed with another pre-shared key. */
  open(sealed: Sealed, aad: string, psk: Key): Promise<Buffer>;
}

/** `publicKey`: 32 bytes. `data` of what it seals is the encapsulated key (32 bytes), ciphertext, tag (16). */
export function createSealer(publicKey: Key, purpose: Purpose): Sealer {
  const recipient = suite.kem.deserializePublicKey(publicKey.key.expose()) as Promise<webcrypto.CryptoKey>;
  recipient.catch(() => undefined); // reported by `seal`
  return {
    keyId: publicKey.id,
    async seal(plaintext, aad, psk) {
      const context = await suite.createSenderContext({
        recipientPublicKey: await recipient,
        ...schedule(purpose, psk),
      });
      const ciphertext = await context.seal(Buffer.from(plaintext), Buffer.from(aad));
      return { keyId: publicKey.id, data: Buffer.concat([Buffer.from(context.enc), Buffer.from(ciphertext)]) };
    },
  };
}

export function createOpener(privateKeys: Keys, purpose: Purpose): Opener {
  const importKey = (key: Secret<Buffer>) =>
    suite.kem.deserializePrivateKey(key.expose()) as Promise<webcrypto.CryptoKey>;
  const imported = new Map(privateKeys.all.map(({ id, key }) => [id, importKey(key)] as const));
  const { active } = privateKeys;
  return {
    sealer: createSealer({ id: active.id, key: publicKeyOf(active.key) }, purpose),
    async open({ keyId, data }, aad, psk) {
      const recipient = imported.get(keyId);
      if (recipient === undefined) throw new UnknownKeyError(privateKeys.setting, keyId);
      const recipientKey = await recipient;
      try {
        const enc = data.subarray(0, ENCAPSULATED_BYTES);
        const context = await suite.createRecipientContext({ recipientKey, enc, ...schedule(purpose, psk) });
        return Buffer.from(await context.open(data.subarray(ENCAPSULATED_BYTES), Buffer.from(aad)));
      } catch {
        throw new DecryptionError(keyId);
      }
    },
  };
}

function schedule(purpose: Purpose, psk: Key) {
  return { info: Buffer.from(`payment gateway ${purpose}`), psk: { id: Buffer.from(psk.id), key: psk.key.expose() } };
}

/** The public half of an X25519 private key, 32 bytes each. */
export function publicKeyOf(privateKey: Secret<Buffer>): Secret<Buffer> {
  const der = Buffer.concat([PKCS8_X25519, privateKey.expose()]);
  const { x } = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })).export({ format: 'jwk' });
  return new Secret(Buffer.from(x as string, 'base64url'));
}
