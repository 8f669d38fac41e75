import type { OperationOutcome } from '@gateway/contracts';
import { messageOfCode } from '@gateway/contracts';
import { assertNever } from '@gateway/service-kit';
import type { OperationRequest } from './commands';
import type { JournalCloser } from './journal-closer';
import { offer, prepareOperation, publishUntilDeadline } from './offer';
import type { PendingOutcomes } from './pending-outcomes';
import type { Idempotency, JournalEntry, LateEntry, OperationEntry, Ports } from './ports';
import type { Answer, Session } from './responses';
import { repeatUntil } from './repeat-until';
import { failure, operationResponse, unavailable } from './responses';

export interface SubmitPorts extends Ports {
  pending: PendingOutcomes;
  closer: JournalCloser;
}

const ID_USED = 3001;
const OUTCOME_UNKNOWN = 11;

/** A request that has passed all checks but the last, and what it becomes. */
export interface Submission<Entry extends JournalEntry> {
  merchantAccount: string;
  idempotency: Idempotency | undefined;
  /** Its journal entry, made before the journal is asked. */
  prepare(): Promise<Entry>;
  /** What remains to be done once the entry is in the journal. */
  carryOut(entry: Entry): Promise<Answer>;
  /** The answer when nobody knows what came of it. */
  unknown(entry: Entry): Answer;
  /** What is put on record after that answer when the journal did not take the entry: by default the entry itself. */
  late?(entry: Entry): LateEntry | undefined;
}

/**
 * Steps 7 and 8 of the order of checks: the same key again gets the same answer again, an id that is used 3001. From
 * the journal insert on the answer is an outcome, or that it is unknown; before it, a fault is a 503.
 */
export async function submit<Entry extends JournalEntry>(
  ports: SubmitPorts,
  session: Session,
  submission: Submission<Entry>,
): Promise<Answer> {
  try {
    const replayed = await replayOf(ports, session, submission);
    if (replayed !== undefined) return replayed;
  } catch (error) {
    ports.logger.error('an earlier request could not be looked up', { error });
    return unavailable(session, ports.now());
  }
  const late = submission.late?.bind(submission);
  const offered = await offer(ports, () => submission.prepare(), late);
  switch (offered.kind) {
    case 'unavailable':
      return unavailable(session, ports.now());
    case 'unknown':
      return submission.unknown(offered.entry);
    case 'accepted':
      return orUnknown(
        ports,
        () => submission.carryOut(offered.entry),
        () => submission.unknown(offered.entry),
      );
    case 'refused':
      // Two requests with the same key at once: the one that came second waits for the first one's answer.
      return orUnknown(
        ports,
        async () => (await replayOf(ports, session, submission)) ?? failure(session, ports.now(), ID_USED),
        // Without a reference: the one that was allotted is not on record.
        () => failure(session, ports.now(), OUTCOME_UNKNOWN),
      );
    default:
      return assertNever(offered);
  }
}

async function orUnknown(ports: SubmitPorts, work: () => Promise<Answer>, unknown: () => Answer): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    const answer = unknown();
    ports.logger.error('an outcome is unknown', { reference: answer.body['reference'], error });
    return answer;
  }
}

/** The answer to the same key again, unless it was for something else; undefined for a key that is new, or none. */
async function replayOf(
  ports: SubmitPorts,
  session: Session,
  { merchantAccount, idempotency }: Pick<Submission<JournalEntry>, 'merchantAccount' | 'idempotency'>,
): Promise<Answer | undefined> {
  if (idempotency === undefined) return undefined;
  const earlier = await repeatUntil(ports, ports.now() + ports.replyTimeoutMs, 'a look for an earlier request', () =>
    ports.journal.findByKey(merchantAccount, idempotency.endpoint, idempotency.key),
  );
  if (earlier === undefined) return undefined;
  if (earlier.idempotency?.bodyHash !== idempotency.bodyHash) return failure(session, ports.now(), ID_USED);
  if (earlier.response !== undefined) {
    return { httpStatus: 200, body: earlier.response as Answer['body'], replayed: true };
  }
  if (earlier.space === 'payout') throw new Error('broken invariant: an accepted payout without its answer');
  const outcome = await ports.pending.wait(earlier.merchantAccount, earlier.reference);
  return { ...(await answer(ports, session, earlier, outcome)), replayed: true };
}

/** An operation: vault, journal, bus, outcome, in this order. */
export function operationSubmission(
  ports: SubmitPorts,
  session: Session,
  merchantAccount: string,
  request: OperationRequest,
  idempotency: Idempotency | undefined,
): Submission<OperationEntry> {
  return {
    merchantAccount,
    idempotency,
    prepare: () => prepareOperation(ports, { merchantAccount, request, idempotency }),
    carryOut: async (entry) => answer(ports, session, entry, await outcomeOf(ports, entry)),
    unknown: (entry) => unknownOutcome(session, entry),
  };
}

/** Sends the command of an accepted entry and waits for what comes of it; undefined when nothing is known in time. */
export function outcomeOf(ports: SubmitPorts, entry: OperationEntry): Promise<OperationOutcome | undefined> {
  const outcome = ports.pending.wait(entry.merchantAccount, entry.reference, entry.deadline);
  void publishUntilDeadline(ports, entry);
  return outcome;
}

async function answer(
  ports: SubmitPorts,
  session: Session,
  entry: OperationEntry,
  outcome: OperationOutcome | undefined,
): Promise<Answer> {
  const response = outcome === undefined ? unknownOutcome(session, entry) : operationResponse(session, outcome);
  const told = entry.idempotency === undefined ? response : await keepResponse(ports, entry, response);
  // Still open without an outcome: the sweeper sees to it that one comes on record.
  if (outcome !== undefined) ports.closer.close(entry);
  return told;
}

/** The outcome is known, but the answer that a replay repeats must be on record before it is given. */
async function keepResponse(ports: SubmitPorts, entry: OperationEntry, response: Answer): Promise<Answer> {
  const kept = await repeatUntil(ports, entry.deadline, 'keeping an answer', () =>
    ports.journal.keepResponse(entry, response.body),
  );
  return { ...response, body: kept as Answer['body'] };
}

function unknownOutcome(session: Session, entry: OperationEntry): Answer {
  return operationResponse(session, {
    paymentId: entry.paymentId,
    reference: entry.reference,
    merchantAccount: entry.merchantAccount,
    transactionUniqueId: entry.transactionUniqueId,
    transactionType: entry.operationType,
    status: 'error',
    code: OUTCOME_UNKNOWN,
    message: messageOfCode(OUTCOME_UNKNOWN),
    ...(entry.token === undefined ? {} : { token: entry.token }),
    authcode: null,
    timestamp: entry.acceptedAt,
  });
}
