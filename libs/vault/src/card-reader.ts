import type { CardRealm } from '@gateway/contracts';
import { Secret } from '@gateway/contracts';
import type { Collection } from '@gateway/mongo';
import { createGroupFind, retryableWhenTransient } from '@gateway/mongo';
import type { Logger } from '@gateway/service-kit';
import { messageOf } from '@gateway/service-kit';
import type { CardData } from './card-data';
import type { CardOwner } from './card-numbers';
import type { StoredCard } from './card-records';
import { createCardOpener, createCardRecords, createCardSeal } from './card-records';
import type { Opener } from './hpke';
import type { Keys } from './keys';

const MAX_BACKGROUND_REFRESHES = 64;

export interface CardReader {
  /**
   * Undefined for a token that is unknown, purged, another merchant's or of the other realm; callers cannot distinguish
   * these cases. Throws a RetryableError when the database is away.
   */
  getCard(owner: CardOwner, token: string): Promise<Secret<CardData> | undefined>;
  /** Waits for pending writes that record the use of cards. */
  drain(): Promise<void>;
}

export interface CardReaderOptions {
  cards: Collection<StoredCard>;
  opener: Opener;
  tokenKeys: Keys;
  /** Epoch ms. */
  now: () => number;
  logger?: Logger;
}

export function createCardReader({ cards, opener, tokenKeys, now, logger }: CardReaderOptions): CardReader {
  const records = createCardRecords(cards, createCardSeal(opener.sealer, tokenKeys.active), now);
  const openCard = createCardOpener(opener, tokenKeys);
  const refreshes = new Set<Promise<void>>();
  const findCard = createGroupFind(cards, { promoteBuffers: true });

  /** The request does not wait for this. If it fails, the next use repeats it. */
  function refreshInBackground(token: string, merchantAccount: string, card: Secret<CardData>): void {
    if (refreshes.size >= MAX_BACKGROUND_REFRESHES) return;
    const refresh = records
      .write(token, merchantAccount, card)
      .catch((error: unknown) =>
        logger?.warn('a card was not marked as used; the next use does it', { reason: messageOf(error) }),
      )
      .finally(() => refreshes.delete(refresh));
    refreshes.add(refresh);
  }

  async function getCard({ merchantAccount, realm }: CardOwner, token: string): Promise<Secret<CardData> | undefined> {
    const stored = await findCard(token);
    if (stored?.merchantAccount !== merchantAccount || !isValidIn(realm, stored)) return undefined;
    const card = new Secret(await openCard(stored));
    if (records.isStale(stored)) refreshInBackground(token, merchantAccount, card);
    return card;
  }

  return {
    getCard: (owner, token) => retryableWhenTransient(() => getCard(owner, token)),
    async drain() {
      await Promise.all(refreshes);
    },
  };
}

/** A token from before there were realms was given for either, and its merchant may have used it in both. */
function isValidIn(realm: CardRealm, stored: StoredCard): boolean {
  return stored.realm === undefined || stored.realm === realm;
}
