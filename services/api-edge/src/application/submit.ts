import type { Account } from '@gateway/accounts';
import type { CardCommand, OperationOutcome } from '@gateway/contracts';
import { messageOfCode, newPaymentId, newReference, paymentIdOf } from '@gateway/contracts';
import type { Secret } from '@gateway/service-kit';
import { RetryableError } from '@gateway/service-kit';
import type { JournalCloser } from './journal-closer';
import type { PendingOutcomes } from './pending-outcomes';
import type { Idempotency, JournalEntry, Ports } from './ports';
import type { OperationRequest } from './commands';
import { baseReferenceOf, commandOf, withMaskedReference } from './commands';
import type { Answer, Session } from './responses';
import { failure, operationResponse, unavailable } from './responses';

export interface SubmitPorts extends Ports {
  pending: PendingOutcomes;
  closer: JournalCloser;
}

const ID_USED = 3001;
const OUTCOME_UNKNOWN = 11;
const REFERENCE_ATTEMPTS_MAX = 3;
const PUBLISH_AGAIN_AFTER_MS = 1_000;

/**
 * Steps 7 and 8 of the order of checks: vault, journal, bus, outcome, in this order. Before the journal insert was
 * attempted a fault means that nothing happened (503); from then on the answer is an outcome, or that it is unknown.
 */
export async function submit(
  ports: SubmitPorts,
  session: Session,
  account: Account,
  request: OperationRequest,
  idempotency: Idempotency | undefined,
): Promise<Answer> {
  for (let attempts = 0; attempts < REFERENCE_ATTEMPTS_MAX; attempts += 1) {
    let entry: JournalEntry;
    try {
      const earlier = idempotency && (await findEarlier(ports, account.merchantAccount, idempotency));
      if (earlier !== undefined) return await replay(ports, session, earlier, idempotency);
      if (!ports.databaseAvailable() || !ports.bus.available()) return unavailable(session, ports.now());
      entry = await prepare(ports, account, request, idempotency);
    } catch (error) {
      ports.logger.error('a request could not be offered to the journal', { error });
      return unavailable(session, ports.now());
    }
    const accepted = await accept(ports, session, entry, request);
    if (accepted !== 'reference-taken') return accepted;
  }
  throw new Error(`${REFERENCE_ATTEMPTS_MAX} random references were taken already`);
}

function findEarlier(
  ports: Ports,
  merchantAccount: string,
  { endpoint, key }: Idempotency,
): Promise<JournalEntry | undefined> {
  return ports.journal.findByKey(merchantAccount, endpoint, key);
}

/** Allots the reference and puts card data into the vault: all that comes before the journal. */
async function prepare(
  ports: SubmitPorts,
  account: Account,
  request: OperationRequest,
  idempotency: Idempotency | undefined,
): Promise<JournalEntry> {
  const { merchantAccount } = account;
  const ownPaymentId = await paymentIdOfBase(ports, merchantAccount, request);
  const paymentId = ownPaymentId ?? newPaymentId(ports.randomBytes);
  const reference = newReference(paymentId, ports.randomBytes);
  const [token] = await Promise.all([putCard(ports, merchantAccount, request), putCvv(ports, reference, request)]);
  const acceptedAt = ports.now();
  const deadline = acceptedAt + ports.replyTimeoutMs;
  // What names no payment of the account's own is kept for the record alone, and may be anything.
  const kept = ownPaymentId === undefined ? withMaskedReference(request) : request;
  const baseReference = baseReferenceOf(kept);
  const command = commandOf(kept, { paymentId, reference, merchantAccount, acceptedAt, deadline, token });
  return {
    reference,
    paymentId,
    ...(baseReference === undefined ? {} : { baseReference }),
    merchantAccount,
    space: 'card',
    transactionUniqueId: request.transactionUniqueId,
    operationType: request.transactionType,
    ...(token === undefined ? {} : { token }),
    acceptedAt,
    deadline,
    command,
    ...(idempotency === undefined ? {} : { idempotency }),
  };
}

/** The payment of the base transaction; undefined without one, and for one that is unknown or another merchant's. */
async function paymentIdOfBase(
  ports: Ports,
  merchantAccount: string,
  request: OperationRequest,
): Promise<string | undefined> {
  const baseReference = baseReferenceOf(request);
  if (baseReference === undefined) return undefined;
  const own = await ports.journal.ownsPaymentOf(merchantAccount, baseReference);
  return own ? paymentIdOf(baseReference) : undefined;
}

async function putCard(ports: Ports, merchantAccount: string, request: OperationRequest): Promise<string | undefined> {
  if (request.transactionType === 'TOKENIZE') return ports.vault.putCard(merchantAccount, request.card);
  if (!('instrument' in request)) return undefined;
  const { instrument } = request;
  return instrument.kind === 'token' ? instrument.token : ports.vault.putCard(merchantAccount, instrument.card);
}

async function putCvv(ports: Ports, reference: string, request: OperationRequest): Promise<void> {
  const cvv = cvvOf(request);
  if (cvv !== undefined) await ports.vault.putCvv(reference, cvv);
}

function cvvOf(request: OperationRequest): Secret | undefined {
  return 'instrument' in request && request.instrument.kind === 'card' ? request.instrument.cvv : undefined;
}

async function accept(
  ports: SubmitPorts,
  session: Session,
  entry: JournalEntry,
  request: OperationRequest,
): Promise<Answer | 'reference-taken'> {
  const { idempotency } = entry;
  try {
    const insertion = await ports.journal.insert(entry);
    if (insertion === 'inserted') return await carryOut(ports, session, entry);
    await dropCvv(ports, entry, request);
    if (insertion === 'reference-taken') return insertion;
    // Two requests with the same key at once: the one that came second waits for the first one's answer.
    const earlier = idempotency && (await findEarlier(ports, entry.merchantAccount, idempotency));
    if (earlier !== undefined) return await replay(ports, session, earlier, idempotency);
    return failure(session, ports.now(), ID_USED);
  } catch (error) {
    ports.logger.error('an outcome is unknown', { reference: entry.reference, error });
    return unknownOutcome(session, entry);
  }
}

/** Nobody will come for it; if this fails, its 20 minutes end it. */
async function dropCvv(ports: Ports, entry: JournalEntry, request: OperationRequest): Promise<void> {
  if (cvvOf(request) !== undefined) await ports.vault.dropCvv(entry.reference);
}

async function carryOut(ports: SubmitPorts, session: Session, entry: JournalEntry): Promise<Answer> {
  const outcome = ports.pending.wait(entry.merchantAccount, entry.reference);
  void publishUntilDeadline(ports, entry);
  return answer(ports, session, entry, await outcome);
}

/** A bus that is away comes back: the command is offered again until its deadline. Twice published is once done. */
async function publishUntilDeadline(ports: SubmitPorts, entry: JournalEntry): Promise<void> {
  const command = entry.command as CardCommand;
  while (ports.now() < entry.deadline) {
    try {
      return await ports.bus.publish(command);
    } catch (error) {
      ports.logger.warn('a command is not published yet', { reference: entry.reference, error });
      if (!(error instanceof RetryableError)) return;
      await new Promise((resolve) => setTimeout(resolve, PUBLISH_AGAIN_AFTER_MS));
    }
  }
}

async function answer(
  ports: SubmitPorts,
  session: Session,
  entry: JournalEntry,
  outcome: OperationOutcome | undefined,
): Promise<Answer> {
  const response = outcome === undefined ? unknownOutcome(session, entry) : operationResponse(session, outcome);
  // Still open without an outcome: the sweeper sees to it that one comes on record.
  if (outcome !== undefined) ports.closer.close(entry.reference);
  if (entry.idempotency === undefined) return response;
  const kept = await ports.journal.keepResponse(entry.reference, response.body);
  return { ...response, body: kept as Answer['body'] };
}

/** The same key again: the same answer again, unless it was for something else. */
async function replay(
  ports: SubmitPorts,
  session: Session,
  earlier: JournalEntry,
  idempotency: Idempotency | undefined,
): Promise<Answer> {
  if (earlier.idempotency?.bodyHash !== idempotency?.bodyHash) return failure(session, ports.now(), ID_USED);
  if (earlier.response !== undefined) {
    return { httpStatus: 200, body: earlier.response as Answer['body'], replayed: true };
  }
  const outcome = await ports.pending.wait(earlier.merchantAccount, earlier.reference);
  return { ...(await answer(ports, session, earlier, outcome)), replayed: true };
}

function unknownOutcome(session: Session, entry: JournalEntry): Answer {
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
