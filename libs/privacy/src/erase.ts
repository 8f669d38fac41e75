import { PAYMENT_ID_LENGTH } from '@gateway/contracts';
import type { Databases } from './databases';
import type { Subject } from './find';
import { findSubjects, SUBJECTS_MAX } from './find';
import type { Person } from './person';

/** Numbers of documents. */
export interface Erasure {
  /** Stay with amounts, codes, times, references and tokens, and without data of the person. */
  payments: number;
  payouts: number;
  callbacks: number;
  journalEntries: number;
  /** Removed. */
  cards: number;
  /** Payments and payouts that still need the data, or journal entries that a repeated request may ask for. */
  underWay: number;
  /** There are more: run again. */
  more: boolean;
}

const DAY_MS = 86_400_000;
const UPDATE_TIMEOUT_MS = 60_000;
/** How long after its payment a callback may have been created. Bounds the search: no index has payments. */
const CALLBACK_DELAY_MAX_MS = 7 * DAY_MS;
/** Sorts after every character of a reference, and of an attempt's time. */
const AFTER_ALL = '~';
/** Callbacks' fields that may be about a person: card, holder, and the bank's and the merchant's own words. */
const PERSONAL_FIELD = '^(custom_|secure_storage_id$)';

/**
 * Erases a person's data from what has ended. What accounting needs stays, pseudonymised: nothing that is left leads to
 * the person without the merchant's or the bank's own records.
 *
 * @param now epoch ms
 */
export async function erase(databases: Databases, person: Person, now: number): Promise<Erasure> {
  const subjects = await findSubjects(databases, person);
  const erasure = { payments: 0, payouts: 0, callbacks: 0, journalEntries: 0, cards: 0, underWay: 0 };
  for (const subject of subjects) {
    if (!(await eraseSubject(databases, subject))) {
      erasure.underWay += 1;
      continue;
    }
    erasure[subject.kind === 'payment' ? 'payments' : 'payouts'] += 1;
    erasure.cards += await removeCards(databases, subject);
    erasure.callbacks += await eraseCallbacks(databases, subject);
    const { erased, kept } = await eraseAnswers(databases, subject, now);
    erasure.journalEntries += erased;
    erasure.underWay += kept;
  }
  return { ...erasure, more: subjects.length >= SUBJECTS_MAX };
}

/** False if something is under way. */
async function eraseSubject(databases: Databases, subject: Subject): Promise<boolean> {
  if (subject.endedAt === undefined) return false;
  return subject.kind === 'payment' ? erasePayment(databases, subject) : erasePayout(databases, subject);
}

/** False if something began meanwhile. A writer that has read the payment before loses, and reads it again. */
async function erasePayment(databases: Databases, { id }: Subject): Promise<boolean> {
  const { matchedCount } = await databases.collection('cards.payments').updateOne(ended(id), {
    $unset: { presentation: '', 'operations.$[].custom': '', 'operations.$[].bank.reasonDescription': '' },
    $inc: { version: 1 },
  });
  return matchedCount === 1;
}

async function erasePayout(databases: Databases, { id }: Subject): Promise<boolean> {
  const { matchedCount } = await databases.collection('payouts.payouts').updateOne(ended(id), {
    $unset: { instruction: '', custom: '', 'bankFacts.reasonDescription': '' },
    $inc: { version: 1 },
  });
  // Its transfer is gone since its end; a bank's explanation may name the receiver.
  const member = databases.collection('payouts.iso20022_members');
  await member.updateOne({ _id: id }, { $unset: { transfer: '', 'bank.reasonDescription': '' } });
  return matchedCount === 1;
}

function ended(id: string) {
  return { _id: id, endedAt: { $exists: true } };
}

/** Tokens stay in the records of payments, and lead nowhere. */
async function removeCards(databases: Databases, { tokens, merchantAccount }: Subject): Promise<number> {
  if (tokens.length === 0) return 0;
  const cards = databases.collection('vault.cards');
  const { deletedCount } = await cards.deleteMany({ _id: { $in: tokens }, merchantAccount });
  return deletedCount;
}

/** Callbacks that are still pending keep their fields: the merchant must get them as they are. */
async function eraseCallbacks(databases: Databases, subject: Subject): Promise<number> {
  const { id, merchantAccount, since, endedAt = since } = subject;
  const deliveries = databases.collection('callbacks.deliveries');
  const paymentId = id.slice(0, PAYMENT_ID_LENGTH);
  const createdAt = { $gte: since, $lte: endedAt + CALLBACK_DELAY_MAX_MS };
  const own = { merchantAccount, createdAt, paymentId, endedAt: { $exists: true } };
  const found = await deliveries.find(own, { projection: { _id: 1 }, maxTimeMS: UPDATE_TIMEOUT_MS }).toArray();
  const ids = found.map(({ _id }) => _id);
  if (ids.length === 0) return 0;
  const isPersonal = { $regexMatch: { input: { $arrayElemAt: ['$$field', 0] }, regex: PERSONAL_FIELD } };
  const fields = { $filter: { input: '$fields', as: 'field', cond: { $not: [isPersonal] } } };
  await deliveries.updateMany({ _id: { $in: ids }, endedAt: { $exists: true } }, [
    { $set: { fields, version: { $add: ['$version', 1] } } },
  ]);
  const attempts = databases.collection('callbacks.attempts');
  for (const deliveryId of ids) {
    const ofDelivery = { _id: { $gte: `${deliveryId}/`, $lt: `${deliveryId}/${AFTER_ALL}` } };
    await attempts.updateMany(ofDelivery, { $unset: { answer: '' } });
  }
  return ids.length;
}

/** First answers, which the journal repeats to a request with the same Idempotency-Key for a day. */
async function eraseAnswers(
  databases: Databases,
  { id, merchantAccount }: Subject,
  now: number,
): Promise<{ erased: number; kept: number }> {
  const journal = databases.collection('edge.journal');
  const paymentId = id.slice(0, PAYMENT_ID_LENGTH);
  const answered = {
    merchantAccount,
    _id: { $gte: paymentId, $lt: paymentId + AFTER_ALL },
    response: { $exists: true },
  };
  const { modifiedCount: erased } = await journal.updateMany(
    { ...answered, acceptedAt: { $lte: now - DAY_MS } },
    { $unset: { response: '', idempotency: '' } },
  );
  return { erased, kept: await journal.countDocuments(answered) };
}
