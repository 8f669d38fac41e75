import type { CardCommand } from '@gateway/contracts';
import { hasRoomForRefusal, refusal } from '../domain/decide';
import type { Payment, PaymentEvent } from '../domain/payment';
import { findOperation, newPayment } from '../domain/payment';
import type { Rejection } from '../domain/rejections';
import type { Ports, StoredPayment } from './ports';

type Named = Pick<CardCommand['data'], 'paymentId' | 'reference'>;

/** The operation's document: its own if it is a separate refusal, otherwise its payment's. */
export async function loadRecord(
  { payments }: Pick<Ports, 'payments'>,
  { paymentId, reference }: Named,
): Promise<StoredPayment | null> {
  const [payment, alone] = await Promise.all([payments.load(paymentId), payments.load(reference)]);
  return alone ?? payment;
}

/**
 * Stores an operation once: the events of `decideOn`, or the refusal. A refusal gets its own document, under the
 * operation's reference, if the payment has no room for it or belongs to another merchant.
 *
 * `written` is true only if this call stored it.
 */
export async function recordOperation(
  ports: Ports,
  command: CardCommand,
  decideOn: (payment: Payment) => PaymentEvent[] | Rejection,
  context: { causationId?: string | undefined; expectNew?: boolean },
): Promise<{ written: boolean; payment: StoredPayment }> {
  const { paymentId, reference, merchantAccount } = command.data;
  const opened: PaymentEvent = { type: 'PaymentOpened', merchantAccount };

  const decideHere = (known: StoredPayment | null): PaymentEvent[] | Rejection => {
    if (known !== null && findOperation(known, reference) !== undefined) return [];
    const isOwn = known === null || known.merchantAccount === merchantAccount;
    const payment = isOwn && known !== null ? known : newPayment(merchantAccount);
    const decided = decideOn(payment);
    const hasRoom = isOwn && hasRoomForRefusal(payment);
    if (typeof decided === 'string' && !hasRoom) return decided;
    const events = typeof decided === 'string' ? [refusal(command, decided)] : decided;
    return known === null ? [opened, ...events] : events;
  };

  const load = () => loadRecord(ports, command.data);
  const { written, stored, rejection } = await ports.handle<Rejection>(paymentId, decideHere, { ...context, load });
  if (rejection === undefined) return { written, payment: onRecord(stored, reference) };
  const alone = await ports.handle(
    reference,
    (known) => (known === null ? [opened, refusal(command, rejection)] : []),
    { causationId: context.causationId, expectNew: true },
  );
  return { written: alone.written, payment: onRecord(alone.stored, reference) };
}

function onRecord(stored: StoredPayment | null, reference: string): StoredPayment {
  if (stored === null) throw new Error(`broken invariant: ${reference} is not on record`);
  return stored;
}
