import type { OperationOutcome } from '@gateway/contracts';
import { RESPONSE_CODES } from '@gateway/contracts';
import { assertNever } from '@gateway/service-kit';
import type { OperationRequest } from './commands';
import type { JournalCloser } from './journal-closer';
import { offer, prepareOperation, publishUntilDeadline } from './offer';
import { pendingOutcome } from './pending-outcome';
import type { PendingOutcomes } from './pending-outcomes';
import type { Idempotency, JournalEntry, LateEntry, OperationEntry, Ports } from './ports';
import type { Answer, Session } from './responses';
import { repeatUntil } from './repeat-until';
import { failure, operationResponse, unavailable } from './responses';

export interface SubmitPorts extends Ports {
  pending: PendingOutcomes;
  closer: JournalCloser;
}

/** A request that has passed all checks but the last, and its journal entry. */
export interface Submission<Entry extends JournalEntry> {
  merchantAccount: string;
  idempotency: Idempotency | undefined;
  /** Its journal entry, created before the journal is queried. */
  prepare(): Promise<Entry>;
  /** What remains to be done once the entry is in the journal. */
  carryOut(entry: Entry): Promise<Answer>;
  /** The answer if the outcome is unknown. */
  unknown(entry: Entry): Answer;
  /** What to record after that answer if the journal did not accept the entry; by default the same entry. */
  late?(entry: Entry): LateEntry | undefined;
}

/**
 * Steps 7 and 8 of the order of checks: the same key gets the same answer again, a used id 3001. From the journal
 * insert on the answer is an outcome, or that it is unknown; a fault before it is a 503.
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
      // Two simultaneous requests with the same key: the second one waits for the first one's answer.
      return orUnknown(
        ports,
        async () =>
          (await replayOf(ports, session, submission)) ?? failure(session, ports.now(), RESPONSE_CODES.UNIQUE_ID_USED),
        // Without a reference, because the allotted one is not recorded.
        () => failure(session, ports.now(), RESPONSE_CODES.OUTCOME_UNKNOWN),
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

/** The answer to a repeated key, unless its request was another; undefined for a new key, or none. */
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
  if (earlier.idempotency?.bodyHash !== idempotency.bodyHash)
    return failure(session, ports.now(), RESPONSE_CODES.UNIQUE_ID_USED);
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
    unknown: (entry) => operationResponse(session, pendingOutcome(entry)),
  };
}

/** Publishes the command of an accepted entry and waits for the outcome; undefined if it is not known in time. */
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
  const response = operationResponse(session, outcome ?? pendingOutcome(entry));
  const told = entry.idempotency === undefined ? response : await keepResponse(ports, entry, response);
  // Still open without an outcome: the sweeper makes sure that one is recorded.
  if (outcome !== undefined) ports.closer.close(entry);
  return told;
}

/** The outcome is known, but a replay repeats the answer, so it must be recorded first. */
async function keepResponse(ports: SubmitPorts, entry: OperationEntry, response: Answer): Promise<Answer> {
  const kept = await repeatUntil(ports, entry.deadline, 'keeping an answer', () =>
    ports.journal.keepResponse(entry, response.body),
  );
  return { ...response, body: kept as Answer['body'] };
}
