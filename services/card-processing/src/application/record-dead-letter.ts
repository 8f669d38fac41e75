import type { CardCommand } from '@gateway/contracts';
import { outcomeOf } from './outcome';
import type { Ports } from './ports';
import { recordOperation } from './record-operation';

/**
 * Ends an operation whose command can never be processed with error 3000, unless it already has an outcome. If the
 * command is replayed or redelivered afterwards, it has no effect.
 */
export async function recordDeadLetter(
  ports: Ports,
  command: CardCommand,
  to: { partition: number; correlationId: string; causationId: string } | undefined,
): Promise<void> {
  const { reference } = command.data;
  const causationId = to?.causationId;
  const { payment } = await recordOperation(ports, command, () => 'never-processable', { causationId });
  await ports.cards.dropCvv(reference);
  const outcome = await outcomeOf(ports, payment, reference);
  if (to !== undefined && outcome !== undefined && outcome.status !== 'pending') await ports.reply(outcome, to);
}
