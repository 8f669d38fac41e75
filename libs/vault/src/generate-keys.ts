import { randomBytes } from 'node:crypto';
import { Secret } from '@gateway/contracts';
import { publicKeyOf } from './hpke';
import { KEY_BYTES } from './keys';

/** A new key as an entry of its setting: `id:base64`. */
export function newKey(id: string): string {
  return entry(id, randomBytes(KEY_BYTES));
}

/** A new X25519 key pair as entries of their settings. Any 32 bytes are a private key (RFC 7748, section 5). */
export function newKeyPair(id: string): { publicKey: string; privateKey: string } {
  const bytes = randomBytes(KEY_BYTES);
  return { publicKey: entry(id, publicKeyOf(new Secret(bytes)).expose()), privateKey: entry(id, bytes) };
}

/** New keys for all settings of the vault and the accounts, for tests and measurements. */
export function newVaultKeys(id = 'k1') {
  const card = newKeyPair(id);
  const cvv = newKeyPair(id);
  const signing = newKeyPair(id);
  return {
    ACCOUNT_KEYS: newKey(id),
    CARD_KEYS: card.privateKey,
    CARD_PUBLIC_KEY: card.publicKey,
    CVV_KEYS: cvv.privateKey,
    CVV_PUBLIC_KEY: cvv.publicKey,
    CARD_HASH_KEY: newKey(id),
    SIGNING_KEYS: signing.privateKey,
    SIGNING_PUBLIC_KEY: signing.publicKey,
    TOKEN_KEYS: newKey(id),
  };
}

function entry(id: string, bytes: Buffer): string {
  return `${id}:${bytes.toString('base64')}`;
}
