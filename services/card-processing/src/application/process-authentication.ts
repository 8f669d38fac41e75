import { untilWritten } from '@gateway/service-kit';
import type { ThreedsEvent } from '@gateway/contracts';
import { isTellable } from '@gateway/contracts';
import { decideAuthentication, saleDeadline } from '../domain/decide-authentication';
import { findOperation } from '../domain/payment';
import type { CallContext } from './call-acquirer';
import { callAcquirer, callTimeoutMs } from './call-acquirer';
import { outcomeOf } from './outcome';
import type { Awaiting, Ports, StoredPayment } from './ports';
import { record } from './record';

/**
 * What the threeds service found out about a cardholder: stored, then told to the edge that waits for the first answer.
 * The sale of a SALE3D follows at once. Heard again, or too late, it changes nothing.
 */
export async function processAuthentication(ports: Ports, event: ThreedsEvent, causationId: string): Promise<void> {
  const { reference } = event.data;
  const taken = await untilWritten(() => takeUp(ports, event, causationId));
  const { payment, awaiting } = taken;
  if (payment === null) {
    ports.logger.warn('an authentication of no payment', { reference });
    return;
  }
  if (awaiting === undefined) return ports.publishEvents(payment);
  await reply(ports, payment, reference, awaiting);
  if (payment.pending?.reference !== reference) return finish(ports, payment, reference, awaiting);
  await ports.calls.begin(async () =>
    finish(
      ports,
      await sell(ports, payment, awaiting, { deadline: saleDeadline(event.data), causationId }),
      reference,
      awaiting,
    ),
  );
}

async function finish(ports: Ports, payment: StoredPayment, reference: string, { withCvv }: Awaiting): Promise<void> {
  if (findOperation(payment, reference)?.status !== 'pending' && withCvv) await ports.cards.dropCvv(reference);
  ports.publishEvents(payment);
}

interface TakenUp {
  payment: StoredPayment | null;
  /** Only when this very run has stored what the event says. */
  awaiting?: Awaiting;
}

async function takeUp(ports: Ports, event: ThreedsEvent, causationId: string): Promise<TakenUp | undefined> {
  const { paymentId } = event.data;
  const stored = await ports.payments.load(paymentId);
  if (stored?.awaiting === undefined) return { payment: stored };
  const now = ports.now();
  const decided = decideAuthentication(stored, event, now);
  if (decided.length === 0) return { payment: stored };
  const isCall = decided.some(({ type }) => type === 'AuthenticatedSaleStarted');
  const { replyTo: _told, ...awaiting } = stored.awaiting;
  const extras = { awaiting, ...(isCall ? { resolveAt: now + callTimeoutMs(ports, stored.route) } : {}) };
  const target = { id: paymentId, merchantAccount: stored.merchantAccount, stored };
  const payment = await record(ports, target, decided, extras, causationId);
  return payment && { payment, awaiting: stored.awaiting };
}

/** The edge waits for one answer: the first news. */
async function reply(ports: Ports, payment: StoredPayment, reference: string, { replyTo }: Awaiting): Promise<void> {
  if (replyTo === undefined) return;
  const outcome = await outcomeOf(ports, payment, reference);
  if (outcome !== undefined && isTellable(outcome)) await ports.reply(outcome, replyTo);
}

async function sell(
  ports: Ports,
  payment: StoredPayment,
  { customer, withCvv }: Awaiting,
  context: Pick<CallContext, 'causationId' | 'deadline'>,
): Promise<StoredPayment> {
  const { amountE4, token } = findOperation(payment, payment.pending?.reference ?? '') ?? {};
  const card = token === undefined ? undefined : await ports.cards.getCard(payment.merchantAccount, token);
  return callAcquirer(ports, payment, {
    request: {
      customer,
      withCvv,
      ...(amountE4 === undefined ? {} : { amountE4 }),
      ...(card === undefined ? {} : { card }),
    },
    ...context,
  });
}
