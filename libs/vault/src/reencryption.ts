import { Secret } from '@gateway/contracts';
import type { Collection } from '@gateway/mongo';
import { messageOf } from '@gateway/service-kit';
import type { CardData } from './card-data';
import type { CardSeal, OpenCard, StoredCard } from './card-records';
import { KEYS_INDEX } from './card-records';

/** Cards read, encrypted and written together. */
const BATCH_CARDS = 200;
/** `status` reads the whole index; this is enough for some hundred million cards. */
export const COUNT_TIMEOUT_MS = 300_000;
/** A run counts its cards up to here, within about a second: it must not wait for a number. */
export const TOTAL_MAX = 1_000_000;
/** Failures are counted, and these are named. */
const NAMED_FAILURES_MAX = 20;

type KeyPair = Pick<StoredCard, 'keyId' | 'tokenKeyId'>;

/** How many cards are under a pair of keys. */
export interface KeyCount extends Readonly<KeyPair> {
  readonly cards: number;
}

export interface Progress {
  /** Encrypted again by this run. */
  readonly reencrypted: number;
  /** Could not be opened. */
  readonly failed: number;
  /** Cards that this run set out to encrypt again. {@link TOTAL_MAX} means that there are so many or more. */
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
  /** Pairs that are not both active. Reads one key of the index for each, however many cards it has. */
  async function stalePairs(): Promise<KeyPair[]> {
    const pairs: KeyPair[] = [];
    for (const keyId of await cards.distinct('keyId')) {
      for (const tokenKeyId of await cards.distinct('tokenKeyId', { keyId })) pairs.push({ keyId, tokenKeyId });
    }
    return pairs.filter(({ keyId, tokenKeyId }) => keyId !== seal.keyId || tokenKeyId !== seal.tokenKeyId);
  }

  async function countUnder(pairs: readonly KeyPair[]): Promise<number> {
    let total = 0;
    for (const pair of pairs) {
      if (total >= TOTAL_MAX) break;
      total += await cards.countDocuments(pair, {
        hint: KEYS_INDEX,
        limit: TOTAL_MAX - total,
        maxTimeMS: COUNT_TIMEOUT_MS,
      });
    }
    return total;
  }

  /** What is encrypted again leaves its place in the index, so no run walks over what is done. */
  async function* batchesUnder(pairs: readonly KeyPair[]): AsyncGenerator<StoredCard[]> {
    for (const pair of pairs) {
      let batch: StoredCard[] = [];
      for await (const card of cards.find(pair, { hint: KEYS_INDEX, batchSize: BATCH_CARDS, promoteBuffers: true })) {
        batch.push(card);
        if (batch.length < BATCH_CARDS) continue;
        yield batch;
        batch = [];
      }
      if (batch.length > 0) yield batch;
    }
  }

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
          { hint: KEYS_INDEX, maxTimeMS: COUNT_TIMEOUT_MS },
        )
        .toArray();
      return groups.map(({ _id, cards: count }) => ({ ..._id, cards: count }));
    },

    async run({ onProgress, signal }) {
      const pairs = await stalePairs();
      const total = await countUnder(pairs);
      const failures: string[] = [];
      let [reencrypted, failed] = [0, 0];
      for await (const batch of batchesUnder(pairs)) {
        if (signal?.aborted === true) return { reencrypted, failed, total, stopped: true, failures };
        const problems = (await Promise.all(batch.map(again))).filter((problem) => problem !== undefined);
        failures.push(...problems.slice(0, NAMED_FAILURES_MAX - failures.length));
        failed += problems.length;
        reencrypted += batch.length - problems.length;
        onProgress?.({ reencrypted, failed, total });
      }
      return { reencrypted, failed, total, stopped: false, failures };
    },
  };
}
