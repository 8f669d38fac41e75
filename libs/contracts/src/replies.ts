import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import {
  EpochMs,
  GivenReference,
  MerchantAccount,
  OPERATION_STATUSES,
  OperationTypeField,
  PaymentId,
  Reference,
  Token,
  TransactionUniqueId,
} from './fields';
import { declareMessage } from './message';

/**
 * How an operation stands, told by the owner of its payment: as a reply on the bus, and as the answer to a query.
 * While `status` is `pending`, `code` is what the merchant was told (3109, …).
 */
export const OperationOutcome = Type.Object({
  paymentId: PaymentId,
  reference: Reference,
  baseReference: Type.Optional(GivenReference),
  merchantAccount: MerchantAccount,
  transactionUniqueId: TransactionUniqueId,
  transactionType: OperationTypeField,
  status: Type.Union(OPERATION_STATUSES.map((status) => Type.Literal(status))),
  code: Type.Integer({ minimum: 0, maximum: 9999 }),
  message: Type.String({ maxLength: 255 }),
  token: Type.Optional(Token),
  authcode: Type.Union([Type.String({ maxLength: 24 }), Type.Null()]),
  timestamp: EpochMs,
  /** Activated custom parameters of the response, by name. */
  custom: Type.Optional(Type.Record(Type.String(), Type.String())),
});
export type OperationOutcome = Static<typeof OperationOutcome>;

const NOTHING_TOLD = 11;

/** False for an intent without any answer yet: there is nothing to tell the merchant about it. */
export function isTellable(outcome: OperationOutcome): boolean {
  return outcome.status !== 'pending' || outcome.code !== NOTHING_TOLD;
}

export const OperationReplied = declareMessage(
  'gatewayReplies',
  'OperationReplied',
  'The owner of a payment tells the edge replica that waits how an operation stands.',
  OperationOutcome,
);
