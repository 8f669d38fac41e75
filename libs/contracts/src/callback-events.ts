import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { EpochMs, MerchantAccount, PaymentId, Reference, TransactionUniqueId } from './fields';
import { declareMessage } from './message';

/** A merchant's address may be longer, and its server may answer any status. Writers cut the one and omit the other. */
export const CALLBACK_EVENT_BOUNDS = { originMaxLength: 300, httpStatusMin: 100, httpStatusMax: 599 } as const;

/** The data of every callback event. It names only the origin of the address: paths and queries may hold secrets. */
const CallbackRecord = Type.Object({
  deliveryId: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'Id of the event whose outcome the callback reports',
  }),
  kind: Type.Union([Type.Literal('card'), Type.Literal('payout')]),
  paymentId: PaymentId,
  reference: Reference,
  merchantAccount: MerchantAccount,
  transactionUniqueId: TransactionUniqueId,
  origin: Type.String({
    maxLength: CALLBACK_EVENT_BOUNDS.originMaxLength,
    description: 'Scheme, host and port of the callback address',
  }),
  attempts: Type.Integer({ minimum: 1, description: 'Attempts so far, this one included' }),
  occurredAt: EpochMs,
});
export type CallbackRecord = Static<typeof CallbackRecord>;

export const CallbackAttempted = declareMessage(
  'callbackEvents',
  'CallbackAttempted',
  'A callback was sent, or sending it failed.',
  Type.Composite([
    CallbackRecord,
    Type.Object({
      acknowledged: Type.Boolean(),
      httpStatus: Type.Optional(
        Type.Integer({ minimum: CALLBACK_EVENT_BOUNDS.httpStatusMin, maximum: CALLBACK_EVENT_BOUNDS.httpStatusMax }),
      ),
      error: Type.Optional(Type.String({ maxLength: 255 })),
      durationMs: Type.Integer({ minimum: 0 }),
      nextAttemptAt: Type.Optional(EpochMs),
    }),
  ]),
);
const event = <T extends string>(type: T, description: string) =>
  declareMessage('callbackEvents', type, description, CallbackRecord);
export const CallbackDelivered = event('CallbackDelivered', 'The merchant has acknowledged the callback.');
export const CallbackExhausted = event('CallbackExhausted', 'All attempts have failed. An operator can send it again.');
export const CallbackRecovered = event(
  'CallbackRecovered',
  'An operator sent an exhausted callback again, and the merchant acknowledged it.',
);

export const callbackEvents = { CallbackAttempted, CallbackDelivered, CallbackExhausted, CallbackRecovered } as const;
