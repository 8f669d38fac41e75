import type { AuthenticateCardholderData } from '@gateway/contracts';
import {
  AuthenticateCardholder,
  AuthenticationRefused,
  paymentIdOf,
  RESPONSE_CODES,
  TEST_CURRENCY,
} from '@gateway/contracts';
import type { MessageHandler, RejectedMessage } from '@gateway/messaging';
import { fieldsOf, headerOf, on } from '@gateway/messaging';
import { retryableWhenTransient } from '@gateway/mongo';
import { authenticateCardholder } from '../../application/authenticate-cardholder';
import type { Ports } from '../../application/ports';
import { recordDeadLetter } from '../../application/record-dead-letter';
import type { AskedAuthentication } from '../../domain/authentication';

export function commandHandlers(ports: Ports): MessageHandler[] {
  return [
    on(AuthenticateCardholder, ({ data, id, correlationId }) =>
      retryableWhenTransient(() => authenticateCardholder(ports, { data, id, correlationId })),
    ),
  ];
}

/** Ends the authentication of a dead letter, if the message still names it. */
export function deadLetterHandler(ports: Ports): (rejected: RejectedMessage) => Promise<void> {
  return async (rejected) => {
    const { envelope } = rejected;
    if (envelope !== undefined) {
      const from = { correlationId: envelope.correlationId, causationId: envelope.id };
      // Decoding has checked the data against the declaration.
      const data = envelope.data as AuthenticateCardholderData;
      return retryableWhenTransient(() => recordDeadLetter(ports, data, from));
    }
    const asked = salvage(rejected, ports.now());
    if (asked === undefined) {
      ports.logger.error('a dead letter names no operation', { reason: rejected.reason });
      return;
    }
    await retryableWhenTransient(() => recordDeadLetter(ports, asked, { correlationId: asked.paymentId }));
  };
}

/** The readable part of a broken command: enough to end its authentication, not to run it. */
function salvage({ message }: RejectedMessage, now: number): AskedAuthentication | undefined {
  const data = fieldsOf(message);
  if (headerOf(message.headers, 'ce_type') !== AuthenticateCardholder.type || data === undefined) return undefined;
  const { paymentId, reference, merchantAccount, transactionType, transactionUniqueId } = data;
  // An event that cannot be published would stay in the outbox forever.
  const end = {
    paymentId,
    reference,
    merchantAccount,
    transactionType,
    challenged: false,
    code: RESPONSE_CODES.PROCESSING_ERROR,
    occurredAt: now,
  };
  if (AuthenticationRefused.problem(end) !== undefined || paymentIdOf(String(reference)) !== paymentId)
    return undefined;
  return {
    ...(end as Pick<AskedAuthentication, 'paymentId' | 'reference' | 'merchantAccount' | 'transactionType'>),
    transactionUniqueId: typeof transactionUniqueId === 'string' ? transactionUniqueId : '',
    // Never shown: its page's address was never sent.
    amountE4: 0,
    currency: TEST_CURRENCY,
    deadline: now,
  };
}
