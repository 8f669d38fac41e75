import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import {
  AmountE4,
  Currency,
  DueClockMs,
  EpochMs,
  GivenReference,
  HttpsUrl,
  MerchantAccount,
  MidReference,
  PaymentId,
  Reference,
  Token,
  TransactionUniqueId,
} from './fields';
import type { OperationType } from './fields';
import type { DataOf } from './message';
import { declareMessage } from './message';
import { IsTest } from './test-mark';

const text = (maxLength: number) => Type.Optional(Type.String({ maxLength }));

/** The cardholder as the merchant sent it, for the acquirer. Never in an event. */
export const Customer = Type.Object({
  firstName: Type.String({ maxLength: 32 }),
  lastName: Type.String({ maxLength: 32 }),
  address: text(64),
  city: text(32),
  state: text(32),
  zip: text(10),
  country: Type.String({ minLength: 3, maxLength: 3, description: 'ISO 3166-1 alpha-3' }),
  phone: text(15),
  email: Type.String({ maxLength: 255 }),
  ip: Type.String({ maxLength: 45 }),
  dateOfBirth: text(10),
});
export type Customer = Static<typeof Customer>;

/** The merchant's own notes. */
export const MerchantNotes = Type.Object({
  userId: text(32),
  domainName: text(255),
  affiliateId: text(255),
  productName: text(255),
  descriptor: text(255),
  descriptorPhone: text(255),
  custom: Type.Optional(
    Type.Record(Type.String({ pattern: '^custom_[a-z0-9_]{1,57}$' }), Type.String({ maxLength: 255 }), {
      maxProperties: 20,
    }),
  ),
});
export type MerchantNotes = Static<typeof MerchantNotes>;

const accepted = {
  paymentId: PaymentId,
  reference: Reference,
  merchantAccount: MerchantAccount,
  transactionUniqueId: TransactionUniqueId,
  acceptedAt: EpochMs,
  deadline: Type.Integer({ minimum: 0, description: 'Epoch ms after which the command is no longer executed' }),
  notes: MerchantNotes,
  isTest: IsTest,
};

const CofType = Type.Union([Type.Literal('CIT-initial'), Type.Literal('CIT-subsequent'), Type.Literal('MIT')]);

/** Attempts that a cardholder has on one card-entry page. */
export const CHECKOUT_ATTEMPTS_MAX = 3;

export const CheckoutAttempt = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: CHECKOUT_ATTEMPTS_MAX,
    description: 'On the card-entry page: its attempts share a payment, and succeed once at most',
  }),
);

const NumberLimit = Type.Union([Type.Literal('perBin'), Type.Literal('inAll')], {
  description:
    'The account has sent all the card numbers that it may in a day, so the card was refused: it is not in the vault, and the token names none',
});
/** The limit that refused a card before it had a token. */
export type NumberLimit = Static<typeof NumberLimit>;

const cardOrRefusal = { token: Token, overLimit: Type.Optional(NumberLimit) };

/** Common to all commands that begin with a card. */
const card = {
  ...accepted,
  ...cardOrRefusal,
  amountE4: AmountE4,
  currency: Currency,
  withCvv: Type.Boolean({ description: 'A CVV waits in the vault under this reference' }),
  midReference: Type.Optional(MidReference),
  cofType: Type.Optional(CofType),
  customer: Customer,
  callbackUrl: Type.Optional(HttpsUrl),
  checkoutAttempt: CheckoutAttempt,
  browserIp: Type.Optional(
    Type.String({ maxLength: 45, description: 'On the card-entry page: where the card came from' }),
  ),
};

const purchase = {
  ...card,
  authentication: Type.Optional(
    Type.Object(
      { reference: GivenReference, pares: Type.String({ minLength: 1, maxLength: 4096 }) },
      { description: 'The AUTH3D that this purchase relies on, and the PaRes that its challenge returned' },
    ),
  ),
};

const followUp = {
  ...accepted,
  baseReference: GivenReference,
};

export const AuthorizeCard = declareMessage(
  'cardCommands',
  'AuthorizeCard',
  'AUTH: hold an amount on the card until it is settled or voided.',
  Type.Object(purchase),
);
export const ChargeCard = declareMessage(
  'cardCommands',
  'ChargeCard',
  'SALE: collect an amount from the card.',
  Type.Object(purchase),
);
export const AuthenticateCard = declareMessage(
  'cardCommands',
  'AuthenticateCard',
  'AUTH3D: authenticate the cardholder; a later AUTH or SALE relies on it.',
  Type.Object({ ...card, redirectUrl: Type.Optional(HttpsUrl) }),
);
export const AuthenticateAndChargeCard = declareMessage(
  'cardCommands',
  'AuthenticateAndChargeCard',
  'SALE3D: authenticate the cardholder, and collect the amount when that succeeds.',
  Type.Object({ ...card, redirectUrl: HttpsUrl }),
);
export const SettleAuthorization = declareMessage(
  'cardCommands',
  'SettleAuthorization',
  'SETTLE: move held funds to the merchant.',
  Type.Object({ ...followUp, amountE4: AmountE4, currency: Currency }),
);
export const VoidAuthorization = declareMessage(
  'cardCommands',
  'VoidAuthorization',
  'VOID: release a hold before it is settled.',
  Type.Object(followUp),
);
export const RefundCharge = declareMessage(
  'cardCommands',
  'RefundCharge',
  'REFUND: give a settled amount back, partly or fully, once.',
  Type.Object({ ...followUp, amountE4: AmountE4, currency: Currency }),
);
export const TokenizeCard = declareMessage(
  'cardCommands',
  'TokenizeCard',
  'TOKENIZE: record that a card was put into the vault.',
  Type.Object({ ...accepted, ...cardOrRefusal }),
);

export const EndCheckout = declareMessage(
  'cardCommands',
  'EndCheckout',
  'The time of a card-entry page is over: its last attempt becomes final, if the state of the payment allows it.',
  Type.Object({ paymentId: PaymentId, merchantAccount: MerchantAccount, dueClockMs: DueClockMs }),
);

export const AnnounceOutcome = declareMessage(
  'cardCommands',
  'AnnounceOutcome',
  'The response to this operation was code 11: a callback reports its outcome. The state of the payment decides.',
  Type.Object({
    paymentId: PaymentId,
    reference: Reference,
    merchantAccount: MerchantAccount,
    callbackUrl: HttpsUrl,
    lostPage: Type.Optional(
      Type.Object(
        {
          transactionType: Type.Union([Type.Literal('AUTH'), Type.Literal('SALE'), Type.Literal('SALE3D')]),
          transactionUniqueId: TransactionUniqueId,
          amountE4: AmountE4,
          currency: Currency,
          acceptedAt: EpochMs,
          notes: MerchantNotes,
        },
        { description: 'A request for a card-entry page that was never opened: it ends in error 11' },
      ),
    ),
  }),
);
export type AnnounceOutcomeData = DataOf<typeof AnnounceOutcome>;

export const ExpireAuthorization = declareMessage(
  'cardExpiries',
  'ExpireAuthorization',
  'The hold of an AUTH is over, or soon will be: void it, or announce its end, unless it was settled or voided.',
  Type.Object({
    paymentId: PaymentId,
    merchantAccount: MerchantAccount,
    reference: Type.String({ ...Reference, description: 'Of the AUTH' }),
    expiresAt: Type.Integer({ minimum: 0, description: 'End of the hold, epoch ms' }),
  }),
);
export type ExpireAuthorizationData = DataOf<typeof ExpireAuthorization>;

/** Commands of merchants. Each is an operation with a reference and a deadline. */
export const cardCommands = {
  AuthorizeCard,
  ChargeCard,
  AuthenticateCard,
  AuthenticateAndChargeCard,
  SettleAuthorization,
  VoidAuthorization,
  RefundCharge,
  TokenizeCard,
} as const;

/** A merchant's command on the wire: its type beside its data. */
export type CardCommand = {
  [K in keyof typeof cardCommands]: { type: K; data: DataOf<(typeof cardCommands)[K]> };
}[keyof typeof cardCommands];

/** The operation that each command asks for. */
export const operationTypeOf: Readonly<Record<CardCommand['type'], OperationType>> = {
  AuthorizeCard: 'AUTH',
  ChargeCard: 'SALE',
  AuthenticateCard: 'AUTH3D',
  AuthenticateAndChargeCard: 'SALE3D',
  SettleAuthorization: 'SETTLE',
  VoidAuthorization: 'VOID',
  RefundCharge: 'REFUND',
  TokenizeCard: 'TOKENIZE',
};

/** Begins with a card; all others follow a recorded operation. */
export type CardholderCommand = Extract<
  CardCommand,
  { type: 'AuthorizeCard' | 'ChargeCard' | 'AuthenticateCard' | 'AuthenticateAndChargeCard' }
>;
export type PurchaseCommand = Extract<CardCommand, { type: 'AuthorizeCard' | 'ChargeCard' }>;
export type AuthenticationCommand = Extract<CardCommand, { type: 'AuthenticateCard' | 'AuthenticateAndChargeCard' }>;
export type FollowUpCommand = Extract<
  CardCommand,
  { type: 'SettleAuthorization' | 'VoidAuthorization' | 'RefundCharge' }
>;
