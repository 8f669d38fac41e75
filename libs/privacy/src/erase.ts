import { PAYMENT_ID_LENGTH } from '@gateway/contracts';
import type { Databases, Kept } from './databases';
import { LONGEST_CALL_MS } from './databases';
import type { Subject } from './find';
import { findSubjects, SUBJECTS_MAX, tokensUnderWay } from './find';
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
  /** Payments and payouts that stay as they are, because something still needs their data. The next run finds them. */
  underWay: number;
  /** There are more: run again. */
  more: boolean;
}

const DAY_MS = 86_400_000;
/** A repeated request gets its first answer again for that long. Events of the end have long been handled by then. */
const KEPT_MS = DAY_MS;
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
  const needed = await tokensUnderWay(databases, subjects);
  for (const subject of subjects) {
    const erased = await eraseSubject(databases, subject, { now, needed });
    erasure.callbacks += erased.callbacks;
    erasure.journalEntries += erased.journalEntries;
    erasure.cards += erased.cards;
    if (!erased.isWhole) erasure.underWay += 1;
    else if (subject.kind === 'payment') erasure.payments += 1;
    else erasure.payouts += 1;
  }
  return { ...erasure, more: subjects.length >= SUBJECTS_MAX };
}

interface ErasedSubject extends Pick<Erasure, 'callbacks' | 'journalEntries' | 'cards'> {
  /** False if the record itself stays as it is. */
  isWhole: boolean;
}

/**
 * The record itself comes last, and only if nothing else is kept: the search finds it by what it loses here. So a run
 * that was interrupted, or had to keep something, can be repeated.
 */
async function eraseSubject(
  databases: Databases,
  subject: Subject,
  { now, needed }: { now: number; needed: ReadonlySet<string> },
): Promise<ErasedSubject> {
  if (subject.endedAt === undefined || subject.endedAt > now - KEPT_MS) {
    return { callbacks: 0, journalEntries: 0, cards: 0, isWhole: false };
  }
  const callbacks = await eraseCallbacks(databases, subject);
  const answers = await eraseAnswers(databases, subject, now);
  const cards = await removeCards(databases, subject, needed);
  const isWhole = callbacks.kept + answers.kept + cards.kept === 0 && (await eraseRecord(databases, subject));
  return { callbacks: callbacks.erased, journalEntries: answers.erased, cards: cards.erased, isWhole };
}

/** False if something began meanwhile. A writer that has read the record before loses, and reads it again. */
async function eraseRecord(databases: Databases, { kind, id }: Subject): Promise<boolean> {
  return kind === 'payment' ? erasePayment(databases, id) : erasePayout(databases, id);
}

async function erasePayment(databases: Databases, id: string): Promise<boolean> {
  const { matchedCount } = await databases.collection('cards.payments').updateOne(ended(id), {
    $unset: { presentation: '', 'operations.$[].custom': '', 'operations.$[].bank.reasonDescription': '' },
    $inc: { version: 1 },
  });
  return matchedCount === 1;
}

async function erasePayout(databases: Databases, id: string): Promise<boolean> {
  // Its transfer is gone since its end; a bank's explanation may name the receiver.
  const members = databases.collection('payouts.iso20022_members');
  await members.updateOne({ _id: id }, { $unset: { transfer: '', 'bank.reasonDescription': '' } });
  const { matchedCount } = await databases.collection('payouts.payouts').updateOne(ended(id), {
    $unset: { instruction: '', custom: '', 'bankFacts.reasonDescription': '' },
    $inc: { version: 1 },
  });
  return matchedCount === 1;
}

function ended(id: string) {
  return { _id: id, endedAt: { $exists: true } };
}

interface Dependants {
  erased: number;
  /** Still needed as they are. */
  kept: number;
}

/**
 * Tokens stay in the records of payments, and lead nowhere.
 *
 * @param needed tokens whose cards stay: the same card of the same merchant has the same token in every payment
 */
async function removeCards(
  databases: Databases,
  { tokens, merchantAccount }: Subject,
  needed: ReadonlySet<string>,
): Promise<Dependants> {
  const free = tokens.filter((token) => !needed.has(token));
  const kept = tokens.length - free.length;
  if (free.length === 0) return { erased: 0, kept };
  const cards = databases.collection('vault.cards');
  const { deletedCount } = await cards.deleteMany({ _id: { $in: free }, merchantAccount });
  return { erased: deletedCount, kept };
}

/** Matches a delivery that is not pending; those of earlier releases have no `endedAt`. */
const OVER = { 'progress.state': { $ne: 'pending' } };
const isOver = (delivery: Kept): boolean => (delivery['progress'] as { state?: string }).state !== 'pending';

/** Callbacks that are not over keep their fields, and those that wait for them: the merchant must get them as they are. */
async function eraseCallbacks(databases: Databases, { id, merchantAccount }: Subject): Promise<Dependants> {
  const deliveries = databases.collection('callbacks.deliveries');
  const own = { paymentId: id.slice(0, PAYMENT_ID_LENGTH), merchantAccount };
  const options = { projection: { 'progress.state': 1 }, maxTimeMS: LONGEST_CALL_MS };
  const found = await deliveries.find(own, options).toArray();
  const ids = found.filter(isOver).map(({ _id }) => _id);
  const waiting = { 'callback.paymentId': own.paymentId, merchantAccount };
  const incomplete = await databases
    .collection('callbacks.incomplete')
    .countDocuments(waiting, { maxTimeMS: LONGEST_CALL_MS });
  const kept = found.length - ids.length + incomplete;
  if (ids.length === 0) return { erased: 0, kept };
  const isPersonal = { $regexMatch: { input: { $arrayElemAt: ['$$field', 0] }, regex: PERSONAL_FIELD } };
  const fields = { $filter: { input: '$fields', as: 'field', cond: { $not: [isPersonal] } } };
  await deliveries.updateMany({ _id: { $in: ids }, ...OVER }, [
    { $set: { fields, version: { $add: ['$version', 1] } } },
    { $unset: 'firstAttempt.answer' },
  ]);
  const attempts = databases.collection('callbacks.attempts');
  for (const deliveryId of ids) {
    const ofDelivery = { _id: { $gte: `${deliveryId}/`, $lt: `${deliveryId}/${AFTER_ALL}` } };
    await attempts.updateMany(ofDelivery, { $unset: { answer: '' } });
  }
  return { erased: ids.length, kept };
}

/** First answers, which the journal repeats to a request with the same Idempotency-Key for a day. */
async function eraseAnswers(databases: Databases, { id, merchantAccount }: Subject, now: number): Promise<Dependants> {
  const journal = databases.collection('edge.journal');
  const paymentId = id.slice(0, PAYMENT_ID_LENGTH);
  const answered = {
    merchantAccount,
    _id: { $gte: paymentId, $lt: paymentId + AFTER_ALL },
    response: { $exists: true },
  };
  const { modifiedCount: erased } = await journal.updateMany(
    { ...answered, acceptedAt: { $lte: now - KEPT_MS } },
    { $unset: { response: '', idempotency: '' } },
  );
  return { erased, kept: await journal.countDocuments(answered) };
}
