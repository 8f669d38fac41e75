import type { Clock } from './clock';
import type { Collection, Document, Filter } from './driver';
import { FIGURE_BOUNDS } from './figures';
import { claimOne, leaseEnd } from './leases';

interface OfAccount {
  _id: string;
  merchantAccount: string;
}

/** An aggregate that a resolver processes when it is due. */
interface Dueable extends OfAccount {
  /** Epoch ms; absent when nothing is left to do. */
  resolveAt?: number;
}

/**
 * By account, so that finding the accounts with something due reads one key of each, however much waits there.
 *
 * @param field epoch ms; absent when nothing is left to do
 */
export function dueByAccountIndexOn(field: string, name: string) {
  const key = { merchantAccount: 1, [field]: 1 };
  return { key, name, partialFilterExpression: { [field]: { $exists: true } } };
}

export const dueByAccountIndex = dueByAccountIndexOn('resolveAt', 'due_by_account');

/** Counts what was due at `before`, at most 10,000. Reads the accounts' first keys, and those that it counts. */
export function countDueByAccount<T extends Dueable>(collection: Collection<T>, before: number): Promise<number> {
  const overdue = { merchantAccount: { $gt: '' }, resolveAt: { $lte: before } } as unknown as Filter<T>;
  return collection.countDocuments(overdue, { hint: dueByAccountIndex.name, ...FIGURE_BOUNDS });
}

/** What is due, account by account. Needs the index of {@link dueByAccountIndexOn}. */
export interface DueByAccount<T> {
  /** Accounts with something due at `now`, in ascending order: those after `after`, at most `limit`. */
  accounts(now: number, after: string, limit: number): Promise<string[]>;
  /** Claims the account's item that has been due for longest, for `leaseMs`. */
  claim(merchantAccount: string, leaseMs: number): Promise<T | null>;
  /** Claims this item even before its time; null if nothing is left to do for it. */
  claimNow(id: string, leaseMs: number): Promise<T | null>;
}

/**
 * @param set further fields that a claim writes, of a pipeline's `$set`
 * @param field as in {@link dueByAccountIndexOn}
 */
export function createDueByAccount<T extends OfAccount>(
  collection: Collection<T>,
  clock: Clock,
  set: Document = {},
  field = 'resolveAt',
): DueByAccount<T> {
  return {
    async accounts(now, after, limit) {
      const found = collection.aggregate<{ _id: string }>(dueAccountSteps(now, after, limit, field));
      return (await found.toArray()).map(({ _id }) => _id);
    },
    claim: (merchantAccount, leaseMs) =>
      claimOne(collection, {
        field,
        clock,
        leaseMs,
        among: { merchantAccount },
        set,
        hint: { merchantAccount: 1, [field]: 1 },
      }),
    async claimNow(id, leaseMs) {
      const claimed = await collection.findOneAndUpdate(
        { _id: id, [field]: { $exists: true } } as unknown as Filter<T>,
        [{ $set: { ...set, [field]: leaseEnd(clock, leaseMs) } }],
        { returnDocument: 'after' },
      );
      return claimed as T | null;
    },
  };
}

/**
 * Grouped by what the index begins with, so that the server skips from account to account. It does so only for a range
 * between values, not for one on its own clock. That is good enough to look: the claim decides.
 */
export function dueAccountSteps(now: number, after: string, limit: number, field = 'resolveAt'): Document[] {
  return [
    { $match: { merchantAccount: { $gt: after }, [field]: { $lte: now } } },
    { $group: { _id: '$merchantAccount' } },
    { $sort: { _id: 1 } },
    { $limit: limit },
  ];
}
