import type { MessageDeclaration, OperationRecord } from '@gateway/contracts';
import { cardEvents } from '@gateway/contracts';
import type { MessageHandler } from '@gateway/messaging';
import { on } from '@gateway/messaging';
import { retryableWhenTransient } from '@gateway/mongo';
import { acceptOutcome } from '../../application/accept-outcome';
import type { Dispatcher } from '../../application/dispatcher';
import type { Ports } from '../../application/ports';
import type { Outcome } from '../../domain/callback';

/** card-processing says by `callbackUrl` which of its events is a final outcome that its merchant is to be told. */
export function cardOutcomeHandlers(ports: Ports, dispatcher: Dispatcher): MessageHandler[] {
  return Object.values(cardEvents).map((declaration) =>
    on(declaration as MessageDeclaration<OperationRecord>, async ({ id, data }) => {
      const { callbackUrl } = data;
      if (callbackUrl === undefined) return;
      await retryableWhenTransient(() => acceptOutcome(ports, dispatcher, id, outcomeOf(data, callbackUrl)));
    }),
  );
}

function outcomeOf(data: OperationRecord, callbackUrl: string): Outcome {
  const { paymentId, reference, merchantAccount, transactionUniqueId, status, code, message, token } = data;
  if (status === 'pending') throw new Error('broken invariant: an outcome that is not final has a callback');
  return {
    kind: 'card',
    paymentId,
    reference,
    merchantAccount,
    transactionUniqueId,
    status,
    code,
    message,
    ...(token === undefined ? {} : { token }),
    callbackUrl,
  };
}
