import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { Customer } from './card-commands';
import {
  AmountE4,
  Currency,
  DueClockMs,
  Eci,
  EpochMs,
  HttpsUrl,
  MerchantAccount,
  MidReference,
  PaymentId,
  Reference,
  ResponseCodeField,
  Token,
  TransactionUniqueId,
} from './fields';
import type { DataOf } from './message';
import { declareMessage } from './message';

const AuthenticatedType = Type.Union([Type.Literal('AUTH3D'), Type.Literal('SALE3D')]);

/** An operation has one authentication, so the reference names both. */
const subject = {
  paymentId: PaymentId,
  reference: Reference,
  merchantAccount: MerchantAccount,
  transactionType: AuthenticatedType,
};

export const AuthenticateCardholder = declareMessage(
  'threedsCommands',
  'AuthenticateCardholder',
  'Authenticate the cardholder of an AUTH3D or a SALE3D.',
  Type.Object({
    ...subject,
    transactionUniqueId: TransactionUniqueId,
    amountE4: AmountE4,
    currency: Currency,
    token: Token,
    midReference: MidReference,
    customer: Customer,
    redirectUrl: Type.Optional(HttpsUrl),
    acceptedAt: EpochMs,
    deadline: Type.Integer({ minimum: 0, description: 'Epoch ms after which no request waits for the first answer' }),
  }),
);

export const threedsCommands = { AuthenticateCardholder } as const;
export type AuthenticateCardholderData = DataOf<typeof AuthenticateCardholder>;

/** EMV 3-D Secure transaction ids, UUIDs given by 3DS server, directory server and ACS. */
export const AuthenticationIds = Type.Object({
  threeDSServerTransId: Type.String({ maxLength: 36 }),
  dsTransId: Type.Optional(Type.String({ maxLength: 36 })),
  acsTransId: Type.Optional(Type.String({ maxLength: 36 })),
});
export type AuthenticationIds = Static<typeof AuthenticationIds>;

const page = {
  acsUrl: Type.String({ maxLength: 255, description: 'Page of the threeds service to send the browser to' }),
  pareq: Type.Optional(
    Type.String({ maxLength: 4096, description: "AUTH3D: handle that the merchant's page posts to it" }),
  ),
};

const proofHash = Type.Optional(
  Type.String({
    pattern: '^[0-9a-f]{64}$',
    description: 'AUTH3D: SHA-256 of the PaRes, to check the purchase that brings it',
  }),
);

const occurred = { ...subject, occurredAt: EpochMs };

export const ChallengeRequired = declareMessage(
  'threedsEvents',
  'ChallengeRequired',
  'The issuer wants to challenge the cardholder. The outcome is not known yet.',
  Type.Object({ ...occurred, ...page, ids: AuthenticationIds }),
);
export const CardholderAuthenticated = declareMessage(
  'threedsEvents',
  'CardholderAuthenticated',
  'The issuer has authenticated the cardholder, with or without a challenge.',
  Type.Object({
    ...occurred,
    ...page,
    ids: AuthenticationIds,
    challenged: Type.Boolean(),
    eci: Eci,
    authenticationValue: Type.String({
      maxLength: 64,
      description: "For the acquirer: the issuer's cryptogram, base64",
    }),
    proofHash,
  }),
);
export const AuthenticationRefused = declareMessage(
  'threedsEvents',
  'AuthenticationRefused',
  'The cardholder is not authenticated, and that is final: refused, cancelled, not possible or out of time.',
  Type.Object({
    ...occurred,
    ids: Type.Optional(AuthenticationIds),
    challenged: Type.Boolean(),
    code: ResponseCodeField,
    eci: Type.Optional(Eci),
    proofHash,
    dueClockMs: DueClockMs,
  }),
);

export const threedsEvents = { ChallengeRequired, CardholderAuthenticated, AuthenticationRefused } as const;
export type ThreedsEventType = keyof typeof threedsEvents;

/** An event of threeds on the wire: its type beside its data. */
export type ThreedsEvent = {
  [K in ThreedsEventType]: { type: K; data: DataOf<(typeof threedsEvents)[K]> };
}[ThreedsEventType];
