import type { Collection } from '@gateway/mongo';
import { createGroupFind, duplicateKeyIndex, retryableWhenTransient } from '@gateway/mongo';
import type { Logger } from '@gateway/service-kit';
import { messageOf, Secret } from '@gateway/service-kit';
import type { CardData } from './card-data';
import { cardToken, panHash, receiverToken } from './card-token';
import type { KeyRing, Sealed } from './key-ring';

const DAY_MS = 24 * 60 * 60 * 1000;
/** architecture.md, invariant 6: PANs unused for 13 months are purged (13 × 30.44 days). */
const CARD_UNUSED_SECONDS = 396 * 24 * 60 * 60;
/** architecture.md, invariant 6: a CVV is never older than 20 minutes. */
const CVV_LIFETIME_SECONDS = 20 * 60;
/** What marks a card as used is not worth two writes a day. */
const REFRESH_AFTER_MS = DAY_MS;
const MAX_BACKGROUND_REFRESHES = 64;

/** `_id` is the token. Nothing of the card is in clear. */
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

/** The only place where card data is. Every call throws a RetryableError when the database is away. */
export interface CardVault {
  ensureIndexes(): Promise<void>;
  /** Stores the card, or finds it stored, and gives its token (36 characters) for this merchant. */
  putCard(merchantAccount: string, card: Secret<CardData>): Promise<string>;
  /** Undefined for a token that is unknown, purged or another merchant's, indistinguishably. */
  getCard(merchantAccount: string, token: string): Promise<Secret<CardData> | undefined>;
  /** Keeps the CVV for one {@link CardVault.takeCvv} within 20 minutes. A second one for a reference replaces the first. */
  putCvv(reference: string, cvv: Secret): Promise<void>;
  /** Gives the CVV once and deletes it. Undefined when there is none (any more), or when it is older than 20 minutes. */
  takeCvv(reference: string): Promise<Secret | undefined>;
  dropCvv(reference: string): Promise<void>;
  /** 40 hex characters for `secure_storage_id`; the same for every merchant. */
  panHash(card: Secret<Pick<CardData, 'pan'>>): string;
  /** 36 characters that stand for the receiver of payouts at this merchant. Nothing is stored. */
  receiverToken(merchantAccount: string, iban: string): string;
  /** Waits for the marks of use that were written beside the way. */
  drain(): Promise<void>;
}

export interface CardVaultOptions {
  cards: Collection<StoredCard>;
  cvvs: Collection<StoredCvv>;
  keyRing: KeyRing;
  /** At least 32 bytes. Outlives every encryption key: with another one, the same card gets another token. */
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

  /** First write, mark of use and re-encryption under the active key are one and the same update. */
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
      // Another request stored the same card in the same moment: what it wrote is as good.
      if (duplicateKeyIndex(error) === undefined) throw error;
    }
  }

  /** Not awaited by the request. A mark that is missed is made at the next use, so failing here costs nothing. */
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
    // The TTL index may lag by minutes, so age is judged here.
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
    receiverToken: (merchantAccount, iban) => receiverToken(tokenKey, merchantAccount, iban),
    async drain() {
      await Promise.all(refreshes);
    },
  };
}

/** Binds a ciphertext to its record: moved to another token or given to another merchant, it does not open. */
function cardAad(token: string, merchantAccount: string): string {
  return `card\0${token}\0${merchantAccount}`;
}

/** Holds the time too: a CVV does not get younger by an edit of its record. */
function cvvAad(reference: string, storedAt: Date): string {
  return `cvv\0${reference}\0${storedAt.getTime()}`;
}

function open(keyRing: KeyRing, sealed: Sealed, aad: string): string {
  return keyRing.decrypt(sealed, aad).toString('utf8');
}
