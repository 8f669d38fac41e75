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
  status: OperationStatusField,
  code: ResponseCodeField,
  message: Type.String({ maxLength: 255 }),
  token: Type.Optional(Token),
  authcode: Type.Union([Type.String({ maxLength: 24 }), Type.Null()]),
  timestamp: EpochMs,
  /** AUTH3D and SALE3D whose cardholder can be authenticated: where the browser goes. */
  acsUrl: Type.Optional(Type.String({ maxLength: 255 })),
  /** AUTH3D: what the merchant's page posts there. */
  pareq: Type.Optional(Type.String({ maxLength: 4096 })),
  /** Of the first answer: none while a challenge is to come. */
  eci: Type.Optional(Eci),
  /** Activated custom parameters of the response, by name. */
  custom: Type.Optional(Type.Record(Type.String(), Type.String())),
});
export type OperationOutcome = Static<typeof OperationOutcome>;

/** False for an intent without any answer yet: there is nothing to tell the merchant about it. */
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
