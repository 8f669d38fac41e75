import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { cardAnswerSchemas } from './answers';
import { GivenReference, MerchantAccount, PaymentId } from './fields';
import { declareMessage } from './message';
import { RESPONSE_CODES } from './response-codes';

/**
 * State of an operation, from the owner of its payment: a reply on the bus, or the answer to a query. While `status` is
 * `pending`, `code` is what the merchant got (3109, …).
 */
export const OperationOutcome = Type.Object({
  paymentId: PaymentId,
  baseReference: Type.Optional(GivenReference),
  merchantAccount: MerchantAccount,
  ...cardAnswerSchemas,
  /** Activated custom parameters of the response, by name. */
  custom: Type.Optional(Type.Record(Type.String(), Type.String())),
});
export type OperationOutcome = Static<typeof OperationOutcome>;
export type CardAnswer = Pick<OperationOutcome, keyof typeof cardAnswerSchemas>;

/** False for an intent without an answer yet: there is nothing to report to the merchant. */
export function isAnswered(outcome: OperationOutcome): boolean {
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
