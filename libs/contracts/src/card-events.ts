import type { Static, TObject } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { cardCallbackSchemas } from './answers';
import { CheckoutAttempt } from './card-commands';
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
import type { OperationStatus } from './fields';
import { declareMessage, narrowed } from './message';
import { ModeField } from './test-mark';

const INITIATORS = ['cardholder', 'merchant'] as const;
/** Who began a payment. */
export type Initiator = (typeof INITIATORS)[number];

const AUTHENTICATION_PATHS = ['frictionless', 'challenge', 'attempt', 'unavailable'] as const;
export type AuthenticationPath = (typeof AUTHENTICATION_PATHS)[number];

const AuthenticationRecord = Type.Object(
  {
    path: Type.Union(
      AUTHENTICATION_PATHS.map((path) => Type.Literal(path)),
      {
        description:
          '`frictionless`: the issuer decided without the cardholder; `challenge`: the cardholder was asked; `attempt`: card or issuer takes no part; `unavailable`: the directory server gave no answer',
      },
    ),
    challengedAt: Type.Optional(Type.Integer({ ...EpochMs, description: 'When the challenge began' })),
    endedAt: Type.Optional(
      Type.Integer({ ...EpochMs, description: 'When the result was there; absent before, and if none came in time' }),
    ),
  },
  { description: 'AUTH3D and SALE3D, once the issuer was asked: how 3-D Secure went. It begins at acceptedAt' },
);

/** The data of every card event: enough to follow a payment without any other source. */
const OperationRecord = Type.Object({
  ...cardCallbackSchemas,
  paymentId: PaymentId,
  baseReference: Type.Optional(GivenReference),
  merchantAccount: MerchantAccount,
  transactionType: OperationTypeField,
  mode: ModeField,
  initiator: Type.Optional(
    Type.Union(
      INITIATORS.map((initiator) => Type.Literal(initiator)),
      { description: 'AUTH, AUTH3D, SALE and SALE3D: `merchant` if cof_type is MIT' },
    ),
  ),
  checkoutAttempt: CheckoutAttempt,
  amountE4: Type.Optional(AmountE4),
  currency: Type.Optional(Currency),
  cardBrand: Type.Optional(Type.String({ maxLength: 32 })),
  midReference: Type.Optional(MidReference),
  acquirer: Type.Optional(Type.String({ maxLength: 64 })),
  eci: Type.Optional(Eci),
  authentication: Type.Optional(AuthenticationRecord),
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

type Field = keyof OperationRecord;
/** Of everything but a VOID, which has no amount of its own. */
const MONEY = ['amountE4', 'currency'] as const satisfies readonly Field[];
/** Of what went to an acquirer or an issuer. */
const ROUTED = ['cardBrand', 'midReference', 'acquirer'] as const satisfies readonly Field[];
const PURCHASE = [...MONEY, ...ROUTED, 'token'] as const satisfies readonly Field[];
const FOLLOW_UP = [...ROUTED, 'baseReference'] as const satisfies readonly Field[];

/** What is always so since release 0.2.0. */
interface Always {
  readonly statuses: readonly OperationStatus[];
  readonly fields?: readonly Field[];
}

function declareEvent<T extends string, S extends TObject>(
  type: T,
  description: string,
  schema: S,
  { statuses, fields = [] }: Always,
) {
  const status = Type.Union(statuses.map((one) => Type.Literal(one)));
  const written = narrowed(schema, { always: ['mode', ...fields], fields: { status } });
  return declareMessage('cardEvents', type, description, schema, written);
}

const event = <T extends string>(type: T, description: string, always: Always) =>
  declareEvent(type, description, OperationRecord, always);

const EndOfHold = Type.Object({
  expiresAt: EpochMs,
  expiringAt: Type.Optional(
    Type.Integer({
      ...EpochMs,
      description: 'If the account has hold callbacks: when AuthorizationExpiring is due',
    }),
  ),
});

export const CardAuthorized = declareEvent(
  'CardAuthorized',
  'AUTH succeeded: the issuer holds the amount. It cannot be settled from expiresAt on.',
  Type.Composite([OperationRecord, EndOfHold]),
  { statuses: ['success'], fields: PURCHASE },
);
export const AuthorizationExpiring = event(
  'AuthorizationExpiring',
  'The hold of an AUTH ends soon, at holdEndsAt. Only if the account had hold callbacks when the hold was made.',
  { statuses: ['success'], fields: [...PURCHASE, 'event', 'holdEndsAt'] },
);
export const AuthorizationExpired = event(
  'AuthorizationExpired',
  'The hold of an AUTH has ended, and its VOID begins. Only if the account had hold callbacks when the hold was made.',
  { statuses: ['error'], fields: [...PURCHASE, 'event', 'holdEndsAt'] },
);
export const HoldMoved = declareEvent(
  'HoldMoved',
  'The clock of a sandbox account was moved, so that the hold of an AUTH ends sooner: at expiresAt.',
  Type.Composite([OperationRecord, EndOfHold]),
  { statuses: ['success'], fields: PURCHASE },
);
export const CardCharged = event('CardCharged', 'SALE or SALE3D succeeded: the amount is collected.', {
  statuses: ['success'],
  fields: PURCHASE,
});
export const AuthorizationSettled = event(
  'AuthorizationSettled',
  'SETTLE succeeded: held funds move to the merchant.',
  { statuses: ['success'], fields: [...MONEY, ...FOLLOW_UP] },
);
export const AuthorizationVoided = event(
  'AuthorizationVoided',
  'VOID succeeded: the hold is released, or a late void undid a settle.',
  { statuses: ['success'], fields: FOLLOW_UP },
);
export const ChargeRefunded = event('ChargeRefunded', 'REFUND succeeded: the amount goes back to the cardholder.', {
  statuses: ['success'],
  fields: [...MONEY, ...FOLLOW_UP],
});
export const AuthenticationStarted = event(
  'AuthenticationStarted',
  'AUTH3D or SALE3D: the cardholder can be authenticated. The outcome is not known yet.',
  { statuses: ['pending'], fields: PURCHASE },
);
export const CardAuthenticated = event(
  'CardAuthenticated',
  'AUTH3D succeeded: the cardholder is authenticated. No money is held.',
  { statuses: ['success'], fields: [...PURCHASE, 'eci'] },
);
export const CheckoutEnded = event(
  'CheckoutEnded',
  'The card-entry page accepts no further attempt. The outcome of the last one is final.',
  { statuses: ['decline', 'error', 'pending'], fields: MONEY },
);
export const OutcomeAnnounced = event(
  'OutcomeAnnounced',
  'Repeats the outcome of an earlier event, with a callbackUrl: the merchant had got code 11.',
  { statuses: ['success', 'decline', 'error'], fields: ['callbackUrl'] },
);
export const CardTokenized = event('CardTokenized', 'TOKENIZE succeeded: the card is in the vault.', {
  statuses: ['success'],
  fields: ['token'],
});
export const OperationDeclined = event(
  'OperationDeclined',
  'A bank, a property of the card or a rule of the account said no. Nothing moved.',
  { statuses: ['decline'] },
);
export const OperationRefused = event(
  'OperationRefused',
  'The request broke a rule of its payment, was past its deadline or could not be processed. No acquirer was called.',
  { statuses: ['error'] },
);
export const OperationFailed = event(
  'OperationFailed',
  'The operation ended in an error after it had started. Nothing moved.',
  { statuses: ['error'] },
);
export const OperationOutcomeUnknown = event(
  'OperationOutcomeUnknown',
  'The acquirer may or may not have acted. A later event on the same reference has the outcome.',
  { statuses: ['pending'], fields: ROUTED },
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
