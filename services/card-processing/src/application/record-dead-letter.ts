import { untilWritten } from '@gateway/service-kit';
import type { CardCommand } from '@gateway/contracts';
import { findOperation } from '../domain/payment';
import { outcomeOf } from './outcome';
import type { Ports } from './ports';
import { loadRecords, recordRefusal } from './record-refusal';

/**
 * Ends on record an operation whose command can never be processed: error 3000. Nothing is overwritten where an outcome
 * stands already, and from then on the command is not run any more, replayed or redelivered.
 */
export async function recordDeadLetter(
  ports: Ports,
  command: CardCommand,
  to: { partition: number; correlationId: string; causationId: string } | undefined,
): Promise<void> {
  const { reference, merchantAccount } = command.data;
  const stored = await untilWritten(async () => {
    const [payment, alone] = await loadRecords(ports, command);
    if (alone !== null) return alone;
    if (payment !== null && findOperation(payment, reference) !== undefined) return payment;
    const own = payment === null || payment.merchantAccount === merchantAccount;
    return recordRefusal(ports, command, own ? payment : undefined, 'never-processable', to?.causationId);
  });
  ports.publishEvents(stored);
  await ports.cards.dropCvv(reference);
  const outcome = await outcomeOf(ports, stored, reference);
  if (to !== undefined && outcome !== undefined && outcome.status !== 'pending') await ports.reply(outcome, to);
}
