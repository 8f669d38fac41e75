import type { TSchema } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import {
  Eci,
  EpochMs,
  OperationStatusField,
  OperationTypeField,
  Reference,
  ResponseCodeField,
  Token,
  TransactionUniqueId,
} from './fields';
import type { ResponseCode } from './response-codes';

/** What the callbacks about a hold report; others have no such field. */
export const HOLD_EVENTS = ['authorization_expiring', 'authorization_expired'] as const;

/** By the interface: a longer one would make every answer that has it invalid. */
export const AUTHCODE_LENGTH_MAX = 24;

/** What merchants read: the answer to a request, a record of a CHECK, a callback. */
export type AnswerKind = 'response' | 'check' | 'callback';
type Value = string | number | null;

interface AnswerField {
  /** As merchants read it. */
  readonly name: string;
  readonly schema: TSchema;
  readonly meaning: string;
  /** Payouts do not have it. */
  readonly cardsOnly?: true;
  /** Its position in each kind of answer. A field without one is not in that answer. */
  readonly response?: number;
  readonly check?: number;
  readonly callback?: number;
  /** Turns the value that services exchange into the one that merchants read. */
  readonly shown?: (value: Value) => Value;
}

/** Unix seconds, which merchants read, of a time in epoch ms. */
export function unixSeconds(epochMs: number): number {
  return Math.floor(epochMs / 1000);
}

/** The day in UTC: `2026-03-01`. */
export function utcDay(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

/**
 * Every field that merchants read of an operation or a payout, by its name inside the gateway. The schemas of replies,
 * queries and events, all three kinds of answer, and their documentation follow from this table.
 */
const FIELDS = {
  transactionUniqueId: {
    name: 'transaction_unique_id',
    schema: TransactionUniqueId,
    meaning: 'as sent in the request',
    response: 1,
    check: 2,
    callback: 3,
  },
  token: {
    name: 'token',
    schema: Type.Optional(Token),
    meaning: 'stands for the card, or for the receiver of a payout, at this merchant',
    response: 2,
    check: 7,
    callback: 1,
  },
  reference: {
    name: 'reference',
    schema: Reference,
    meaning: 'names the operation; its first 16 characters name the payment',
    response: 3,
    check: 1,
    callback: 2,
  },
  timestamp: {
    name: 'timestamp',
    schema: EpochMs,
    meaning: 'when the request was accepted, in unix seconds',
    shown: (epochMs) => unixSeconds(Number(epochMs)),
    response: 4,
    check: 8,
  },
  authcode: {
    name: 'authcode',
    schema: Type.Union([Type.String({ maxLength: AUTHCODE_LENGTH_MAX }), Type.Null()]),
    meaning: "of cards: the bank's authorization code, or null",
    cardsOnly: true,
    response: 5,
    check: 9,
  },
  transactionType: {
    name: 'transaction_type',
    schema: OperationTypeField,
    meaning: 'the type of the operation, or PAYOUT',
    cardsOnly: true,
    check: 3,
  },
  status: {
    name: 'status',
    schema: OperationStatusField,
    meaning: 'success, decline or error; upper case in CHECK and in callbacks of payouts',
    response: 6,
    check: 4,
    callback: 4,
  },
  code: {
    name: 'code',
    schema: ResponseCodeField,
    meaning: 'a code of the registry',
    response: 7,
    check: 5,
    callback: 5,
  },
  message: {
    name: 'message',
    schema: Type.String({ maxLength: 255 }),
    meaning: 'what the code means',
    response: 8,
    check: 6,
    callback: 6,
  },
  acsUrl: {
    name: 'acs_url',
    schema: Type.Optional(Type.String({ maxLength: 255 })),
    meaning: 'AUTH3D and SALE3D whose cardholder can be authenticated: where to send the browser',
    cardsOnly: true,
    response: 9,
  },
  pareq: {
    name: 'pareq',
    schema: Type.Optional(Type.String({ maxLength: 4096 })),
    meaning: "AUTH3D: what the merchant's page posts to `acs_url`",
    cardsOnly: true,
    response: 10,
  },
  eci: {
    name: 'eci',
    schema: Type.Optional(Eci),
    meaning: "the scheme's indicator, where no challenge is to come",
    cardsOnly: true,
    response: 11,
  },
  event: {
    name: 'event',
    schema: Type.Optional(Type.Union(HOLD_EVENTS.map((event) => Type.Literal(event)))),
    meaning: 'accounts with hold callbacks: `authorization_expiring` or `authorization_expired`',
    cardsOnly: true,
    callback: 7,
  },
  holdEndsAt: {
    name: 'hold_ends_at',
    schema: Type.Optional(EpochMs),
    meaning: 'accounts with hold callbacks: when the hold of an AUTH ends, in unix seconds',
    shown: (epochMs) => unixSeconds(Number(epochMs)),
    cardsOnly: true,
    check: 10,
    callback: 8,
  },
} as const satisfies Record<string, AnswerField>;

type Fields = typeof FIELDS;
type Name = keyof Fields;
type NamesWith<Part> = { [N in Name]: Fields[N] extends Part ? N : never }[Name];
type CallbackName = NamesWith<{ callback: number }>;
type CardsOnly = NamesWith<{ cardsOnly: true }>;
type SchemasOf<N extends Name> = { [K in N]: Fields[K]['schema'] };

/** In their order, for documents. */
export const answerFields: readonly AnswerField[] = Object.values(FIELDS);

function schemasOf<N extends Name>(isIn: (field: AnswerField) => boolean): SchemasOf<N> {
  const fields = Object.entries<AnswerField>(FIELDS).filter(([, field]) => isIn(field));
  return Object.fromEntries(fields.map(([name, { schema }]) => [name, schema])) as SchemasOf<N>;
}

const inCallbacks = ({ callback }: AnswerField): boolean => callback !== undefined;

/** What the owner of a payment answers with, and what its events say because callbacks repeat it. */
export const cardAnswerSchemas = schemasOf<Name>(() => true);
export const cardCallbackSchemas = schemasOf<CallbackName>(inCallbacks);
/** The same for payouts. */
export const payoutAnswerSchemas = schemasOf<Exclude<Name, CardsOnly>>(({ cardsOnly }) => cardsOnly !== true);
export const payoutCallbackSchemas = schemasOf<Exclude<CallbackName, CardsOnly>>(
  (field) => inCallbacks(field) && field.cardsOnly !== true,
);

/** Those of the values that callbacks repeat. */
export function callbackValues<V extends object>(values: V): Pick<V, CallbackName & keyof V> {
  const repeated = Object.entries(values).filter(([name]) => name in cardCallbackSchemas);
  return Object.fromEntries(repeated) as Pick<V, CallbackName & keyof V>;
}

/** The values of an answer as far as they are known. */
export type AnswerValues = { readonly [N in Name]?: Value | undefined } & { readonly code: ResponseCode };
export type Rendered = Record<string, unknown> & { code: ResponseCode };

const ordered = (kind: AnswerKind): readonly [property: string, field: AnswerField][] =>
  Object.entries<AnswerField>(FIELDS)
    .filter(([, field]) => field[kind] !== undefined)
    .sort(([, a], [, b]) => (a[kind] ?? 0) - (b[kind] ?? 0));
const ORDERED = { response: ordered('response'), check: ordered('check'), callback: ordered('callback') };

/** The fields of an answer, named and ordered as merchants read them. What is undefined is left out. */
export function renderAnswer(kind: AnswerKind, values: AnswerValues): Rendered {
  const known: Readonly<Record<string, Value | undefined>> = values;
  const rendered: Record<string, unknown> = {};
  for (const [property, { name, shown }] of ORDERED[kind]) {
    const value = known[property];
    if (value !== undefined) rendered[name] = shown === undefined ? value : shown(value);
  }
  return rendered as Rendered;
}
