import type { Secret } from '@gateway/contracts';
import type { Collection } from '@gateway/mongo';
import { createGroupFind, retryableWhenTransient } from '@gateway/mongo';
import type { CardData } from './card-data';
import type { CardNumbers, CardOwner, NumberLimits, OverLimit } from './card-numbers';
import type { StoredCard } from './card-records';
import { createCardRecords, createCardSeal } from './card-records';
import { cardToken, receiverToken } from './card-token';
import type { Sealer } from './hpke';
import type { Keys } from './keys';

/** Stores cards and cannot read them. */
export interface CardWriter {
  /**
   * Stores the card if it is new, unless its number is over a limit. Throws a RetryableError when the database is away.
   */
  putCard(owner: CardOwner, card: Secret<CardData>, limits: NumberLimits): Promise<PutCard>;
  /** The tokens of a payout's receiver at this merchant. Nothing is stored. */
  receiverTokens(merchantAccount: string, iban: string): ReceiverTokens;
}

/** The card's token (36 characters) for this merchant in this realm; none, and nothing stored, if it was refused. */
export type PutCard = { readonly token: string } | { readonly overLimit: OverLimit };

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
  numbers: CardNumbers;
  tokenKeys: Keys;
  /** Epoch ms. */
  now: () => number;
}

export function createCardWriter({ cards, numbers, sealer, tokenKeys, now }: CardWriterOptions): CardWriter {
  const records = createCardRecords(cards, createCardSeal(sealer, tokenKeys.active), now);
  // What the writer needs of a record; it could not open the rest.
  const findCard = createGroupFind(cards, { projection: { data: 0 } });

  /**
   * A card keeps the token that an older key gave it. One batch of reads, whatever the number of keys; whether the
   * number may be used is asked meanwhile, also for a card that is known: what differs would be an answer.
   */
  async function putCard(owner: CardOwner, card: Secret<CardData>, limits: NumberLimits): Promise<PutCard> {
    const { merchantAccount, realm } = owner;
    const tokens = tokenKeys.all.map(({ key }) => cardToken(key, merchantAccount, card, realm));
    const [overLimit, ...found] = await Promise.all([
      numbers.overLimit(owner, card, limits),
      ...tokens.map((token) => findCard(token)),
    ]);
    if (overLimit !== undefined) return { overLimit };
    const known = found.find((stored) => stored !== undefined);
    const token = known?._id ?? cardToken(tokenKeys.active.key, merchantAccount, card, realm);
    if (known === undefined || records.isStale(known)) await records.writeNew(token, owner, card);
    return { token };
  }

  return {
    putCard: (owner, card, limits) => retryableWhenTransient(() => putCard(owner, card, limits)),
    receiverTokens(merchantAccount, iban) {
      const others = tokenKeys.all.filter(({ id }) => id !== tokenKeys.active.id);
      return {
        token: receiverToken(tokenKeys.active.key, merchantAccount, iban),
        otherTokens: others.map(({ key }) => receiverToken(key, merchantAccount, iban)),
      };
    },
  };
}
