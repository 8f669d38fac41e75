import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { CardCommand, MessageDeclaration, ThreedsEvent } from '@gateway/contracts';
import {
  AnnounceOutcome,
  cardCommands,
  EndCheckout,
  ExpireAuthorization,
  MerchantAccount,
  PaymentId,
  paymentIdOf,
  Reference,
  threedsEvents,
  TransactionUniqueId,
} from '@gateway/contracts';
import type { Envelope, MessageHandler, RejectedMessage } from '@gateway/messaging';
import { fieldsOf, headerOf, on } from '@gateway/messaging';
import { retryableWhenTransient } from '@gateway/mongo';
import { announceOutcome } from '../../application/announce-outcome';
import { endCheckout } from '../../application/end-checkout';
import { expireAuthorization } from '../../application/expire-authorization';
import type { Ports, ReceivedCommand, RecoveryMode } from '../../application/ports';
import { processAuthentication } from '../../application/process-authentication';
import { processCommand } from '../../application/process-command';
import { recordDeadLetter } from '../../application/record-dead-letter';

/** Handlers of all messages that this service consumes. */
export function messageHandlers(ports: Ports): MessageHandler[] {
  return [
    ...commandHandlers(ports),
    ...authenticationHandlers(ports),
    announcementHandler(ports),
    checkoutHandler(ports),
    expiryHandler(ports),
  ];
}

/** One handler per command type; they differ only in the type. */
function commandHandlers(ports: Ports): MessageHandler[] {
  return Object.values(cardCommands).map((declaration) =>
    on(declaration as MessageDeclaration<CardCommand['data']>, (envelope) =>
      retryableWhenTransient(() => processCommand(ports, received(envelope, ports.recovery))),
    ),
  );
}

function authenticationHandlers(ports: Ports): MessageHandler[] {
  return Object.values(threedsEvents).map((declaration) =>
    on(declaration as MessageDeclaration<ThreedsEvent['data']>, ({ type, data, id }) =>
      retryableWhenTransient(() => processAuthentication(ports, { type, data } as ThreedsEvent, id)),
    ),
  );
}

function announcementHandler(ports: Ports): MessageHandler {
  return on(AnnounceOutcome, ({ data, id }) => retryableWhenTransient(() => announceOutcome(ports, data, id)));
}

function checkoutHandler(ports: Ports): MessageHandler {
  return on(EndCheckout, ({ data, id }) => retryableWhenTransient(() => endCheckout(ports, data, id)));
}

/** The last release's auth-expiry writes to the merchants' topic. Remove `alsoFrom` in the next release (ADR 0077). */
function expiryHandler(ports: Ports): MessageHandler {
  return on(ExpireAuthorization, ({ data, id }) => retryableWhenTransient(() => expireAuthorization(ports, data, id)), {
    alsoFrom: 'cardCommands',
  });
}

function received(envelope: Envelope, recovery: RecoveryMode): ReceivedCommand {
  // The decoder checked the data against this type's declaration.
  const command = { type: envelope.type, data: envelope.data } as CardCommand;
  const isRecovering = recovery.current() !== undefined;
  return {
    ...(isRecovering && { inRecovery: recovery.mayHaveBeenHandled(command.data.acceptedAt) ? 'replayed' : 'new' }),
    command,
    id: envelope.id,
    correlationId: envelope.correlationId,
    ...(envelope.replyPartition === undefined ? {} : { replyPartition: envelope.replyPartition }),
  };
}

/**
 * Records the end of a dead letter's operation, if the message still names it. Only a message in the merchants' topic may
 * end an operation: whoever writes the other topics has no power over it.
 */
export function deadLetterHandler(ports: Ports): (rejected: RejectedMessage) => Promise<void> {
  return async (rejected) => {
    const { envelope, declaredTopic } = rejected;
    const type = headerOf(rejected.message.headers, 'ce_type');
    if (declaredTopic !== 'cardCommands' || type === undefined || !(type in cardCommands)) {
      // The resolver ends an operation whose authentication is lost; auth-expiry repeats its request.
      ports.logger.error('a dead letter is not an operation', { type, reason: rejected.reason });
      return;
    }
    if (envelope !== undefined) {
      const { command, replyPartition, correlationId, id } = received(envelope, ports.recovery);
      const to =
        replyPartition === undefined ? undefined : { partition: replyPartition, correlationId, causationId: id };
      return retryableWhenTransient(() => recordDeadLetter(ports, command, to));
    }
    const command = salvage(rejected, ports.now());
    if (command === undefined) ports.logger.error('a dead letter names no operation', { reason: rejected.reason });
    else await retryableWhenTransient(() => recordDeadLetter(ports, command, undefined));
  };
}

/** Fields that the final event needs: an event that cannot be published would stay in the outbox forever. */
const Identification = Type.Object({
  paymentId: PaymentId,
  reference: Reference,
  merchantAccount: MerchantAccount,
  transactionUniqueId: TransactionUniqueId,
});

/** The readable part of a broken command: enough to end its operation, not to execute it. */
function salvage({ message }: RejectedMessage, now: number): CardCommand | undefined {
  const data = fieldsOf(message);
  if (!Value.Check(Identification, data) || paymentIdOf(data.reference) !== data.paymentId) return undefined;
  const { paymentId, reference, merchantAccount, transactionUniqueId } = data;
  return {
    type: headerOf(message.headers, 'ce_type'),
    data: { paymentId, reference, merchantAccount, transactionUniqueId, acceptedAt: now, deadline: now, notes: {} },
  } as unknown as CardCommand;
}
