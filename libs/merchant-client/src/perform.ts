import type { Answer } from './answers';
import { textIn } from './answers';
import type { Family } from './check';
import { follow, look, reasonOf } from './check';
import { RESPONSE_CODES } from './codes';
import type { Deadline } from './deadline';
import type { Outcome, Page, Pending } from './outcomes';
import { notTaken, outcomeOfAnswer, unknown } from './outcomes';
import type { Send } from './send';

export interface Operation {
  readonly family: Family;
  readonly path: string;
  readonly fields: object;
  readonly transactionUniqueId: string;
  /** No other request can have the id, so its record in CHECK is about this one. */
  readonly isOwnId: boolean;
  /** The shop needs an address for the browser, which only the answer has. */
  readonly needsAnswer: boolean;
}

type AnyOutcome = Outcome | Page | Pending;

/**
 * Sends an operation until its outcome is known or the deadline is over. The gateway carries it out once, however often
 * it arrives: each time it has the same id and Idempotency-Key, and gets the first answer again. So after
 *
 * - a refusal (429, 503 or 408 of the gateway), or a connection that never opened, it is sent again: nothing was done;
 * - an answer that leaves the outcome open, CHECK tells when it is known;
 * - a lost connection, CHECK says whether it is on record. It is sent again if it is not, if its answer is needed, or if
 *   the id is the shop's, whose record could be another request's,
 * - 3001, the id was used: by this operation if the client has made the id, and perhaps by it after a lost connection.
 */
export async function perform(send: Send, operation: Operation, deadline: Deadline): Promise<AnyOutcome> {
  const { transactionUniqueId: id, path, fields, family, isOwnId, needsAnswer } = operation;
  const subject = { transaction_unique_id: id };
  /** True from the first request on whose end nobody knows. */
  let mayBeOnRecord = false;

  async function afterAnswer(answer: Answer): Promise<AnyOutcome | undefined> {
    const outcome = outcomeOfAnswer(answer, id);
    if (answer.code === RESPONSE_CODES.UNIQUE_ID_USED) return afterDuplicate(answer, outcome);
    if (outcome.kind === 'unknown') {
      mayBeOnRecord = true;
      const { reference } = outcome;
      if (reference === undefined) return undefined;
      return addressless(await follow(send, { family, subject: { reference }, absence: 'wait' }, deadline, outcome));
    }
    if (!mayBeOnRecord || saysWhatBecame(answer)) return outcome;
    // Only this repetition was refused, e.g. because the account was suspended since the lost request.
    const { kind } = await look(send, family, subject, deadline);
    return kind === 'not-found' ? outcome : undefined;
  }

  /** The id is taken, and the key did not bring back the first answer: a proxy may have dropped the header. */
  async function afterDuplicate(answer: Answer, refusal: AnyOutcome): Promise<AnyOutcome> {
    const maybeOurs = unknown(id, answer.message, answer);
    if (isOwnId) return addressless(await follow(send, { family, subject, absence: 'wait' }, deadline, maybeOurs));
    return mayBeOnRecord ? maybeOurs : refusal;
  }

  async function afterLoss(): Promise<AnyOutcome | undefined> {
    mayBeOnRecord = true;
    if (!isOwnId) return undefined;
    const found = await look(send, family, subject, deadline);
    if (found.kind === 'not-found' || found.kind === 'no-answer' || found.kind === 'open') return undefined;
    if (found.kind !== 'unknown') return found;
    if (needsAnswer) return undefined;
    return addressless(await follow(send, { family, subject, absence: 'wait' }, deadline, found));
  }

  for (;;) {
    const reading = await send({ path, fields, idempotencyKey: id }, deadline.exchangeMs());
    let outcome: AnyOutcome | undefined;
    if (reading.kind === 'answer') outcome = await afterAnswer(reading.answer);
    if (reading.kind === 'lost') outcome = await afterLoss();
    if (outcome !== undefined) return outcome;
    if (await deadline.pause(reading)) continue;
    const answer = 'answer' in reading ? reading.answer : undefined;
    return (mayBeOnRecord ? unknown : notTaken)(id, reasonOf(reading), answer);
  }
}

/** A page that is open, but whose address only its lost answer had. */
function addressless(found: Awaited<ReturnType<typeof follow>>): AnyOutcome {
  return found.kind === 'open' ? unknown(found.transaction_unique_id, found.message) : found;
}

/** True for an answer about the operation on record; a refusal that leaves nothing on record has no reference. */
function saysWhatBecame(answer: Answer): boolean {
  return answer.status !== 'error' || textIn(answer, 'reference') !== undefined;
}
