import type { Collection, Filter } from '@gateway/mongo';
import { PAYMENT_ID_LENGTH } from '@gateway/contracts';
import type { Databases, Kept } from './databases';
import type { Person } from './person';

/** A payment or payout of the person. */
export interface Subject {
  kind: 'payment' | 'payout';
  id: string;
  merchantAccount: string;
  /** Of the payment's cards. */
  tokens: string[];
  /** Epoch ms; absent while something is under way, which still needs the data. */
  endedAt?: number;
}

/** More are left for the next run. */
export const SUBJECTS_MAX = 1_000;
/** Documents that one query reads. */
const PAGE = 20_000;
const QUERY_TIMEOUT_MS = 30_000;
const AT_ONCE = 500;
/** Sorts after every character of a reference. */
const AFTER_REFERENCES = '~';
const NEEDED = { merchantAccount: 1, 'operations.token': 1, endedAt: 1 } as const;

/** What {@link NEEDED} leaves: a payment has operations, a payout is one. */
interface Found extends Kept {
  merchantAccount: string;
  operations?: { token?: string }[];
  endedAt?: Date;
}

/** At most {@link SUBJECTS_MAX} payments and payouts of the person. */
export async function findSubjects(databases: Databases, person: Person): Promise<Subject[]> {
  const found: Subject[] = [];
  const sources = [
    { kind: 'payment', collection: databases.collection('cards.payments'), filter: paymentsOf(person) },
    { kind: 'payout', collection: databases.collection('payouts.payouts'), filter: payoutsOf(person) },
  ] as const;
  for (const { kind, collection, filter } of sources) {
    if (filter === undefined) continue;
    for await (const document of matching(collection, filter)) {
      found.push(subjectOf(kind, document));
      if (found.length >= SUBJECTS_MAX) return found;
    }
  }
  return found;
}

/** Tokens of the subjects that payments under way need, the person's or not. */
export async function tokensUnderWay(databases: Databases, subjects: readonly Subject[]): Promise<Set<string>> {
  const tokens = new Set(subjects.flatMap((subject) => subject.tokens));
  const needed = new Set<string>();
  if (tokens.size === 0) return needed;
  const underWay = { endedAt: { $exists: false }, 'operations.token': { $in: [...tokens] } };
  for await (const { operations = [] } of matching(databases.collection('cards.payments'), underWay)) {
    for (const { token } of operations) if (token !== undefined && tokens.has(token)) needed.add(token);
  }
  return needed;
}

function paymentsOf({ by, value }: Person): Filter<Kept> | undefined {
  switch (by) {
    case 'holder':
      return {
        $or: [
          { 'presentation.holder': likeName(value) },
          isFullName('presentation', value),
          isFullName('awaiting.customer', value),
        ],
      };
    case 'email':
      return { 'awaiting.customer.email': likeName(value) };
    case 'reference': {
      const paymentId = value.slice(0, PAYMENT_ID_LENGTH);
      return { _id: { $gte: paymentId, $lt: paymentId + AFTER_REFERENCES } };
    }
    case 'iban':
    case 'receiver':
      return undefined;
  }
}

function payoutsOf({ by, value }: Person): Filter<Kept> | undefined {
  switch (by) {
    case 'iban':
      return { 'instruction.receiver.iban': value };
    case 'receiver':
      return { 'instruction.receiver.name': likeName(value) };
    case 'reference':
      return { _id: value };
    case 'holder':
    case 'email':
      return undefined;
  }
}

/** In upper or lower case. Not a collation: with one, the ranges of ids could not use their index. */
function likeName(value: string): { $regex: string; $options: string } {
  return { $regex: `^${value.replace(/[^\p{L}\p{N} ]/gu, '\\$&')}$`, $options: 'i' };
}

function isFullName(field: string, value: string): Filter<Kept> {
  const { $regex: regex, $options: options } = likeName(value);
  const input = { $concat: [`$${field}.firstName`, ' ', `$${field}.lastName`] };
  return { [`${field}.lastName`]: { $exists: true }, $expr: { $regexMatch: { input, regex, options } } };
}

function subjectOf(kind: Subject['kind'], document: Found): Subject {
  const { _id: id, merchantAccount, operations = [], endedAt } = document;
  return {
    kind,
    id,
    merchantAccount,
    tokens: [...new Set(operations.flatMap(({ token }) => token ?? []))],
    ...(endedAt === undefined ? {} : { endedAt: endedAt.getTime() }),
  };
}

/**
 * Everything that matches. No index on names or IBANs exists, because erasing is rare; so the collection is read in
 * ranges of ids, each within its time.
 */
async function* matching(collection: Collection<Kept>, filter: Filter<Kept>): AsyncIterable<Found> {
  const options = { projection: NEEDED, maxTimeMS: QUERY_TIMEOUT_MS, batchSize: AT_ONCE };
  if (filter['_id'] !== undefined) return yield* collection.find<Found>(filter, options);
  for (let after = ''; ;) {
    const last = await lastOfPage(collection, after);
    const range = { $gt: after, ...(last === undefined ? {} : { $lte: last }) };
    yield* collection.find<Found>({ $and: [{ _id: range }, filter] }, { ...options, hint: { _id: 1 } });
    if (last === undefined) return;
    after = last;
  }
}

/** Undefined if less than a page follows. */
async function lastOfPage(collection: Collection<Kept>, after: string): Promise<string | undefined> {
  const position = { sort: { _id: 1 }, skip: PAGE - 1, projection: { _id: 1 }, maxTimeMS: QUERY_TIMEOUT_MS } as const;
  return (await collection.findOne({ _id: { $gt: after } }, position))?._id;
}
