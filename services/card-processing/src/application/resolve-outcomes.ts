import { RESPONSE_CODES } from '@gateway/contracts';
import type { FairWork } from '@gateway/service-kit';
import { createFairWork, newTraceparent, runWithTrace, untilWritten } from '@gateway/service-kit';
import type { AcquirerAnswer } from '../domain/decide';
import { decideLostAuthentication } from '../domain/decide-authentication';
import { findOperation, pendingReference } from '../domain/payment';
import { recordAnswer } from './call-acquirer';
import type { AcquirerConnector, Ports, StoredPayment } from './ports';
import { record } from './record';

const BACKOFF_FIRST_MS = 500;
const BACKOFF_MAX_MS = 300_000;
/** Longer than an inquiry and a cancellation, each with its time-out, can take. */
const CLAIM_MS = 25_000;
/** From here on the log calls for an operator each time. */
const INQUIRIES_BEFORE_ALARM = 10;
/** Outcomes that one replica looks for at once: in all, and of one account. */
const PARALLEL_MAX = 64;
const PARALLEL_PER_ACCOUNT_MAX = 16;

/**
 * Finds out what became of calls that ended without an answer, or whose process died, and gives up authentications that
 * nobody ends. Any replica may; one at a time holds the claim. Accounts take turns, so that an acquirer that is slow
 * about those of one account keeps no other's waiting.
 */
export function createResolver(ports: Ports, everyMs: number): FairWork {
  return createFairWork({
    name: 'resolving unknown outcomes',
    everyMs,
    dueParties: (after, limit) => ports.payments.accountsWithUnresolved(ports.now(), after, limit),
    claim: (account) => ports.payments.claimUnresolved(account, CLAIM_MS),
    work: (payment) =>
      runWithTrace({ correlationId: payment._id, traceparent: newTraceparent() }, () => resolve(ports, payment)),
    onFailure: ({ _id: payment }, error) =>
      ports.logger.warn('an outcome could not be looked for; it comes round again', { payment, error }),
    parallel: PARALLEL_MAX,
    parallelPerParty: PARALLEL_PER_ACCOUNT_MAX,
    logger: ports.logger,
  });
}

async function resolve(ports: Ports, payment: StoredPayment): Promise<void> {
  const { pending } = payment;
  if (pending === undefined) return giveUpAuthentication(ports, payment);
  const connector = payment.route && ports.connector(payment.route.acquirer);
  if (connector === undefined)
    ports.logger.error('no connector of this name is open', { acquirer: payment.route?.acquirer });
  const answer = connector && (await find(connector, payment, pending.reference));
  if (answer === undefined) return postpone(ports, payment, pending.reference);
  const written = await recordAnswer(ports, payment, pending.reference, answer);
  ports.publishEvents(written);
  // A process that died between intent and call has left its CVV behind.
  if (pending.kind === 'authorize' || pending.kind === 'sale') await ports.cards.dropCvv(pending.reference);
}

/** The threeds service ends every authentication in time. Whatever it has lost ends here. */
async function giveUpAuthentication(ports: Ports, payment: StoredPayment): Promise<void> {
  const events = decideLostAuthentication(payment);
  if (events.length === 0) return;
  const target = { id: payment._id, merchantAccount: payment.merchantAccount, stored: payment };
  // When someone else wrote meanwhile it was not lost, or comes round again.
  const stored = await record(ports, target, events, {});
  if (stored === undefined) return;
  ports.publishEvents(stored);
  const reference = pendingReference(payment);
  if (payment.awaiting?.withCvv === true && reference !== undefined) await ports.cards.dropCvv(reference);
}

/** Undefined: not known yet. "Not found" is final only when the acquirer confirms that it will never run the key. */
async function find(
  connector: AcquirerConnector,
  payment: StoredPayment,
  reference: string,
): Promise<AcquirerAnswer | undefined> {
  const operation = { merchantAccount: payment.merchantAccount, reference };
  const inquiry = await connector.inquire(operation);
  switch (inquiry.kind) {
    case 'approved':
    case 'declined':
      return inquiry;
    case 'cancelled':
      return notExecuted(payment, reference);
    case 'unknown':
      return undefined;
    case 'not-found': {
      const cancellation = await connector.cancel?.(operation);
      if (cancellation === undefined || cancellation.kind === 'unknown') return undefined;
      return cancellation.kind === 'cancelled' ? notExecuted(payment, reference) : cancellation;
    }
  }
}

/** The final error has the code that the merchant was told first. */
function notExecuted(payment: StoredPayment, reference: string): AcquirerAnswer {
  return { kind: 'not-executed', code: findOperation(payment, reference)?.code ?? RESPONSE_CODES.OUTCOME_UNKNOWN };
}

async function postpone(ports: Ports, payment: StoredPayment, reference: string): Promise<void> {
  const inquiries = (payment.inquiries ?? 0) + 1;
  const delayMs = Math.min(BACKOFF_FIRST_MS * 2 ** inquiries, BACKOFF_MAX_MS);
  if (inquiries >= INQUIRIES_BEFORE_ALARM) {
    ports.logger.error('an outcome stays unknown; ask the acquirer', { reference, inquiries });
  }
  let current: StoredPayment | null = payment;
  await untilWritten(async () => {
    current ??= await ports.payments.load(payment._id);
    if (current?.pending?.reference !== reference) return true;
    const target = { id: current._id, merchantAccount: current.merchantAccount, stored: current };
    const stored = await record(ports, target, [], { resolveAt: ports.now() + delayMs, inquiries });
    current = null;
    return stored === undefined ? undefined : true;
  });
}
