import { createHmac } from 'node:crypto';
import type { CardRealm } from '@gateway/contracts';
import { Secret } from '@gateway/contracts';
import type { CardData } from './card-data';
import type { Key } from './keys';

/** Hex characters: 160 bits, within the 45 characters of `secure_storage_id`. */
const PAN_HASH_LENGTH = 40;

/**
 * decisions.md, section 4: a keyed hash of merchant account, card number, expiry and holder, in UUID form (36
 * characters, version 8 of RFC 9562). The same card gives the same token for the same merchant, another one for
 * another, and another one in the other realm.
 */
export function cardToken(
  tokenKey: Secret<Buffer>,
  merchantAccount: string,
  card: Secret<CardData>,
  realm: CardRealm,
): string {
  const { pan, expYear, expMonth, holder } = card.expose();
  return uuidOf(keyedHash(tokenKey, [TOKEN_KINDS[realm], merchantAccount, pan, expYear, expMonth, holder]));
}

/** Real cards keep the tokens that they had when test cards shared them. */
const TOKEN_KINDS = { real: 'card-token', test: 'test-card-token' } as const satisfies Record<CardRealm, string>;

/**
 * The token of a payout's receiver: a keyed hash of merchant account and IBAN (electronic form), in the same form. The
 * name is not part of it, because the money goes to the account.
 */
export function receiverToken(tokenKey: Secret<Buffer>, merchantAccount: string, iban: string): string {
  return uuidOf(keyedHash(tokenKey, ['receiver-token', merchantAccount, iban]));
}

const FINGERPRINT_LENGTH = 27;

/** Recognizes a value without keeping it: 27 characters (160 bits, base64url). */
export function fingerprint(hashKey: Secret<Buffer>, parts: readonly string[]): string {
  return keyedHash(hashKey, ['fingerprint', ...parts])
    .toString('base64url')
    .slice(0, FINGERPRINT_LENGTH);
}

function uuidOf(hash: Buffer): string {
  hash[6] = ((hash[6] as number) & 0x0f) | 0x80;
  hash[8] = ((hash[8] as number) & 0x3f) | 0x80;
  const hex = hash.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}

/**
 * interface.md, `secure_storage_id`: the same card number gives the same hash for the same merchant, another one for
 * another and in the other realm, so that nobody can match numbers with what another merchant got.
 */
export function storageId(
  hashKey: Secret<Buffer>,
  { merchantAccount, realm }: { merchantAccount: string; realm: CardRealm },
  card: Secret<Pick<CardData, 'pan'>>,
): string {
  const hash = keyedHash(hashKey, ['storage-id', merchantAccount, realm, card.expose().pan]);
  return hash.toString('hex').slice(0, PAN_HASH_LENGTH);
}

/** Recognizes a card number, for rules of ours. Merchants never see it. */
export function panHash(hashKey: Secret<Buffer>, card: Secret<Pick<CardData, 'pan'>>): string {
  return keyedHash(hashKey, ['pan-hash', card.expose().pan]).toString('hex').slice(0, PAN_HASH_LENGTH);
}

/**
 * The pre-shared key with which a record is sealed. Public keys are no secret: without this, whoever can write to the
 * database could put another card behind a token.
 */
export function writerKey({ id, key }: Key): Key {
  return { id, key: new Secret(keyedHash(key, ['vault-writer'])) };
}

/** Each part follows its length, so that different lists of parts never give the same bytes. */
function keyedHash(key: Secret<Buffer>, parts: readonly string[]): Buffer {
  const hmac = createHmac('sha256', key.expose());
  for (const part of parts) {
    const bytes = Buffer.from(part);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    hmac.update(length).update(bytes);
  }
  return hmac.digest();
}
