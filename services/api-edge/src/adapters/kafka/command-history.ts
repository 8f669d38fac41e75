import type { CardCommand, MessageDeclaration } from '@gateway/contracts';
import { cardCommands, InitiatePayout, operationTypeOf, services, testMark } from '@gateway/contracts';
import type { KafkaClient } from '@gateway/messaging';
import { decodeMessage, readBackwards, topicRanges } from '@gateway/messaging';
import type { Logger } from '@gateway/service-kit';
import { messageOf } from '@gateway/service-kit';
import type { CommandHistory } from '../../application/recover-journal';
import type { JournalEntry, OperationEntry, PayoutEntry } from '../../application/ports';

/** The commands in Kafka, of the last seven days (ADR 0088). */
export function createCommandHistory(options: {
  kafka: KafkaClient;
  topicPrefix: string;
  /** How long the replica that accepts a payout publishes it. */
  replyTimeoutMs: number;
  logger: Logger;
}): CommandHistory {
  const { kafka, topicPrefix, replyTimeoutMs, logger } = options;
  const declarations: readonly MessageDeclaration[] = [...Object.values(cardCommands), InitiatePayout];

  function entryOf(at: { topic: string; partition: number }, message: Parameters<typeof decodeMessage>[2]) {
    try {
      const decoded = decodeMessage(declarations, at, message);
      if (decoded === undefined) return [];
      if (decoded.type === InitiatePayout.type) return [payoutEntry(decoded.data as PayoutCommandData, replyTimeoutMs)];
      return [operationEntry({ type: decoded.type, data: decoded.data } as CardCommand)];
    } catch (error) {
      logger.error('a command cannot be read, so its entry cannot be put back', { ...at, reason: messageOf(error) });
      return [];
    }
  }

  return {
    async read(onChunk) {
      const ranges = await topicRanges(kafka, topicPrefix, services.apiEdge.rereads);
      await readBackwards(kafka, ranges, (messages, at) =>
        onChunk(messages.flatMap((message): JournalEntry[] => entryOf(at, message))),
      );
    },
  };
}

type PayoutCommandData = NonNullable<PayoutEntry['command']>['data'];

function operationEntry(command: CardCommand): OperationEntry {
  const { data } = command;
  const { reference, paymentId, merchantAccount, transactionUniqueId, acceptedAt, isTest } = data;
  return {
    ...{ reference, paymentId, merchantAccount, transactionUniqueId, acceptedAt },
    space: 'card',
    operationType: operationTypeOf[command.type],
    // A command of a refused card has a deadline long ago; its sweeper may look at once.
    deadline: data.deadline,
    ...('baseReference' in data ? { baseReference: data.baseReference } : {}),
    ...('checkoutAttempt' in data && data.checkoutAttempt !== undefined ? { attempt: data.checkoutAttempt } : {}),
    ...('token' in data && data.overLimit === undefined ? { token: data.token } : {}),
    ...testMark(isTest),
    command,
  };
}

function payoutEntry(data: PayoutCommandData, replyTimeoutMs: number): PayoutEntry {
  const { reference, payoutId, merchantAccount, transactionUniqueId, token, acceptedAt, isTest } = data;
  return {
    ...{ reference, paymentId: payoutId, merchantAccount, transactionUniqueId, token, acceptedAt },
    space: 'payout',
    deadline: acceptedAt + replyTimeoutMs,
    ...testMark(isTest),
    command: { type: 'InitiatePayout', data },
  };
}
