import type { OperationOutcome } from '@gateway/contracts';
import { RESPONSE_CODES } from '@gateway/contracts';
import { assertNever } from '@gateway/service-kit';
import type { OperationRequest } from './commands';
import type { JournalCloser } from './journal-closer';
import { offer, prepareOperation, publishUntilDeadline } from './offer';
import { pendingOutcome } from './pending-outcome';
import type { PaymentTurns } from './payment-turns';
import type { PendingOutcomes } from './pending-outcomes';
import type { Account, Idempotency, JournalEntry, LateEntry, OperationEntry, Ports } from './ports';
import type { Answer, LimitReason, Session } from './responses';
import { repeatUntil } from './repeat-until';
import { failure, idUsed, keyUsed, operationResponse, tooManyRequests, unavailable } from './responses';
import type { SandboxRefusal } from './sandbox-quota';
import { isTestRequest } from './sandbox-quota';

export interface SubmitPorts extends Ports {
  pending: PendingOutcomes;
  turns: PaymentTurns;
  closer: JournalCloser;
}

/** An answer is kept for this long at least, also when it comes at the deadline of its request or after it. */
const KEEPING_MIN_MS = 2_000;

/** A request that has passed all checks but the last, and its journal entry. */
export interface Submission<Entry extends JournalEntry> {
  merchantAccount: string;
  /** It would make a record in the test currency, of which an account has a quota. */
  isTest: boolean;
  idempotencies: readonly Idempotency[];
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
 * Steps 7 and 8 of the order of checks: the same key gets the same answer again, a used id 3001. Beyond the quota of the
 * test currency nothing is done. From the journal
 * insert on the answer is an outcome, or that it is unknown; a fault before it is a 503. A repeated key has its insert
 * behind it.
 */
export async function submit<Entry extends JournalEntry>(
  ports: SubmitPorts,
  session: Session,
  submission: Submission<Entry>,
): Promise<Answer> {
  let earlier: Entry | undefined;
  try {
    earlier = await earlierOf(ports, submission);
  } catch (error) {
    ports.logger.error('an earlier request could not be looked up', { error });
    return unavailable(session, ports.now());
  }
  if (earlier !== undefined) return replayOf(ports, session, submission, earlier);
  const refusal = submission.isTest ? ports.sandbox.refusal(submission.merchantAccount) : undefined;
  if (refusal !== undefined) return tooManyRequests(session, ports.now(), limitOf(refusal));
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
        async () => {
          const first = await earlierOf(ports, submission);
          return first === undefined ? idUsed(session, ports.now()) : replayOf(ports, session, submission, first);
        },
        // Without a reference, because the allotted one is not recorded.
        () => failure(session, ports.now(), RESPONSE_CODES.OUTCOME_UNKNOWN),
      );
    default:
      return assertNever(offered);
  }
}

function limitOf({ limit, retryAfterSeconds }: SandboxRefusal): { reason: LimitReason; retryAfterSeconds: number } {
  return { reason: limit === 'disk' ? 'sandbox-full' : 'sandbox-quota', retryAfterSeconds };
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

/** The entry of an earlier request with the same key; undefined for a new key, or none. */
async function earlierOf<Entry extends JournalEntry>(
  ports: SubmitPorts,
  { merchantAccount, idempotencies }: Submission<Entry>,
): Promise<Entry | undefined> {
  const deadline = ports.now() + ports.replyTimeoutMs;
  for (const { endpoint, key } of idempotencies) {
    const found = await repeatUntil(ports, deadline, 'a look for an earlier request', () =>
      ports.journal.findByKey(merchantAccount, endpoint, key),
    );
    // An endpoint makes entries of one kind.
    if (found !== undefined) return found as Entry;
  }
  return undefined;
}

/**
 * The answer to a repeated key, unless its request was another. The earlier request was accepted, so whatever fails
 * here, its outcome is unknown: "nothing was done" would be wrong.
 */
async function replayOf<Entry extends JournalEntry>(
  ports: SubmitPorts,
  session: Session,
  submission: Submission<Entry>,
  earlier: Entry,
): Promise<Answer> {
  if (!submission.idempotencies.some(({ bodyHash }) => bodyHash === earlier.idempotency?.bodyHash))
    return keyUsed(session, ports.now());
  const replay = await orUnknown(
    ports,
    () => answerAgain(ports, session, earlier),
    () => submission.unknown(earlier),
  );
  return { ...replay, replayed: true };
}

async function answerAgain(ports: SubmitPorts, session: Session, earlier: JournalEntry): Promise<Answer> {
  if (earlier.unconfirmed === true) await requireConfirmed(ports, earlier);
  if (earlier.response !== undefined) return { httpStatus: 200, body: earlier.response as Answer['body'] };
  if (earlier.space === 'payout') throw new Error('the payout was abandoned');
  const outcome = await ports.pending.wait(earlier.merchantAccount, earlier.reference);
  return answer(ports, session, earlier, outcome);
}

/** Its stored answer says that the payout is accepted. From the deadline on its merchant may have been told 11. */
async function requireConfirmed(ports: SubmitPorts, entry: JournalEntry): Promise<void> {
  if (ports.now() >= entry.deadline) throw new Error('the payout was not confirmed in time');
  const confirmed = await repeatUntil(ports, entry.deadline, 'confirming a payout', () => ports.journal.confirm(entry));
  if (!confirmed) throw new Error('the payout was abandoned');
}

/** An operation: vault, journal, bus, outcome, in this order. */
export function operationSubmission(
  ports: SubmitPorts,
  session: Session,
  account: Account,
  request: OperationRequest,
  idempotencies: readonly Idempotency[],
): Submission<OperationEntry> {
  const { merchantAccount } = account;
  const [idempotency] = idempotencies;
  const isTest = isTestRequest(account, request);
  return {
    merchantAccount,
    isTest,
    idempotencies,
    prepare: () => prepareOperation(ports, { merchantAccount, request, isTest, idempotency }),
    carryOut: async (entry) => answer(ports, session, entry, await outcomeOf(ports, entry)),
    unknown: (entry) => operationResponse(session, pendingOutcome(entry)),
  };
}

/** Publishes the command of an accepted entry and waits for the outcome; undefined if it is not known in time. */
export function outcomeOf(ports: SubmitPorts, entry: OperationEntry): Promise<OperationOutcome | undefined> {
  const outcome = ports.pending.wait(entry.merchantAccount, entry.reference, entry.deadline);
  ports.turns.publish(entry.paymentId, () => publishUntilDeadline(ports, entry), outcome);
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

/**
 * The outcome is known, but a replay repeats the answer, so it must be recorded first. The deadline is past when no
 * outcome came in time, and in most replays.
 */
async function keepResponse(ports: SubmitPorts, entry: OperationEntry, response: Answer): Promise<Answer> {
  const deadline = Math.max(entry.deadline, ports.now() + KEEPING_MIN_MS);
  const kept = await repeatUntil(ports, deadline, 'keeping an answer', () =>
    ports.journal.keepResponse(entry, response.body),
  );
  return { ...response, body: kept as Answer['body'] };
}
