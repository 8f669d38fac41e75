import type { MessageDeclaration, OperationRecord, PayoutRecord } from '@gateway/contracts';
import { callbackValues, cardEvents, isTestCurrency, payoutEvents, testMark } from '@gateway/contracts';
import type { MessageHandler } from '@gateway/messaging';
import { on } from '@gateway/messaging';
import { retryableWhenTransient } from '@gateway/mongo';
import { acceptOutcome } from '../../application/accept-outcome';
import type { Dispatcher } from '../../application/dispatcher';
import type { Ports } from '../../application/ports';
import type { Outcome } from '../../domain/callback';

/** Handles the events of cards and payouts that may call for a callback. */
export function outcomeHandlers(ports: Ports, dispatcher: Dispatcher): MessageHandler[] {
  const take: Take = (eventId, outcome) =>
    retryableWhenTransient(() => acceptOutcome(ports, dispatcher, eventId, outcome));
  return [
    ...handlersOf<OperationRecord>(cardEvents, take, ({ paymentId, callbackSequence, dueClockMs }) => ({
      kind: 'card',
      paymentId,
      sequence: callbackSequence,
      dueClockMs,
    })),
    // A payout has one callback.
    ...handlersOf<PayoutRecord>(payoutEvents, take, ({ payoutId }) => ({
      kind: 'payout',
      paymentId: payoutId,
      sequence: 1,
    })),
  ];
}

type Take = (eventId: string, outcome: Outcome) => Promise<void>;

/** The owner of an outcome sets `callbackUrl` only on the final event, the one to report to the merchant. */
function handlersOf<T extends OperationRecord | PayoutRecord>(
  events: Record<string, MessageDeclaration>,
  take: Take,
  sourceOf: (data: T) => Pick<Outcome, 'kind' | 'paymentId' | 'sequence' | 'dueClockMs'>,
): MessageHandler[] {
  return Object.values(events).map((declaration) =>
    on<OperationRecord | PayoutRecord>(
      declaration as MessageDeclaration<T>,
      async ({ id, data }) => {
        const { callbackUrl, merchantAccount, status, currency } = data;
        if (callbackUrl === undefined) return;
        if (status === 'pending') throw new Error('broken invariant: an outcome that is not final has a callback');
        const mark = testMark(currency !== undefined && isTestCurrency(currency));
        await take(id, { ...sourceOf(data as T), ...callbackValues(data), ...mark, merchantAccount, callbackUrl });
      },
      { onlyWith: 'callbackUrl' },
    ),
  );
}
