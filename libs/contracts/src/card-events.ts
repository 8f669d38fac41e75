import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { cardCallbackSchemas } from './answers';
import {
  AmountE4,
  Currency,
  DueClockMs,
  Eci,
  EpochMs,
  GivenReference,
  HttpsUrl,
  MerchantAccount,
  MidReference,
  OperationTypeField,
  PaymentId,
} from './fields';
import { declareMessage } from './message';

/** The data of every card event: enough to follow a payment without any other source. */
const OperationRecord = Type.Object({
  ...cardCallbackSchemas,
  paymentId: PaymentId,
  baseReference: Type.Optional(GivenReference),
  merchantAccount: MerchantAccount,
  transactionType: OperationTypeField,
  amountE4: Type.Optional(AmountE4),
  currency: Type.Optional(Currency),
  cardBrand: Type.Optional(Type.String({ maxLength: 32 })),
  midReference: Type.Optional(MidReference),
  acquirer: Type.Optional(Type.String({ maxLength: 64 })),
  eci: Type.Optional(Eci),
  callbackUrl: Type.Optional(
    Type.String({ ...HttpsUrl, description: 'Present when this event is the final outcome that a callback reports' }),
  ),
  callbackSequence: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Beside callbackUrl: the number of this callback in its payment' }),
  ),
  acceptedAt: EpochMs,
  occurredAt: EpochMs,
  dueClockMs: DueClockMs,
  custom: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 255 }))),
  rule: Type.Optional(Type.String({ maxLength: 64, description: "The account's rule that declined the operation" })),
  reason: Type.Optional(Type.String({ maxLength: 255, description: 'Why it did' })),
});
export type OperationRecord = Static<typeof OperationRecord>;

const event = <T extends string>(type: T, description: string) =>
  declareMessage('cardEvents', type, description, OperationRecord);

const EndOfHold = Type.Object({
  expiresAt: EpochMs,
  expiringAt: Type.Optional(
    Type.Integer({
      ...EpochMs,
      description: 'If the account has hold callbacks: when AuthorizationExpiring is due',
    }),
  ),
});

export const CardAuthorized = declareMessage(
  'cardEvents',
  'CardAuthorized',
  'AUTH succeeded: the issuer holds the amount. It cannot be settled from expiresAt on.',
  Type.Composite([OperationRecord, EndOfHold]),
);
export const AuthorizationExpiring = event(
  'AuthorizationExpiring',
  'The hold of an AUTH ends soon, at holdEndsAt. Only if the account had hold callbacks when the hold was made.',
);
export const AuthorizationExpired = event(
  'AuthorizationExpired',
  'The hold of an AUTH has ended, and its VOID begins. Only if the account had hold callbacks when the hold was made.',
);
export const HoldMoved = declareMessage(
  'cardEvents',
  'HoldMoved',
  'The clock of a sandbox account was moved, so that the hold of an AUTH ends sooner: at expiresAt.',
  Type.Composite([OperationRecord, EndOfHold]),
);
export const CardCharged = event('CardCharged', 'SALE or SALE3D succeeded: the amount is collected.');
export const AuthorizationSettled = event('AuthorizationSettled', 'SETTLE succeeded: held funds move to the merchant.');
export const AuthorizationVoided = event(
  'AuthorizationVoided',
  'VOID succeeded: the hold is released, or a late void undid a settle.',
);
export const ChargeRefunded = event('ChargeRefunded', 'REFUND succeeded: the amount goes back to the cardholder.');
export const AuthenticationStarted = event(
  'AuthenticationStarted',
  'AUTH3D or SALE3D: the cardholder can be authenticated. The outcome is not known yet.',
);
export const CardAuthenticated = event(
  'CardAuthenticated',
  'AUTH3D succeeded: the cardholder is authenticated. No money is held.',
);
export const CheckoutEnded = event(
  'CheckoutEnded',
  'The card-entry page accepts no further attempt. The outcome of the last one is final.',
);
export const OutcomeAnnounced = event(
  'OutcomeAnnounced',
  'Repeats the outcome of an earlier event, with a callbackUrl: the merchant had got code 11.',
);
export const CardTokenized = event('CardTokenized', 'TOKENIZE succeeded: the card is in the vault.');
export const OperationDeclined = event(
  'OperationDeclined',
  'A bank, a property of the card or a rule of the account said no. Nothing moved.',
);
export const OperationRefused = event(
  'OperationRefused',
  'The request broke a rule of its payment, was past its deadline or could not be processed. No acquirer was called.',
);
export const OperationFailed = event(
  'OperationFailed',
  'The operation ended in an error after it had started. Nothing moved.',
);
export const OperationOutcomeUnknown = event(
  'OperationOutcomeUnknown',
  'The acquirer may or may not have acted. A later event on the same reference has the outcome.',
);

export const cardEvents = {
  CardAuthorized,
  AuthorizationExpiring,
  AuthorizationExpired,
  HoldMoved,
  CardCharged,
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
