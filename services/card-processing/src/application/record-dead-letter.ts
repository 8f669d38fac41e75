import type { CardCommand } from '@gateway/contracts';
import { refusal } from '../domain/decide';
import { findOperation } from '../domain/payment';
import { outcomeOf } from './outcome';
import type { Ports } from './ports';
import { record, untilWritten } from './record';

/**
 * Ends on record an operation whose command can never be processed: error 3000 under its own reference, because its
 * payment may be what is broken. Nothing is overwritten where an outcome stands already.
 */
export async function recordDeadLetter(
  ports: Ports,
  command: CardCommand,
  to: { partition: number; correlationId: string; causationId: string } | undefined,
): Promise<void> {
  const { reference, paymentId, merchantAccount } = command.data;
  const stored = await untilWritten(async () => {
    const payment = await ports.payments.load(paymentId);
    if (payment !== null && findOperation(payment, reference) !== undefined) return payment;
    const existing = await ports.payments.load(reference);
    if (existing !== null) return existing;
    const target = { id: reference, merchantAccount, stored: null };
    return record(ports, target, [refusal(command, 'never-processable')], {}, to?.causationId);
  });
  await ports.publishEvents(stored);
  const outcome = await outcomeOf(ports, stored, reference);
  if (to !== undefined && outcome !== undefined && outcome.status !== 'pending') await ports.reply(outcome, to);
}
