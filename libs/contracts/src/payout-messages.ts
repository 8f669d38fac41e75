import type { Static, TObject } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { payoutAnswerSchemas, payoutCallbackSchemas } from './answers';
import {
  AmountE4,
  Currency,
  EpochMs,
  HttpsUrl,
  MerchantAccount,
  PaymentId,
  Reference,
  Token,
  TransactionUniqueId,
} from './fields';
import type { DataOf } from './message';
import { declareMessage, narrowed } from './message';
import { IsTest, ModeField } from './test-mark';

const text = (maxLength: number) => Type.Optional(Type.String({ maxLength }));

export const RECEIVER_TYPES = ['PERSONAL', 'LEGAL'] as const;
export type ReceiverType = (typeof RECEIVER_TYPES)[number];

/** The receiver as the merchant sent it, for the bank. Never in an event. */
export const Receiver = Type.Object({
  iban: Type.String({ maxLength: 34, description: 'Electronic form: no spaces, upper case' }),
  bic: Type.Optional(Type.String({ maxLength: 11, description: 'Upper case' })),
  name: Type.String({ minLength: 1, maxLength: 70 }),
  type: Type.Optional(Type.Union(RECEIVER_TYPES.map((type) => Type.Literal(type)))),
  code: text(20),
  address: Type.Object(
    {
      street: text(64),
      buildingNumber: text(16),
      apartment: text(35),
      zip: text(10),
      city: text(32),
      country: Type.Optional(
        Type.String({ minLength: 3, maxLength: 3, description: 'ISO 3166-1 alpha-3, as the merchant sent it' }),
      ),
      unstructured: Type.Optional(
        Type.String({ maxLength: 64, description: 'The deprecated receiver_address; only when nothing else is given' }),
      ),
    },
    { description: 'Empty when the merchant gave none' },
  ),
});
export type Receiver = Static<typeof Receiver>;

const ReceiverToken = Type.String({
  ...Token,
  description: 'Stands for the receiver at this merchant: account and IBAN',
});

const subject = {
  payoutId: PaymentId,
  reference: Reference,
  merchantAccount: MerchantAccount,
  transactionUniqueId: TransactionUniqueId,
  acceptedAt: EpochMs,
  amountE4: AmountE4,
  feeE4: Type.Integer({ minimum: 0, description: "The account's fee, in 1/10000 of the currency, beside the amount" }),
  currency: Currency,
  token: ReceiverToken,
  instant: Type.Boolean({ description: 'SEPA instant credit transfer' }),
};

const custom = Type.Optional(
  Type.Record(Type.String({ pattern: '^custom_[a-z0-9_]{1,57}$' }), Type.String({ maxLength: 255 }), {
    maxProperties: 20,
  }),
);

export const InitiatePayout = declareMessage(
  'payoutCommands',
  'InitiatePayout',
  'Pay an amount to an IBAN. It has no deadline: what was accepted is executed, however late.',
  Type.Object({
    ...subject,
    otherTokens: Type.Optional(
      Type.Array(ReceiverToken, {
        maxItems: 100,
        description:
          'What `token` was or will be under the further keys of `TOKEN_KEYS`: a rotation makes no receiver a new one',
      }),
    ),
    receiver: Receiver,
    description: Type.String({ minLength: 1, maxLength: 140 }),
    callbackUrl: HttpsUrl,
    custom,
    isTest: IsTest,
  }),
);
export type InitiatePayoutData = DataOf<typeof InitiatePayout>;

export const payoutCommands = { InitiatePayout } as const;

export const PAYOUT_STATUSES = ['pending', 'success', 'declined', 'error', 'frauded'] as const;
/** Status of a payout. All but `pending` are final. */
export type PayoutStatus = (typeof PAYOUT_STATUSES)[number];
const PayoutStatusField = Type.Union(PAYOUT_STATUSES.map((status) => Type.Literal(status)));

/** The data of every payout event: enough to follow a payout without any other source, and nothing about the receiver. */
const PayoutRecord = Type.Object({
  ...payoutCallbackSchemas,
  ...subject,
  receiverCountry: Type.String({ pattern: '^[A-Z]{2}$', description: 'ISO 3166-1 alpha-2, of the IBAN' }),
  bank: Type.Optional(Type.String({ maxLength: 64, description: 'Name of the bank connector' })),
  status: PayoutStatusField,
  mode: ModeField,
  callbackUrl: Type.Optional(
    Type.String({ ...HttpsUrl, description: 'Present when this event is the final outcome that a callback reports' }),
  ),
  occurredAt: EpochMs,
  custom,
});
export type PayoutRecord = Static<typeof PayoutRecord>;

/** What is always so since release 0.2.0. */
interface Always {
  readonly status: PayoutStatus;
  readonly fields?: readonly (keyof PayoutRecord)[];
}

function declareEvent<T extends string, S extends TObject>(
  type: T,
  description: string,
  schema: S,
  { status, fields = [] }: Always,
) {
  const written = narrowed(schema, { always: ['mode', ...fields], fields: { status: Type.Literal(status) } });
  return declareMessage('payoutEvents', type, description, schema, written);
}

const event = <T extends string>(type: T, description: string, always: Always) =>
  declareEvent(type, description, PayoutRecord, always);

export const PayoutAccepted = event('PayoutAccepted', 'The payout is on record.', { status: 'pending' });
export const PayoutScreened = declareEvent(
  'PayoutScreened',
  'The rules of the account were applied: passed, or rule and reason. PayoutFrauded follows a hit.',
  Type.Composite([
    PayoutRecord,
    Type.Object({
      passed: Type.Boolean(),
      rule: Type.Optional(Type.String({ maxLength: 64, description: 'The rule that hit' })),
      reason: Type.Optional(Type.String({ maxLength: 255 })),
    }),
  ]),
  { status: 'pending' },
);
export const PayoutSubmitted = event('PayoutSubmitted', 'The bank has the payout. The outcome is not known yet.', {
  status: 'pending',
  fields: ['bank'],
});
export const PayoutSettled = event('PayoutSettled', 'Status success: the money has left for the receiver.', {
  status: 'success',
  fields: ['bank'],
});
export const PayoutDeclined = event('PayoutDeclined', 'Status declined: the bank said no. Nothing moved.', {
  status: 'declined',
});
export const PayoutFailed = event('PayoutFailed', 'Status error: the payout ended in an error. Nothing moved.', {
  status: 'error',
});
export const PayoutFrauded = event(
  'PayoutFrauded',
  "Status frauded: a rule against fraud, the account's or the bank's, said no. Nothing moved.",
  { status: 'frauded' },
);
export const PayoutOutcomeUnknown = event(
  'PayoutOutcomeUnknown',
  'The bank may or may not have acted. A later event on the same reference has the outcome.',
  { status: 'pending', fields: ['bank'] },
);
/** Of an ISO 20022 reason, also a proprietary one. */
export const RETURN_REASON_LENGTH_MAX = 35;

export const PayoutReturned = declareEvent(
  'PayoutReturned',
  'The money came back after it had been settled. The status stays success; CHECK shows the return.',
  Type.Composite([
    PayoutRecord,
    Type.Object({
      returnReason: Type.String({
        maxLength: RETURN_REASON_LENGTH_MAX,
        description: 'ISO 20022 reason code, or NARR',
      }),
    }),
  ]),
  { status: 'success', fields: ['bank'] },
);

export const payoutEvents = {
  PayoutAccepted,
  PayoutScreened,
  PayoutSubmitted,
  PayoutSettled,
  PayoutDeclined,
  PayoutFailed,
  PayoutFrauded,
  PayoutOutcomeUnknown,
  PayoutReturned,
} as const;
export type PayoutEventType = keyof typeof payoutEvents;

/**
 * State of a payout, as its owner answers a query. While `status` is `pending`, `code` is 11 or the kind of the bank's
 * failure (3109, …).
 */
export const PayoutOutcome = Type.Object({
  ...payoutAnswerSchemas,
  payoutId: PaymentId,
  merchantAccount: MerchantAccount,
  amountE4: AmountE4,
  feeE4: Type.Integer({ minimum: 0 }),
  currency: Currency,
  token: Token,
  status: PayoutStatusField,
  /** Present if a final status does not say everything, e.g. `RETURNED AC04`. */
  changeReason: Type.Optional(Type.String({ maxLength: 255 })),
  /** Activated custom parameters, by name. */
  custom: Type.Optional(Type.Record(Type.String(), Type.String())),
});
export type PayoutOutcome = Static<typeof PayoutOutcome>;
export type PayoutAnswer = Pick<PayoutOutcome, keyof typeof payoutAnswerSchemas>;
