import { Secret } from '@gateway/contracts';
import type { Collection } from '@gateway/mongo';
import { createGroupFind, duplicateKeyIndex, retryableWhenTransient } from '@gateway/mongo';
import type { Logger } from '@gateway/service-kit';
import { messageOf } from '@gateway/service-kit';
import type { CardData } from './card-data';
import { cardToken, fingerprint, panHash, receiverToken } from './card-token';
import type { KeyRing, Sealed } from './key-ring';

const DAY_MS = 24 * 60 * 60 * 1000;
/** architecture.md, invariant 6: PANs unused for 13 months are purged (13 × 30.44 days). */
const CARD_UNUSED_SECONDS = 396 * 24 * 60 * 60;
/** architecture.md, invariant 6: a CVV is never older than 20 minutes. */
const CVV_LIFETIME_SECONDS = 20 * 60;
/** Recording the use of a card is not worth two writes a day. */
const REFRESH_AFTER_MS = DAY_MS;
const MAX_BACKGROUND_REFRESHES = 64;

/** `_id` is the token. No card data is in clear. */
export interface StoredCard {
  _id: string;
  merchantAccount: string;
  keyId: string;
  data: Buffer;
  lastUsedAt: Date;
}

/** `_id` is the reference of the operation that the CVV came with. */
export interface StoredCvv {
  _id: string;
  keyId: string;
  data: Buffer;
  storedAt: Date;
}

/** The only place that holds card data. Every call throws a RetryableError when the database is away. */
export interface CardVault {
  ensureIndexes(): Promise<void>;
  /** Stores the card if it is new, and returns its token (36 characters) for this merchant. */
  putCard(merchantAccount: string, card: Secret<CardData>): Promise<string>;
  /** Undefined for a token that is unknown, purged or another merchant's; callers cannot distinguish these cases. */
  getCard(merchantAccount: string, token: string): Promise<Secret<CardData> | undefined>;
  /**
   * Stores the CVV for one {@link CardVault.takeCvv} within 20 minutes. A second one for a reference replaces the
   * first.
   */
  putCvv(reference: string, cvv: Secret): Promise<void>;
  /** Returns the CVV once and deletes it. Undefined if there is none, or if it is older than 20 minutes. */
  takeCvv(reference: string): Promise<Secret | undefined>;
  dropCvv(reference: string): Promise<void>;
  /** 40 hex characters for `secure_storage_id`; the same for every merchant. */
  panHash(card: Secret<Pick<CardData, 'pan'>>): string;
  /** The token (36 characters) of a payout's receiver at this merchant. Nothing is stored. */
  receiverToken(merchantAccount: string, iban: string): string;
  /** A keyed hash (27 characters) that recognizes personal data without keeping it. */
  fingerprint(parts: readonly string[]): string;
  /** Waits for pending writes that record the use of cards. */
  drain(): Promise<void>;
}

export interface CardVaultOptions {
  cards: Collection<StoredCard>;
  cvvs: Collection<StoredCvv>;
  keyRing: KeyRing;
  /** At least 32 bytes. Outlives every encryption key: another key gives the same card another token. */
  tokenKey: Secret<Buffer>;
  /** Epoch ms. */
  now: () => number;
  logger?: Logger;
}

export function createCardVault(options: CardVaultOptions): CardVault {
  const { cards, cvvs, keyRing, tokenKey, now } = options;
  const refreshes = new Set<Promise<void>>();
  const findCard = createGroupFind(cards, { promoteBuffers: true });

  const needsRefresh = (stored: Pick<StoredCard, 'lastUsedAt' | 'keyId'>): boolean =>
    stored.lastUsedAt.getTime() <= now() - REFRESH_AFTER_MS || stored.keyId !== keyRing.activeKeyId;

  /** First write, record of use and re-encryption under the active key are the same update. */
  async function writeCard(
    token: string,
    merchantAccount: string,
    card: Secret<CardData>,
    upsert: boolean,
  ): Promise<void> {
    const sealed = keyRing.encrypt(JSON.stringify(card.expose()), cardAad(token, merchantAccount));
    const update = { $set: { ...sealed, merchantAccount }, $max: { lastUsedAt: new Date(now()) } };
    try {
      await cards.updateOne({ _id: token }, update, { upsert });
    } catch (error) {
      // Another request stored the same card at the same moment; its record is just as good.
      if (duplicateKeyIndex(error) === undefined) throw error;
    }
  }

  /** The request does not wait for this. If it fails, the next use repeats it. */
  function refreshInBackground(token: string, merchantAccount: string, card: Secret<CardData>): void {
    if (refreshes.size >= MAX_BACKGROUND_REFRESHES) return;
    const refresh = writeCard(token, merchantAccount, card, false)
      .catch((error: unknown) =>
        options.logger?.warn('a card was not marked as used; the next use does it', { reason: messageOf(error) }),
      )
      .finally(() => refreshes.delete(refresh));
    refreshes.add(refresh);
  }

  async function putCard(merchantAccount: string, card: Secret<CardData>): Promise<string> {
    const token = cardToken(tokenKey, merchantAccount, card);
    const stored = await findCard(token);
    if (stored === undefined || needsRefresh(stored)) await writeCard(token, merchantAccount, card, true);
    return token;
  }

  async function getCard(merchantAccount: string, token: string): Promise<Secret<CardData> | undefined> {
    const stored = await findCard(token);
    if (stored?.merchantAccount !== merchantAccount) return undefined;
    const card = new Secret(JSON.parse(open(keyRing, stored, cardAad(token, merchantAccount))) as CardData);
    if (needsRefresh(stored)) refreshInBackground(token, merchantAccount, card);
    return card;
  }

  async function putCvv(reference: string, cvv: Secret): Promise<void> {
    const storedAt = new Date(now());
    const sealed = keyRing.encrypt(cvv.expose(), cvvAad(reference, storedAt));
    await cvvs.replaceOne({ _id: reference }, { ...sealed, storedAt }, { upsert: true });
  }

  async function takeCvv(reference: string): Promise<Secret | undefined> {
    const stored = await cvvs.findOneAndDelete({ _id: reference }, { promoteBuffers: true });
    if (stored === null) return undefined;
    // The TTL index may lag by minutes, so check the age here.
    if (now() - stored.storedAt.getTime() > CVV_LIFETIME_SECONDS * 1000) return undefined;
    return new Secret(open(keyRing, stored, cvvAad(reference, stored.storedAt)));
  }

  return {
    async ensureIndexes() {
      await cards.createIndex({ lastUsedAt: 1 }, { name: 'unused', expireAfterSeconds: CARD_UNUSED_SECONDS });
      await cvvs.createIndex({ storedAt: 1 }, { name: 'old', expireAfterSeconds: CVV_LIFETIME_SECONDS });
    },
    putCard: (merchantAccount, card) => retryableWhenTransient(() => putCard(merchantAccount, card)),
    getCard: (merchantAccount, token) => retryableWhenTransient(() => getCard(merchantAccount, token)),
    putCvv: (reference, cvv) => retryableWhenTransient(() => putCvv(reference, cvv)),
    takeCvv: (reference) => retryableWhenTransient(() => takeCvv(reference)),
    async dropCvv(reference) {
      await retryableWhenTransient(() => cvvs.deleteOne({ _id: reference }));
    },
    panHash: (card) => panHash(tokenKey, card),
    fingerprint: (parts) => fingerprint(tokenKey, parts),
    receiverToken: (merchantAccount, iban) => receiverToken(tokenKey, merchantAccount, iban),
    async drain() {
      await Promise.all(refreshes);
    },
  };
}

/** Binds a ciphertext to its record: moved to another token or merchant, it does not decrypt. */
function cardAad(token: string, merchantAccount: string): string {
  return `card\0${token}\0${merchantAccount}`;
}

/** Includes the time, so that editing a record cannot make a CVV younger. */
function cvvAad(reference: string, storedAt: Date): string {
  return `cvv\0${reference}\0${storedAt.getTime()}`;
}

function open(keyRing: KeyRing, sealed: Sealed, aad: string): string {
  return keyRing.decrypt(sealed, aad).toString('utf8');
}
