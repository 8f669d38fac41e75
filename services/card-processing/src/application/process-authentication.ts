import type { ThreedsEvent } from '@gateway/contracts';
import { isAnswered, realmOf } from '@gateway/contracts';
import { decideAuthentication, saleDeadline } from '../domain/decide-authentication';
import type { Awaiting } from '../domain/payment';
import { findOperation } from '../domain/payment';
import type { CallContext } from './call-acquirer';
import { callAcquirer, leaseEnd } from './call-acquirer';
import { outcomeOf } from './outcome';
import type { Ports, StoredPayment } from './ports';

/**
 * Records the result of an authentication, starts the sale of a SALE3D, and replies to the edge if it still waits for the
 * first answer. A repeated or late message changes nothing.
 */
export async function processAuthentication(ports: Ports, event: ThreedsEvent, causationId: string): Promise<void> {
  const { paymentId, reference } = event.data;
  const decideOn = (payment: StoredPayment | null) => {
    if (payment === null) return 'not-on-record';
    const withCvv = payment.awaiting?.withCvv === true;
    const mayBeLost = ports.recovery.current() !== undefined;
    const times = { now: ports.now(), leaseEnd: leaseEnd(ports, payment.route, { withCvv }), mayBeLost };
    return decideAuthentication(payment, event, times);
  };
  const handled = await ports.handle<'not-on-record'>(paymentId, decideOn, { causationId });
  if (handled.rejection !== undefined) ports.logger.warn('an authentication belongs to no payment', { reference });
  const awaiting = handled.before?.awaiting;
  if (!handled.written || awaiting === undefined) return;
  const { stored: payment } = handled;
  const { pending } = payment;
  if (pending?.reference !== reference || pending.lost !== undefined) {
    await reply(ports, payment, reference, awaiting);
    return dropUnusedCvv(ports, payment, reference, awaiting);
  }
  const charge = async (): Promise<void> => {
    const context = { deadline: saleDeadline(event.data), causationId };
    await dropUnusedCvv(ports, await chargeCard(ports, payment, awaiting, context), reference, awaiting);
  };
  // The lease has run since the intent was stored, so the call does not wait for the reply.
  await ports.calls.begin(async () => {
    await Promise.all([charge(), tryReply(ports, payment, reference, awaiting)]);
  });
}

async function dropUnusedCvv(
  ports: Ports,
  payment: StoredPayment,
  reference: string,
  { withCvv }: Awaiting,
): Promise<void> {
  if (findOperation(payment, reference)?.status !== 'pending' && withCvv) await ports.cards.dropCvv(reference);
}

/** The edge waits only for the first answer. */
async function reply(ports: Ports, payment: StoredPayment, reference: string, { replyTo }: Awaiting): Promise<void> {
  if (replyTo === undefined) return;
  const outcome = await outcomeOf(ports, payment, reference);
  if (outcome !== undefined && isAnswered(outcome)) await ports.reply(outcome, replyTo);
}

/** A failed reply must not fail the call beside it: the message would come again, and find the intent. */
async function tryReply(ports: Ports, payment: StoredPayment, reference: string, awaiting: Awaiting): Promise<void> {
  try {
    await reply(ports, payment, reference, awaiting);
  } catch (error) {
    ports.logger.warn('a reply is lost; the edge will ask', { reference, error });
  }
}

async function chargeCard(
  ports: Ports,
  payment: StoredPayment,
  { customer, withCvv }: Awaiting,
  context: Pick<CallContext, 'causationId' | 'deadline'>,
): Promise<StoredPayment> {
  const { amountE4, currency, token } = findOperation(payment, payment.pending?.reference ?? '') ?? {};
  const owner = { merchantAccount: payment.merchantAccount, realm: realmOf(currency ?? '') };
  const card = token === undefined ? undefined : await ports.cards.getCard(owner, token);
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
