import { Type } from '@sinclair/typebox';
import { MAX_AMOUNT_E4 } from './money';
import type { ResponseCode } from './response-codes';

/** Field types that several messages share. Card numbers, CVVs and secrets have none, so no message can carry them. */
export const PaymentId = Type.String({ pattern: '^[0-9A-Z]{16}$', description: 'Names the payment; the Kafka key' });
export const Reference = Type.String({
  pattern: '^[0-9A-Z]{20}$',
  description: 'Reference of one operation; begins with its payment id',
});
/** A reference as the merchant sent it. It may contain any characters; then it is simply not found. */
export const GivenReference = Type.String({ minLength: 20, maxLength: 20 });
export const MerchantAccount = Type.String({ minLength: 6, maxLength: 32 });
export const TransactionUniqueId = Type.String({ minLength: 1, maxLength: 45 });
export const AmountE4 = Type.Integer({ minimum: 0, maximum: MAX_AMOUNT_E4, description: 'In 1/10000 of the currency' });
export const Currency = Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217 alpha-3' });
export const Token = Type.String({ minLength: 36, maxLength: 36, description: 'Stands for a card in the vault' });
/** Of what a sandbox account's clock has made happen (ADR 0067). */
export const DueClockMs = Type.Optional(
  Type.Integer({
    minimum: 0,
    description:
      'Sandbox: a moved clock made this happen. How far the clock was ahead when it was due, in ms: what follows waits less by what it has moved since',
  }),
);
export const EpochMs = Type.Integer({ minimum: 0, description: 'Milliseconds since 1970-01-01T00:00:00Z' });
export const MidReference = Type.String({ pattern: '^MD[0-9A-F]{14}$' });

export const TRANSACTION_TYPES = [
  'AUTH',
  'AUTH3D',
  'SALE',
  'SALE3D',
  'SETTLE',
  'VOID',
  'REFUND',
  'CHECK',
  'TOKENIZE',
] as const;
/** A merchant's card request. CHECK is a query; the others are operations. */
export type TransactionType = (typeof TRANSACTION_TYPES)[number];

export const OPERATION_TYPES = ['AUTH', 'AUTH3D', 'SALE', 'SALE3D', 'SETTLE', 'VOID', 'REFUND', 'TOKENIZE'] as const;
/** A recorded operation. */
export type OperationType = (typeof OPERATION_TYPES)[number];

export const OperationTypeField = Type.Union(OPERATION_TYPES.map((type) => Type.Literal(type)));

export const OPERATION_STATUSES = ['success', 'decline', 'error', 'pending'] as const;
/** `pending`: the outcome is not known yet, not even as a failure. */
export type OperationStatus = (typeof OPERATION_STATUSES)[number];
export const OperationStatusField = Type.Union(OPERATION_STATUSES.map((status) => Type.Literal(status)));

/** Validated as a number only: a consumer accepts the new code of a producer that is one release ahead. */
export const ResponseCodeField = Type.Unsafe<ResponseCode>(
  Type.Integer({ minimum: 0, maximum: 9999, description: 'The registry of response codes' }),
);

/** Address of callbacks and redirects. The edge checks that it is https. */
export const HttpsUrl = Type.String({ minLength: 1, maxLength: 2048 });
export const Eci = Type.Integer({ minimum: 0, maximum: 9, description: 'Electronic commerce indicator of the scheme' });
