import type { CardCommand, MessageDeclaration } from '@gateway/contracts';
import { cardCommands } from '@gateway/contracts';
import type { Envelope, MessageHandler, RejectedMessage } from '@gateway/messaging';
import { headerOf, on } from '@gateway/messaging';
import { retryableWhenTransient } from '@gateway/mongo';
import type { Ports, ReceivedCommand } from '../../application/ports';
import { processCommand } from '../../application/process-command';
import { recordDeadLetter } from '../../application/record-dead-letter';

/** One handler per command type; they differ in nothing but the type. */
export function commandHandlers(ports: Ports): MessageHandler[] {
  return Object.values(cardCommands).map((declaration) =>
    on(declaration as MessageDeclaration<CardCommand['data']>, (envelope) =>
      retryableWhenTransient(() => processCommand(ports, received(envelope))),
    ),
  );
}

function received(envelope: Envelope): ReceivedCommand {
  return {
    // Checked against the declaration of this very type when it was decoded.
    command: { type: envelope.type, data: envelope.data } as CardCommand,
    id: envelope.id,
    correlationId: envelope.correlationId,
    ...(envelope.replyPartition === undefined ? {} : { replyPartition: envelope.replyPartition }),
  };
}

/** Ends the operation of a dead letter on record, as far as the message still says which one that is. */
export function deadLetterHandler(ports: Ports): (rejected: RejectedMessage) => Promise<void> {
  return async (rejected) => {
    const { envelope } = rejected;
    if (envelope !== undefined) {
      const { command, replyPartition, correlationId, id } = received(envelope);
      const to =
        replyPartition === undefined ? undefined : { partition: replyPartition, correlationId, causationId: id };
      return retryableWhenTransient(() => recordDeadLetter(ports, command, to));
    }
    const command = salvage(rejected, ports.now());
    if (command === undefined) ports.logger.error('a dead letter names no operation', { reason: rejected.reason });
    else await retryableWhenTransient(() => recordDeadLetter(ports, command, undefined));
  };
}

const IDENTIFYING = ['paymentId', 'reference', 'merchantAccount', 'transactionUniqueId'] as const;

/** What a broken command still says about itself: enough to end its operation, not to run it. */
function salvage({ message }: RejectedMessage, now: number): CardCommand | undefined {
  const type = headerOf(message.headers, 'ce_type');
  const data = parsed(message.value);
  if (type === undefined || !(type in cardCommands) || data === undefined) return undefined;
  if (!IDENTIFYING.every((name) => typeof data[name] === 'string')) return undefined;
  const ids = Object.fromEntries(IDENTIFYING.map((name) => [name, data[name]]));
  return { type, data: { ...ids, acceptedAt: now, deadline: now, notes: {} } } as unknown as CardCommand;
}

function parsed(value: Buffer | null): Record<string, unknown> | undefined {
  try {
    const data: unknown = JSON.parse(value?.toString() ?? '');
    return typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
