import type { CardCommand, TestMark } from '@gateway/contracts';
import { testMark } from '@gateway/contracts';
import { hasRoomForRefusal, refusal } from '../domain/decide';
import type { Operation, Payment, PaymentEvent } from '../domain/payment';
import { findOperation, newPayment } from '../domain/payment';
import type { Rejection } from '../domain/rejections';
import type { Ports, StoredPayment } from './ports';

type Named = Pick<CardCommand['data'], 'paymentId' | 'reference'>;

/**
 * The operation's document: its own if it is a separate refusal, otherwise its payment's. Gives a refusal its document
 * that a handler has decided and not moved yet.
 */
export async function loadRecord(
  ports: Pick<Ports, 'payments' | 'handle'>,
  named: Named,
): Promise<StoredPayment | null> {
  const { payments } = ports;
  const [payment, alone] = await Promise.all([payments.load(named.paymentId), payments.load(named.reference)]);
  if (alone !== null || payment === null || hasRoomForRefusal(payment)) return alone ?? payment;
  if (payment.refusal !== undefined) {
    await moveRefusal(ports, payment, payment.refusal);
    return loadRecord(ports, named);
  }
  // Read after the payment: a refusal that has left it by now is found here.
  return (await payments.load(named.reference)) ?? payment;
}

/**
 * Stores an operation once: the events of `decideOn`, or the refusal. A refusal gets its own document, under the
 * operation's reference, if the payment has no room for it or belongs to another merchant.
 *
 * Without room it is decided in the payment's document first. So the version of the payment guards it as it guards an
 * acceptance, and two handlers of one command cannot decide differently (ADR 0009).
 *
 * `written` is true only if this call decided it.
 */
export async function recordOperation(
  ports: Ports,
  command: CardCommand,
  decideOn: (payment: Payment) => PaymentEvent[] | Rejection,
  context: { causationId?: string | undefined; expectNew?: boolean },
): Promise<{ written: boolean; payment: StoredPayment }> {
  const { paymentId, reference, merchantAccount, isTest } = command.data;
  const owner = { merchantAccount, ...testMark(isTest) };
  const opened: PaymentEvent = { type: 'PaymentOpened', ...owner };

  const refusalIn = (payment: Payment, rejection: Rejection): PaymentEvent => {
    const recorded = refusal(command, rejection);
    return hasRoomForRefusal(payment) ? recorded : { ...recorded, type: 'RefusalDecided' };
  };
  const decideHere = (known: StoredPayment | null): PaymentEvent[] | Rejection => {
    if (known !== null && findOperation(known, reference) !== undefined) return [];
    const isOwn = known === null || known.merchantAccount === merchantAccount;
    const payment = isOwn && known !== null ? known : newPayment(merchantAccount);
    const decided = decideOn(payment);
    // Nobody has carried out a follow-up on another merchant's payment, however late it comes.
    if (!isOwn) return typeof decided === 'string' ? decided : 'reference-not-found';
    const events = typeof decided === 'string' ? [refusalIn(payment, decided)] : decided;
    return known === null ? [opened, ...events] : events;
  };

  const load = () => loadRecord(ports, command.data);
  const { written, stored, rejection } = await ports.handle<Rejection>(paymentId, decideHere, { ...context, load });
  if (rejection !== undefined) {
    return recordAlone(ports, owner, refusal(command, rejection).operation, context.causationId);
  }
  const payment = onRecord(stored, reference);
  if (payment.refusal?.reference !== reference) return { written, payment };
  return { written, payment: await moveRefusal(ports, payment, payment.refusal, context.causationId) };
}

/** Gives a refusal that its payment has decided a document of its own. */
async function moveRefusal(
  ports: Pick<Ports, 'handle'>,
  payment: StoredPayment,
  operation: Operation,
  causationId?: string,
): Promise<StoredPayment> {
  const { reference } = operation;
  // An older release, which does not see the refusal, may have accepted the operation since.
  const isAccepted = findOperation(payment, reference) !== undefined;
  const record = isAccepted ? payment : (await recordAlone(ports, payment, operation, causationId)).payment;
  await ports.handle(payment, (current) =>
    current.refusal?.reference === reference ? [{ type: 'RefusalMoved', reference }] : [],
  );
  return record;
}

async function recordAlone(
  ports: Pick<Ports, 'handle'>,
  { merchantAccount, isTest }: { merchantAccount: string } & TestMark,
  operation: Operation,
  causationId: string | undefined,
): Promise<{ written: boolean; payment: StoredPayment }> {
  const { reference } = operation;
  const events: PaymentEvent[] = [
    { type: 'PaymentOpened', merchantAccount, ...testMark(isTest) },
    { type: 'OperationRecorded', operation },
  ];
  const record = (known: StoredPayment | null) => (known === null ? events : []);
  const { written, stored } = await ports.handle(reference, record, { causationId, expectNew: true });
  return { written, payment: onRecord(stored, reference) };
}

function onRecord(stored: StoredPayment | null, reference: string): StoredPayment {
  if (stored === null) throw new Error(`broken invariant: ${reference} is not on record`);
  return stored;
}
