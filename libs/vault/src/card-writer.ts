import type { Secret } from '@gateway/contracts';
import type { Collection } from '@gateway/mongo';
import { createGroupFind, retryableWhenTransient } from '@gateway/mongo';
import type { CardData } from './card-data';
import type { StoredCard } from './card-records';
import { createCardRecords, createCardSeal } from './card-records';
import { cardToken, receiverToken } from './card-token';
import type { Sealer } from './hpke';
import type { Keys } from './keys';

/** Stores cards and cannot read them. */
export interface CardWriter {
  /**
   * Stores the card if it is new, and returns its token (36 characters) for this merchant. Throws a RetryableError when
   * the database is away.
   */
  putCard(merchantAccount: string, card: Secret<CardData>): Promise<string>;
  /** The tokens of a payout's receiver at this merchant. Nothing is stored. */
  receiverTokens(merchantAccount: string, iban: string): ReceiverTokens;
}

/** Each of 36 characters. */
export interface ReceiverTokens {
  /** Under the active key. */
  readonly token: string;
  /** Under all other keys. What was paid before a rotation is found by them, as a card is. */
  readonly otherTokens: readonly string[];
}

export interface CardWriterOptions {
  cards: Collection<StoredCard>;
  sealer: Sealer;
  tokenKeys: Keys;
  /** Epoch ms. */
  now: () => number;
}

export function createCardWriter({ cards, sealer, tokenKeys, now }: CardWriterOptions): CardWriter {
  const records = createCardRecords(cards, createCardSeal(sealer, tokenKeys.active), now);
  // What the writer needs of a record; it could not open the rest.
  const findCard = createGroupFind(cards, { projection: { data: 0 } });

  /** A card keeps the token that an older key gave it. One batch of reads, whatever the number of keys. */
  async function putCard(merchantAccount: string, card: Secret<CardData>): Promise<string> {
    const tokens = tokenKeys.all.map(({ key }) => cardToken(key, merchantAccount, card));
    const found = await Promise.all(tokens.map((token) => findCard(token)));
    const known = found.find((stored) => stored !== undefined);
    const token = known?._id ?? cardToken(tokenKeys.active.key, merchantAccount, card);
    if (known === undefined || records.isStale(known)) await records.write(token, merchantAccount, card, true);
    return token;
  }

  return {
    putCard: (merchantAccount, card) => retryableWhenTransient(() => putCard(merchantAccount, card)),
    receiverTokens(merchantAccount, iban) {
      const others = tokenKeys.all.filter(({ id }) => id !== tokenKeys.active.id);
      return {
        token: receiverToken(tokenKeys.active.key, merchantAccount, iban),
        otherTokens: others.map(({ key }) => receiverToken(key, merchantAccount, iban)),
      };
    },
  };
}
