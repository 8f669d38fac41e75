import { randomUUID } from 'node:crypto';
import type { Clock } from './clock';
import type { Collection, Document, Filter } from './driver';

/**
 * Work that any replica may do is claimed by a lease: a field of its document holds the epoch ms from which any replica may
 * claim it, and a claim moves that time ahead. Both the condition and the new time are expressions on the server's clock
 * (docs/adr/0027), so a claim is right however late its command arrives.
 */

/** Claims name their documents, so no other index may tempt the planner. */
const BY_ID = { _id: 1 } as const;

/**
 * Matches what is due: `field` is there, and not later than now. An index on `field` serves it as a range. Not for
 * upserts, which refuse `$expr`; see {@link isPast}.
 */
export function isDue<T>(field: string, clock: Clock): Filter<T> {
  // The plain range serves partial indexes, and passes over documents without the field.
  return { [field]: { $gte: 0 }, $expr: isPast(field, clock) };
}

/** Expression, for pipelines: `field` is not later than now. True where there is no such field. */
export function isPast(field: string, clock: Clock): Document {
  return { $lte: [`$${field}`, clock.inDatabase()] };
}

/** Expression, for pipelines: the epoch ms at which a lease ends that begins when the server runs the command. */
export function leaseEnd(clock: Clock, leaseMs: number): Document {
  return { $add: [clock.inDatabase(), leaseMs] };
}

/** An index that serves {@link isDue} as a range. What has no such field is not in it. */
export function dueIndexOn(field: string, name: string) {
  return { key: { [field]: 1 }, name, partialFilterExpression: { [field]: { $exists: true } } };
}

/** Claims the item of `among` that has been due for longest, for `leaseMs`. Null if nothing is due. */
export async function claimOne<T extends Document>(
  collection: Collection<T>,
  claim: {
    field: string;
    clock: Clock;
    leaseMs: number;
    among?: Document;
    /** Further fields of the pipeline's `$set`. */
    set?: Document;
    /** The index to use: the planner should not have to choose. */
    hint?: Document;
  },
): Promise<T | null> {
  const { field, clock, leaseMs, among, set, hint } = claim;
  const claimed = await collection.findOneAndUpdate(
    { ...among, ...isDue(field, clock) },
    [{ $set: { ...set, [field]: leaseEnd(clock, leaseMs) } }],
    { sort: { [field]: 1 }, returnDocument: 'after', ...(hint === undefined ? {} : { hint }) },
  );
  return claimed as T | null;
}

type Marked<T, Mark extends keyof T> = T & Required<Pick<T, Mark>>;

/**
 * Claims those of the named documents that are still due. Another replica may have found the same ones; each goes to
 * one of them. `mark` is a field that receives the id of the claim.
 */
export async function claimSome<T extends Document, Mark extends keyof T & string>(
  collection: Collection<T>,
  claim: {
    among: Filter<T>;
    due: Filter<T>;
    /** Fields of the pipeline's `$set`: the end of the lease, and what else changes. */
    set: Document;
    mark: Mark;
    projection?: Document;
  },
): Promise<Marked<T, Mark>[]> {
  const { among, due, set, mark, projection } = claim;
  const id = randomUUID();
  await collection.updateMany({ ...among, ...due }, [{ $set: { ...set, [mark]: id } }], { hint: BY_ID });
  const found = collection.find({ ...among, [mark]: id } as Filter<T>, {
    hint: BY_ID,
    ...(projection === undefined ? {} : { projection }),
  });
  return (await found.toArray()) as unknown as Marked<T, Mark>[];
}

/**
 * Finds what has been due for longest, at most `limit`, and claims it for `leaseMs`. `found` counts what looked due, which
 * another replica may have claimed meanwhile.
 */
export async function claimDue<T extends Document, Mark extends keyof T & string>(
  collection: Collection<T>,
  claim: {
    /** Holds the epoch ms from which it may be claimed; the claim moves it to the end of the lease. */
    field: string;
    clock: Clock;
    leaseMs: number;
    limit: number;
    mark: Mark;
    /** Fields that name a document. Default: its id. More are needed if the collection is sharded by another field. */
    names?: readonly string[];
    /** Default: `field` is not later than now. */
    due?: Filter<T>;
    /** Default: `field`. */
    orderBy?: string;
    projection?: Document;
  },
): Promise<{ found: number; claimed: Marked<T, Mark>[] }> {
  const { field, clock, leaseMs, limit, mark, names = ['_id'], due = isDue<T>(field, clock) } = claim;
  const { orderBy = field, projection } = claim;
  const found = await collection
    .find(due, { projection: Object.fromEntries(names.map((name) => [name, 1])) })
    .sort({ [orderBy]: 1 })
    .limit(limit)
    .toArray();
  if (found.length === 0) return { found: 0, claimed: [] };
  const among = Object.fromEntries(
    names.map((name) => [
      name,
      { $in: [...new Set(found.map((document) => (document as Record<string, unknown>)[name]))] },
    ]),
  ) as Filter<T>;
  const set = { [field]: leaseEnd(clock, leaseMs) };
  const claimed = await claimSome(collection, { among, due, set, mark, ...(projection && { projection }) });
  return { found: found.length, claimed };
}
