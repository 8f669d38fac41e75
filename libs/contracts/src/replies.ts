import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import {
  Eci,
  EpochMs,
  GivenReference,
  MerchantAccount,
  OperationStatusField,
  OperationTypeField,
  PaymentId,
  Reference,
  ResponseCodeField,
  Token,
  TransactionUniqueId,
} from './fields';
import { declareMessage } from './message';
import { RESPONSE_CODES } from './response-codes';

/**
 * State of an operation, from the owner of its payment: a reply on the bus, or the answer to a query. While `status` is
 * `pending`, `code` is what the merchant got (3109, …).
 */
export const OperationOutcome = Type.Object({
  paymentId: PaymentId,
  reference: Reference,
  baseReference: Type.Optional(GivenReference),
  merchantAccount: MerchantAccount,
  transactionUniqueId: TransactionUniqueId,
  transactionType: OperationTypeField,
  status: OperationStatusField,
  code: ResponseCodeField,
  message: Type.String({ maxLength: 255 }),
  token: Type.Optional(Token),
  authcode: Type.Union([Type.String({ maxLength: 24 }), Type.Null()]),
  timestamp: EpochMs,
  /** AUTH3D and SALE3D whose cardholder can be authenticated: the browser's next address. */
  acsUrl: Type.Optional(Type.String({ maxLength: 255 })),
  /** AUTH3D: what the merchant's page posts there. */
  pareq: Type.Optional(Type.String({ maxLength: 4096 })),
  /** In the first answer; absent while a challenge is pending. */
  eci: Type.Optional(Eci),
  /** Activated custom parameters of the response, by name. */
  custom: Type.Optional(Type.Record(Type.String(), Type.String())),
});
export type OperationOutcome = Static<typeof OperationOutcome>;

/** False for an intent without an answer yet: there is nothing to report to the merchant. */
export function isTellable(outcome: OperationOutcome): boolean {
  return (
    outcome.status !== 'pending' || outcome.code !== RESPONSE_CODES.OUTCOME_UNKNOWN || outcome.acsUrl !== undefined
  );
}

export const OperationReplied = declareMessage(
  'gatewayReplies',
  'OperationReplied',
  'State of an operation, for the api-edge replica that waits for it.',
  OperationOutcome,
);
