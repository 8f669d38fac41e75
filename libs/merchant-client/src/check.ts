import type { Answer, Reading } from './answers';
import { recordsIn } from './answers';
import { REGISTRY, RESPONSE_CODES } from './codes';
import type { Deadline } from './deadline';
import type { CheckRecord, Failed, Open, Outcome, Pending, Unknown } from './outcomes';
import { finalOutcome, notOnRecord, notTaken, open, pending, unknown } from './outcomes';
import type { Subject } from './requests';
import type { Request, Send } from './send';

type Recorded = Outcome<'approved' | 'declined' | 'error' | 'unknown'> | Open | Pending;

/** Cards and payouts have a CHECK each. */
export interface Family {
  readonly checkPath: string;
  /** What the status PENDING means. */
  openOutcome(record: CheckRecord): Unknown | Pending;
}

export const CARDS: Family = {
  checkPath: '/api/pf/host-to-host',
  openOutcome: (record) => unknown(record.transaction_unique_id, record.message, record),
};

/** It is normal that a bank takes hours. */
export const PAYOUTS: Family = { checkPath: '/api/mp/transaction', openOutcome: pending };

/** What one CHECK found. */
export type Found =
  | Recorded
  | { readonly kind: 'not-found' }
  /** `mayPass`: it is worth asking again. */
  | { readonly kind: 'no-answer'; readonly message: string; readonly mayPass: boolean };

/** Asks once. */
export async function look(send: Send, family: Family, subject: Subject, deadline: Deadline): Promise<Found> {
  const reading = await send(checkRequest(family, subject), deadline.exchangeMs());
  if (reading.kind !== 'answer') return { kind: 'no-answer', message: reasonOf(reading), mayPass: true };
  const { answer, isOpenPage } = reading;
  const records = recordsIn<CheckRecord>(answer, 'transactions').filter((record) => isAbout(record, subject));
  if (isOpenPage === true && (records.length > 0 || answer.code === RESPONSE_CODES.TRANSACTION_NOT_FOUND))
    return open('reference' in subject ? undefined : subject.transaction_unique_id, answer, records.at(-1));
  if (answer.code === RESPONSE_CODES.TRANSACTION_NOT_FOUND) return { kind: 'not-found' };
  if (records.length > 0) return outcomeOf(family, records);
  return { kind: 'no-answer', message: answer.message, mayPass: isOpen(answer) };
}

/**
 * Asks until the outcome is no longer unknown. At the deadline `known` is still all that is known. `absence` is what it
 * means that nothing is on record: `wait` if the operation may only be on its way.
 */
export async function follow(
  send: Send,
  { family, subject, absence }: { family: Family; subject: Subject; absence: 'wait' | 'final' },
  deadline: Deadline,
  known: Unknown,
): Promise<Recorded> {
  let latest = known;
  do {
    const found = await look(send, family, subject, deadline);
    if (found.kind === 'not-found') {
      if (absence === 'final') return notOnRecord(known.transaction_unique_id);
    } else if (found.kind === 'no-answer') {
      latest = { ...latest, message: found.message };
      if (!found.mayPass) return latest;
    } else if (found.kind === 'unknown') {
      latest = found;
    } else {
      return found;
    }
  } while (await deadline.pause());
  return latest;
}

/** The gateway's answer to a question, which may be asked as often as it takes. */
export async function ask(
  send: Send,
  request: Request,
  deadline: Deadline,
): Promise<{ readonly kind: 'answer'; readonly answer: Answer } | Failed> {
  let reading: Reading;
  do {
    reading = await send(request, deadline.exchangeMs());
    if (reading.kind === 'answer' && !isOpen(reading.answer)) return reading;
  } while (await deadline.pause(reading));
  return notTaken(undefined, reasonOf(reading), 'answer' in reading ? reading.answer : undefined);
}

/** The gateway cannot tell now: ask again. */
export function isOpen({ code }: Answer): boolean {
  return REGISTRY[code]?.outcomeUnknown === true;
}

export function checkRequest({ checkPath: path }: Family, subject: Subject): Request {
  return { path, fields: { transaction_type: 'CHECK', ...subject } };
}

export function reasonOf(reading: Reading): string {
  return 'answer' in reading ? reading.answer.message : reading.reason;
}

function isAbout(record: CheckRecord, subject: Subject): boolean {
  return 'reference' in subject
    ? record.reference === subject.reference
    : record.transaction_unique_id === subject.transaction_unique_id;
}

/** Usually of one record; the attempts on a card-entry page that has ended have its id in common. */
function outcomeOf(family: Family, records: readonly CheckRecord[]): Recorded {
  const outcomes = records.map((record) => finalOutcome(record) ?? family.openOutcome(record));
  const approved = outcomes.find(({ kind }) => kind === 'approved');
  const open = outcomes.find(({ kind }) => kind === 'unknown' || kind === 'pending');
  return approved ?? open ?? (outcomes.at(-1) as Recorded);
}
