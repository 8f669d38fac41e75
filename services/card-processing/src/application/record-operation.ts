import type { CardCommand } from '@gateway/contracts';
import { hasRoomForRefusal, refusal } from '../domain/decide';
import type { Payment, PaymentEvent } from '../domain/payment';
import { findOperation, newPayment } from '../domain/payment';
import type { Rejection } from '../domain/rejections';
import type { Ports, StoredPayment } from './ports';

type Named = Pick<CardCommand['data'], 'paymentId' | 'reference'>;

/** The document that an operation belongs to: a refusal of its own if there is one, otherwise its payment. */
export async function loadRecord(
  { payments }: Pick<Ports, 'payments'>,
  { paymentId, reference }: Named,
): Promise<StoredPayment | null> {
  const [payment, alone] = await Promise.all([payments.load(paymentId), payments.load(reference)]);
  return alone ?? payment;
}

/**
 * Puts an operation on record, once: what `decideOn` says, or its refusal. A refusal for which its payment has no room, or
 * of another merchant's payment, becomes a document of its own under the operation's reference.
 *
 * `written` is true only if this very call stored it.
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
