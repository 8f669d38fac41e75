import type { CardRealm, Secret } from '@gateway/contracts';
import type { Collection } from '@gateway/mongo';
import { createGroupFind, createGroupInsert } from '@gateway/mongo';
import { createBatcher } from '@gateway/service-kit';
import type { CardData } from './card-data';
import { fingerprint } from './card-token';

const DAY_MS = 24 * 60 * 60 * 1000;
/** The gateway shows so many digits, and merchants group cards by them. */
const BIN_LENGTH = 6;
/**
 * Numbers beyond a limit that are still told apart, as a share of it: until then a buyer whose card was used before on
 * that day can pay. After them every number is refused, because a guess that differs from other guesses is an answer.
 */
const TOLD_APART_SHARE = 0.2;

/** How many different card numbers an account may send in a UTC day. */
export interface NumberLimits {
  /** With the same first six digits. */
  readonly perBin: number;
  readonly inAll: number;
}

/** Whose card it is, in which realm. The same number is counted by each owner alone. */
export interface CardOwner {
  readonly merchantAccount: string;
  readonly realm: CardRealm;
}

/** Why a card number was refused. */
export interface OverLimit {
  readonly limit: keyof NumberLimits;
  readonly bin: string;
  /** True for the number that found the limit used up: worth a line in the log, unlike those after it. */
  readonly first: boolean;
}

/** A number of a day, or how many there were. Each `_id` is a keyed hash, so no document shows an account or a card. */
export interface StoredNumber {
  _id: string;
  /** Of a count: the numbers that were tried, refused ones included. */
  tried?: number;
  /** Of a number: it came when a limit was used up. */
  refusedBy?: keyof NumberLimits;
  expiresAt: Date;
}

export async function ensureNumberIndexes(numbers: Collection<StoredNumber>): Promise<void> {
  await numbers.createIndex({ expiresAt: 1 }, { name: 'expiry', expireAfterSeconds: 0 });
}

interface Counted {
  number: string;
  /** The document that counts, for each limit. */
  counts: Readonly<Record<keyof NumberLimits, string>>;
  limits: NumberLimits;
  expiresAt: Date;
}

const LIMITS = ['perBin', 'inAll'] as const;

/** Counts the different card numbers of an account's day. */
export interface CardNumbers {
  /** Undefined if the number is within the limits. A number counts once a day, whatever comes with it. */
  overLimit(owner: CardOwner, card: Secret<CardData>, limits: NumberLimits): Promise<OverLimit | undefined>;
}

/**
 * A known number costs one grouped read, a new one also two grouped writes. Two replicas that see a new number at the
 * same moment count it twice; a number is never left out.
 */
export function createCardNumbers(
  numbers: Collection<StoredNumber>,
  { hashKey, now }: { hashKey: Secret<Buffer>; now: () => number },
): CardNumbers {
  const find = createGroupFind(numbers);
  const insert = createGroupInsert(numbers);
  const counting = new Map<string, Promise<Verdict>>();
  const count = createBatcher<Counted, Positions>((batch) => countAll(numbers, batch)).add;

  async function countNew(asked: Counted): Promise<Verdict> {
    const positions = await count(asked);
    const refusedBy = LIMITS.find((limit) => positions[limit] > asked.limits[limit]);
    const { number: _id, expiresAt } = asked;
    await insert({ _id, ...(refusedBy === undefined ? {} : { refusedBy }), expiresAt });
    const first = refusedBy !== undefined && positions[refusedBy] === asked.limits[refusedBy] + 1;
    return { refusedBy, first };
  }

  /** Requests at the same time with the same new number count it together. */
  function countOnce(asked: Counted): Promise<Verdict> {
    const underWay = counting.get(asked.number);
    if (underWay !== undefined) return underWay;
    const counted = countNew(asked).finally(() => counting.delete(asked.number));
    counting.set(asked.number, counted);
    return counted;
  }

  async function verdictOn(asked: Counted): Promise<Verdict> {
    const [number, perBin, inAll] = await Promise.all([
      find(asked.number),
      find(asked.counts.perBin),
      find(asked.counts.inAll),
    ]);
    const tried = { perBin: perBin?.tried ?? 0, inAll: inAll?.tried ?? 0 };
    const usedUp = LIMITS.find((limit) => tried[limit] >= toldApart(asked.limits[limit]));
    if (usedUp !== undefined) return { refusedBy: usedUp, first: false };
    return number === undefined ? countOnce(asked) : { refusedBy: number.refusedBy, first: false };
  }

  return {
    async overLimit(owner, card, limits) {
      const { pan } = card.expose();
      const bin = pan.slice(0, BIN_LENGTH);
      const today = Math.floor(now() / DAY_MS);
      const idOf = (...parts: string[]): string =>
        fingerprint(hashKey, [owner.merchantAccount, owner.realm, String(today), ...parts]);
      const { refusedBy, first } = await verdictOn({
        number: idOf('number', pan),
        counts: { perBin: idOf('bin', bin), inAll: idOf('all') },
        limits,
        expiresAt: new Date((today + 1) * DAY_MS),
      });
      return refusedBy === undefined ? undefined : { limit: refusedBy, bin, first };
    },
  };
}

interface Verdict {
  refusedBy: keyof NumberLimits | undefined;
  first: boolean;
}

/** From 1: the how many-th number of its day, for each limit. */
type Positions = Record<keyof NumberLimits, number>;

function toldApart(max: number): number {
  return Math.ceil(max * (1 + TOLD_APART_SHARE));
}

/** One update for each counting document, whatever the size of the batch: all cards of an account share one. */
async function countAll(numbers: Collection<StoredNumber>, batch: readonly Counted[]): Promise<Positions[]> {
  const asked = new Map<string, { by: number; expiresAt: Date }>();
  for (const { counts, expiresAt } of batch) {
    for (const limit of LIMITS) {
      const { by } = asked.get(counts[limit]) ?? { by: 0 };
      asked.set(counts[limit], { by: by + 1, expiresAt });
    }
  }
  const next = new Map<string, number>();
  await Promise.all(
    [...asked].map(async ([_id, { by, expiresAt }]) => {
      const update = { $inc: { tried: by }, $setOnInsert: { expiresAt } };
      const counted = await numbers.findOneAndUpdate({ _id }, update, { upsert: true, returnDocument: 'after' });
      next.set(_id, (counted?.tried ?? by) - by);
    }),
  );
  const positionIn = (id: string): number => {
    const position = (next.get(id) ?? 0) + 1;
    next.set(id, position);
    return position;
  };
  return batch.map(({ counts }) => ({ perBin: positionIn(counts.perBin), inAll: positionIn(counts.inAll) }));
}
