import { RESPONSE_CODES } from '@gateway/contracts';
import { createResolver as createDueResolver, INQUIRIES_BEFORE_ALARM, inquiryDelayMs } from '@gateway/mongo';
import type { FairWork } from '@gateway/service-kit';
import type { AcquirerAnswer } from '../domain/decide';
import { decideLostAuthentication } from '../domain/decide-authentication';
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
  if (pending === undefined) return giveUpAuthentication(ports, payment);
  const connector = payment.route && ports.connector(payment.route.acquirer);
  if (connector === undefined)
    ports.logger.error('no connector of this name is open', { acquirer: payment.route?.acquirer });
  const answer = connector && (await find(connector, payment, pending.reference));
  if (answer === undefined) return postpone(ports, payment, pending.reference);
  await recordAnswer(ports, payment, pending.reference, answer);
  // A process that died between intent and call leaves the CVV behind.
  if (pending.kind === 'authorize' || pending.kind === 'sale') await ports.cards.dropCvv(pending.reference);
}

/** The threeds service ends every authentication in time, unless it lost it. */
async function giveUpAuthentication(ports: Ports, payment: StoredPayment): Promise<void> {
  const { written } = await ports.handle(payment, decideLostAuthentication);
  const reference = pendingReference(payment);
  if (written && payment.awaiting?.withCvv === true && reference !== undefined) await ports.cards.dropCvv(reference);
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

/** The final error has the code that the merchant got first. */
function notExecuted(payment: StoredPayment, reference: string): AcquirerAnswer {
  return { kind: 'not-executed', code: findOperation(payment, reference)?.code ?? RESPONSE_CODES.OUTCOME_UNKNOWN };
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
