import { randomUUID } from 'node:crypto';
import type { Clock } from './clock';
import type { Collection, Document, Filter } from './driver';

/**
 * Work that any replica may do is taken by a lease: a field of its document holds the epoch ms from which anyone may take
 * it, and a replica that takes it moves that time ahead. Both the condition and the new time are expressions on the server's
 * clock (docs/adr/0027), so a claim is right however late its command arrives.
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
