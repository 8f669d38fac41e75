import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import {
  AmountE4,
  Currency,
  Eci,
  EpochMs,
  GivenReference,
  HttpsUrl,
  MerchantAccount,
  MidReference,
  OperationStatusField,
  OperationTypeField,
  PaymentId,
  Reference,
  ResponseCodeField,
  Token,
  TransactionUniqueId,
} from './fields';
import { declareMessage } from './message';

/** What every card event says about its operation: enough to follow a payment without any other source. */
const OperationRecord = Type.Object({
  paymentId: PaymentId,
  reference: Reference,
  baseReference: Type.Optional(GivenReference),
  merchantAccount: MerchantAccount,
  transactionUniqueId: TransactionUniqueId,
  transactionType: OperationTypeField,
  amountE4: Type.Optional(AmountE4),
  currency: Type.Optional(Currency),
  token: Type.Optional(Token),
  cardBrand: Type.Optional(Type.String({ maxLength: 32 })),
  midReference: Type.Optional(MidReference),
  acquirer: Type.Optional(Type.String({ maxLength: 64 })),
  status: OperationStatusField,
  code: ResponseCodeField,
  message: Type.String({ maxLength: 255 }),
  eci: Type.Optional(Eci),
  callbackUrl: Type.Optional(
    Type.String({ ...HttpsUrl, description: 'Present when this event is the final outcome that a callback tells' }),
  ),
  acceptedAt: EpochMs,
  occurredAt: EpochMs,
  custom: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 255 }))),
});
export type OperationRecord = Static<typeof OperationRecord>;

const event = <T extends string>(type: T, description: string) =>
  declareMessage('cardEvents', type, description, OperationRecord);

export const CardAuthorized = declareMessage(
  'cardEvents',
  'CardAuthorized',
  'The issuer holds the amount. From expiresAt on it cannot be settled.',
  Type.Composite([OperationRecord, Type.Object({ expiresAt: EpochMs })]),
);
export const CardSold = event('CardSold', 'The amount is collected.');
export const AuthorizationSettled = event('AuthorizationSettled', 'Held funds move to the merchant.');
export const AuthorizationVoided = event('AuthorizationVoided', 'The hold is released, or a late void undid a settle.');
export const ChargeRefunded = event('ChargeRefunded', 'The amount goes back to the cardholder.');
export const AuthenticationStarted = event(
  'AuthenticationStarted',
  'The cardholder can be authenticated. Nothing is known about the outcome yet.',
);
export const CardAuthenticated = event(
  'CardAuthenticated',
  'AUTH3D: the cardholder is authenticated. No money is held.',
);
export const CheckoutEnded = event(
  'CheckoutEnded',
  'No further attempt is possible on the card-entry page. The last one stands, as it came out.',
);
export const OutcomeAnnounced = event(
  'OutcomeAnnounced',
  'The outcome, as an earlier event told it. This one has the address of the callback: the merchant was told nothing.',
);
export const CardTokenized = event('CardTokenized', 'A card was put into the vault.');
export const OperationDeclined = event('OperationDeclined', 'A bank or a rule of the card said no. Nothing moved.');
export const OperationRefused = event('OperationRefused', 'The request was against the rules of its payment.');
export const OperationFailed = event('OperationFailed', 'The operation ended in an error. Nothing moved.');
export const OperationOutcomeUnknown = event(
  'OperationOutcomeUnknown',
  'The acquirer may or may not have acted. A later event on the same reference tells.',
);

export const cardEvents = {
  CardAuthorized,
  CardSold,
  AuthorizationSettled,
  AuthorizationVoided,
  ChargeRefunded,
  AuthenticationStarted,
  CardAuthenticated,
  CheckoutEnded,
  OutcomeAnnounced,
  CardTokenized,
  OperationDeclined,
  OperationRefused,
  OperationFailed,
  OperationOutcomeUnknown,
} as const;

export type CardEventType = keyof typeof cardEvents;
