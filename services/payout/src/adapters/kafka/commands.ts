import { Value } from '@sinclair/typebox/value';
import type { InitiatePayoutData } from '@gateway/contracts';
import { InitiatePayout } from '@gateway/contracts';
import type { MessageHandler, RejectedMessage } from '@gateway/messaging';
import { fieldsOf, headerOf, on } from '@gateway/messaging';
import { retryableWhenTransient } from '@gateway/mongo';
import type { Ports } from '../../application/ports';
import { processCommand } from '../../application/process-command';
import { recordDeadLetter } from '../../application/record-dead-letter';
import type { PayoutRequest } from '../../domain/payout';

/** Handlers of all messages that this service consumes. */
export function messageHandlers(ports: Ports): MessageHandler[] {
  return [
    on(InitiatePayout, ({ data, id }) =>
      retryableWhenTransient(() => processCommand(ports, { request: requestOf(data), id })),
    ),
  ];
}

/** The command in the domain's terms. */
export function requestOf({ receiver, description, ...request }: InitiatePayoutData): PayoutRequest {
  return { ...request, receiverCountry: countryOf(receiver.iban), instruction: { receiver, description } };
}

function countryOf(iban: string): string {
  return iban.slice(0, 2);
}

/** Records the end of a dead letter's payout, if the message still names it. */
export function deadLetterHandler(ports: Ports): (rejected: RejectedMessage) => Promise<void> {
  return async (rejected) => {
    const { message, reason } = rejected;
    const type = headerOf(message.headers, 'ce_type');
    const request = type === InitiatePayout.type ? requestIn(rejected, ports.now()) : undefined;
    if (request === undefined) {
      ports.logger.error('a dead letter names no payout', { type, reason });
      return;
    }
    await retryableWhenTransient(() => recordDeadLetter(ports, request, rejected.envelope?.id));
  };
}

function requestIn({ envelope, message }: RejectedMessage, now: number): PayoutRequest | undefined {
  return envelope === undefined ? salvage(message, now) : requestOf(envelope.data as InitiatePayoutData);
}

const IDENTIFYING = ['payoutId', 'reference', 'merchantAccount', 'transactionUniqueId'];

/** Recorded in place of unreadable fields: each is its standard's value for none. */
const NONE = {
  amountE4: 0,
  feeE4: 0,
  /** ISO 4217: no currency. */
  currency: 'XXX',
  /** The nil UUID. */
  token: '00000000-0000-0000-0000-000000000000',
  instant: false,
  /** ISO 3166-1, user-assigned: unknown. */
  receiverCountry: 'ZZ',
};

/** The readable part of a broken command: enough to end its payout, not to execute it. */
function salvage(message: RejectedMessage['message'], now: number): PayoutRequest | undefined {
  const { receiver: _receiver, description: _description, ...fields } = InitiatePayout.schema.properties;
  const data = fieldsOf(message) ?? {};
  const readable = Object.entries(fields)
    .filter(([name, schema]) => data[name] !== undefined && Value.Check(schema, data[name]))
    .map(([name]) => [name, data[name]] as const);
  const salvaged = Object.fromEntries(readable);
  if (!IDENTIFYING.every((name) => name in salvaged)) return undefined;
  return { acceptedAt: now, ...NONE, ...salvaged } as unknown as PayoutRequest;
}
