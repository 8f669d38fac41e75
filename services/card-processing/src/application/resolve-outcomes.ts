import { RESPONSE_CODES } from '@gateway/contracts';
import { createResolver as createDueResolver, INQUIRIES_BEFORE_ALARM, inquiryDelayMs } from '@gateway/mongo';
import type { FairWork } from '@gateway/service-kit';
import type { AcquirerAnswer } from '../domain/decide';
import { decideLostAuthentication } from '../domain/decide-authentication';
import { decideNextOverdue } from '../domain/overdue';
import { findOperation, pendingReference } from '../domain/payment';
import { recordAnswer } from './call-acquirer';
import type { AcquirerConnector, Ports, StoredPayment } from './ports';

/** Finds the outcome of calls that got no answer or whose process died, and gives up lost authentications. */
export function createResolver(ports: Ports, everyMs: number): FairWork {
  return createDueResolver({
    name: 'resolving unknown outcomes',
    everyMs,
    due: ports.payments.due,
    correlationId: ({ _id: paymentId }) => paymentId,
    resolve: (payment) => resolveOutcome(ports, payment),
    now: ports.now,
    tracer: ports.tracer,
    logger: ports.logger,
  });
}

/** Resolves a payment that this replica has claimed. */
export async function resolveOutcome(ports: Ports, payment: StoredPayment): Promise<void> {
  const { pending } = payment;
  if (pending === undefined) return findWhatToInquire(ports, payment);
  const connector = payment.route && ports.connector(payment.route.acquirer);
  if (connector === undefined)
    ports.logger.error('no connector of this name is open', { acquirer: payment.route?.acquirer });
  const answer = connector && (await find(connector, payment, pending.reference));
  if (answer === undefined) return postpone(ports, payment, pending.reference);
  await recordAnswer(ports, payment, pending.reference, answer);
  // A process that died between intent and call leaves the CVV behind.
  if (pending.kind === 'authorize' || pending.kind === 'sale') await ports.cards.dropCvv(pending.reference);
}

/** Gives up a lost authentication, or takes up the next overdue operation; then inquires about what may have happened. */
async function findWhatToInquire(ports: Ports, payment: StoredPayment): Promise<void> {
  const reference = pendingReference(payment);
  const { written, stored } =
    reference === undefined
      ? await takeUpOverdue(ports, payment)
      : await giveUpAuthentication(ports, payment, reference);
  if (written && stored.pending !== undefined) await resolveOutcome(ports, stored);
}

/** The threeds service ends every authentication in time, unless it lost it. */
async function giveUpAuthentication(ports: Ports, payment: StoredPayment, reference: string) {
  const handled = await ports.handle(payment, (current) => decideLostAuthentication(current, ports.now()));
  const hasEnded = handled.written && handled.stored.pending === undefined;
  if (hasEnded && payment.awaiting?.withCvv === true) await ports.cards.dropCvv(reference);
  return handled;
}

async function takeUpOverdue(ports: Ports, payment: StoredPayment) {
  const now = ports.now();
  const inquiries = (payment.inquiries ?? 0) + 1;
  const handled = await ports.handle(payment, (current) =>
    pendingReference(current) === undefined
      ? decideNextOverdue(current, { now, retryAt: now + inquiryDelayMs(inquiries) })
      : [],
  );
  if (handled.written && handled.stored.inquiries === INQUIRIES_BEFORE_ALARM) {
    ports.logger.error('operations wait for their base, which is not on record; ask the acquirer', {
      payment: payment._id,
    });
  }
  return handled;
}

/** Undefined while unknown. "Not found" is final only when the acquirer confirms that it will never run the key. */
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

/** The final error has the code that the merchant got first, or that of the deadline which a lost call missed. */
function notExecuted(payment: StoredPayment, reference: string): AcquirerAnswer {
  const code = payment.pending?.lost?.code ?? findOperation(payment, reference)?.code;
  return { kind: 'not-executed', code: code ?? RESPONSE_CODES.OUTCOME_UNKNOWN };
}

async function postpone(ports: Ports, payment: StoredPayment, reference: string): Promise<void> {
  const inquiries = (payment.inquiries ?? 0) + 1;
  if (inquiries >= INQUIRIES_BEFORE_ALARM) {
    ports.logger.error('an outcome stays unknown; ask the acquirer', { reference, inquiries });
  }
  const resolveAt = ports.now() + inquiryDelayMs(inquiries);
  await ports.handle(payment, ({ pending }) =>
    pending?.reference === reference ? [{ type: 'InquiryFailed', reference, resolveAt }] : [],
  );
}
