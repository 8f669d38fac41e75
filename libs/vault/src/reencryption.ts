import { Secret } from '@gateway/contracts';
import type { Collection, Filter } from '@gateway/mongo';
import { messageOf } from '@gateway/service-kit';
import type { CardData } from './card-data';
import type { CardSeal, OpenCard, StoredCard } from './card-records';

/** Cards read, encrypted and written together. */
const BATCH_CARDS = 200;
/** Counting reads an index; this is enough for some hundred million cards. */
const COUNT_TIMEOUT_MS = 300_000;
/** Failures are counted, and these are named. */
const NAMED_FAILURES_MAX = 20;

/** How many cards are under a pair of keys. */
export interface KeyCount {
  readonly keyId: string;
  readonly tokenKeyId: string;
  readonly cards: number;
}

export interface Progress {
  /** Encrypted again by this run. */
  readonly reencrypted: number;
  /** Could not be opened. */
  readonly failed: number;
  /** Cards that this run set out to encrypt again. */
  readonly total: number;
}

export interface Reencrypted extends Progress {
  /** True if it was told to stop. What is left is the next run's. */
  readonly stopped: boolean;
  /** Token and reason of the first failures. */
  readonly failures: readonly string[];
}

export interface ReencryptionOptions {
  cards: Collection<StoredCard>;
  seal: CardSeal;
  open: OpenCard;
}

export interface Reencryption {
  /** By key of CARD_KEYS, then of TOKEN_KEYS. */
  count(): Promise<KeyCount[]>;
  /**
   * Encrypts every card that is not under both active keys. Cards keep their tokens and the time of their last use.
   * Several runs do no harm. One that is stopped, or killed, is continued by the next, because what is done is no longer
   * found.
   */
  run(options: { onProgress?: (progress: Progress) => void; signal?: AbortSignal }): Promise<Reencrypted>;
}

export function createReencryption({ cards, seal, open }: ReencryptionOptions): Reencryption {
  const stale: Filter<StoredCard> = {
    $or: [{ keyId: { $ne: seal.keyId } }, { tokenKeyId: { $ne: seal.tokenKeyId } }],
  };

  /** Undefined if it is done, else why the card does not open. */
  async function again(stored: StoredCard): Promise<string | undefined> {
    const { _id: token, merchantAccount, keyId, tokenKeyId } = stored;
    let card: Secret<CardData>;
    try {
      card = new Secret(await open(stored));
    } catch (error) {
      return `${token}: ${messageOf(error)}`;
    }
    const sealed = await seal.seal(token, merchantAccount, card);
    // If a use has moved the card meanwhile, it is under the active keys already.
    await cards.updateOne({ _id: token, keyId, tokenKeyId }, { $set: sealed });
    return undefined;
  }

  return {
    async count() {
      const groups = await cards
        .aggregate<{ _id: { keyId: string; tokenKeyId: string }; cards: number }>(
          [
            { $group: { _id: { keyId: '$keyId', tokenKeyId: '$tokenKeyId' }, cards: { $sum: 1 } } },
            { $sort: { _id: 1 } },
          ],
          { hint: 'keys', maxTimeMS: COUNT_TIMEOUT_MS },
        )
        .toArray();
      return groups.map(({ _id, cards: count }) => ({ ..._id, cards: count }));
    },

    async run({ onProgress, signal }) {
      const total = await cards.countDocuments(stale, { maxTimeMS: COUNT_TIMEOUT_MS });
      const failures: string[] = [];
      let [reencrypted, failed] = [0, 0];
      let after = '';
      while (signal?.aborted !== true) {
        const batch = await cards
          .find({ ...stale, _id: { $gt: after } }, { promoteBuffers: true })
          .sort({ _id: 1 })
          .limit(BATCH_CARDS)
          .toArray();
        const last = batch.at(-1);
        if (last === undefined) return { reencrypted, failed, total, stopped: false, failures };
        const problems = (await Promise.all(batch.map(again))).filter((problem) => problem !== undefined);
        failures.push(...problems.slice(0, NAMED_FAILURES_MAX - failures.length));
        failed += problems.length;
        reencrypted += batch.length - problems.length;
        after = last._id;
        onProgress?.({ reencrypted, failed, total });
      }
      return { reencrypted, failed, total, stopped: true, failures };
    },
  };
}
