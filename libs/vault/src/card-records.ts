import type { CardRealm, Secret } from '@gateway/contracts';
import type { Collection } from '@gateway/mongo';
import { duplicateKeyIndex } from '@gateway/mongo';
import type { CardData } from './card-data';
import type { CardOwner } from './card-numbers';
import { writerKey } from './card-token';
import type { Opener, Sealer } from './hpke';
import type { Key, Keys } from './keys';
import { UnknownKeyError } from './keys';

const DAY_MS = 24 * 60 * 60 * 1000;
/** architecture.md, invariant 6: PANs unused for 13 months are purged (13 × 30.44 days). */
const CARD_UNUSED_SECONDS = 396 * 24 * 60 * 60;
/** Recording the use of a card is not worth two writes a day. */
const REFRESH_AFTER_MS = DAY_MS;

/** By the keys that a card is under. */
export const KEYS_INDEX = 'keys';

/** `_id` is the token. No card data is in clear. */
export interface StoredCard {
  _id: string;
  merchantAccount: string;
  /** Of CARD_KEYS. */
  keyId: string;
  /** Of TOKEN_KEYS: who holds that key wrote the record. */
  tokenKeyId: string;
  data: Buffer;
  /** Where its token is valid. Absent in records from before there were realms: in both. */
  realm?: CardRealm;
  lastUsedAt: Date;
}

/** The parts of a record that a key opens or makes. */
export type SealedCard = Pick<StoredCard, 'keyId' | 'tokenKeyId' | 'data'>;

export async function ensureCardIndexes(cards: Collection<StoredCard>): Promise<void> {
  await cards.createIndex({ lastUsedAt: 1 }, { name: 'unused', expireAfterSeconds: CARD_UNUSED_SECONDS });
  // Counts per key, and what is left to encrypt again.
  await cards.createIndex({ keyId: 1, tokenKeyId: 1 }, { name: KEYS_INDEX });
}

/** Binds a ciphertext to its record: moved to another token or merchant, it does not decrypt. */
function cardAad(token: string, merchantAccount: string): string {
  return `card\0${token}\0${merchantAccount}`;
}

export interface CardSeal {
  readonly keyId: string;
  readonly tokenKeyId: string;
  seal(token: string, merchantAccount: string, card: Secret<CardData>): Promise<SealedCard>;
}

export function createCardSeal(sealer: Sealer, tokenKey: Key): CardSeal {
  const psk = writerKey(tokenKey);
  return {
    keyId: sealer.keyId,
    tokenKeyId: tokenKey.id,
    async seal(token, merchantAccount, card) {
      const sealed = await sealer.seal(JSON.stringify(card.expose()), cardAad(token, merchantAccount), psk);
      return { ...sealed, tokenKeyId: tokenKey.id };
    },
  };
}

/** Throws UnknownKeyError or DecryptionError. */
export type OpenCard = (stored: StoredCard) => Promise<CardData>;

export function createCardOpener(opener: Opener, tokenKeys: Keys): OpenCard {
  const psks = new Map(tokenKeys.all.map((key) => [key.id, writerKey(key)]));
  return async (stored) => {
    const psk = psks.get(stored.tokenKeyId);
    if (psk === undefined) throw new UnknownKeyError(tokenKeys.setting, stored.tokenKeyId);
    const plaintext = await opener.open(stored, cardAad(stored._id, stored.merchantAccount), psk);
    return JSON.parse(plaintext.toString('utf8')) as CardData;
  };
}

export interface CardRecords {
  /**
   * True when a use is to be recorded. Only then a card moves to the active keys: during a rotation replicas differ in
   * which keys are active, and would undo each other's encryption with every use.
   */
  isStale(stored: Pick<StoredCard, 'lastUsedAt'>): boolean;
  /** First write, record of use and encryption under the active keys are the same update. */
  write(token: string, merchantAccount: string, card: Secret<CardData>): Promise<void>;
  /** The same for a card that is new. */
  writeNew(token: string, owner: CardOwner, card: Secret<CardData>): Promise<void>;
}

export function createCardRecords(cards: Collection<StoredCard>, seal: CardSeal, now: () => number): CardRecords {
  async function updateOf(token: string, merchantAccount: string, card: Secret<CardData>) {
    const sealed = await seal.seal(token, merchantAccount, card);
    return { $set: { ...sealed, merchantAccount }, $max: { lastUsedAt: new Date(now()) } };
  }

  return {
    isStale: ({ lastUsedAt }) => lastUsedAt.getTime() <= now() - REFRESH_AFTER_MS,

    async write(token, merchantAccount, card) {
      await cards.updateOne({ _id: token }, await updateOf(token, merchantAccount, card));
    },

    async writeNew(token, { merchantAccount, realm }, card) {
      const update = { ...(await updateOf(token, merchantAccount, card)), $setOnInsert: { realm } };
      try {
        await cards.updateOne({ _id: token }, update, { upsert: true });
      } catch (error) {
        // Another request stored the same card at the same moment; its record is just as good.
        if (duplicateKeyIndex(error) === undefined) throw error;
      }
    },
  };
}
