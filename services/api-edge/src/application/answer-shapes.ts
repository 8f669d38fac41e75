import type { AnswerKind, CardStatus, ResponseCode } from '@gateway/contracts';
import {
  ERROR_REASONS,
  OPERATION_TYPES,
  RESPONSE_CODES,
  answerFields,
  cardStatusOfCode,
  customParameterRules,
  responseCodes,
} from '@gateway/contracts';
import { AUTHENTICATION_STARTED, CLOSED_STATES } from './responses';

/** JSON Schema. One with a `title` becomes a component of docs/openapi.yaml under that name. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** One outcome that an answer tells: the whole body. Bodies may get more fields, so these schemas are open. */
export type OutcomeShape = JsonSchema & { readonly title: string; readonly description: string };

export type Properties = Readonly<Record<string, JsonSchema>>;

/** An object with these properties, of which all are required but those named in `optional`. */
export function shapeOf(properties: Properties, optional: readonly string[] = []): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }) };
}

export const UNIX_SECONDS = { type: 'integer', minimum: 0, description: 'In unix seconds.' };
const SESSION_ID = {
  type: 'string',
  minLength: 36,
  maxLength: 36,
  description: 'Id of the request, as in X-Request-Id.',
};

const codesWith = (isIn: (code: ResponseCode) => boolean): number[] =>
  responseCodes.map(({ code }) => code).filter(isIn);
const hasStatus = (status: CardStatus) => (code: ResponseCode) => cardStatusOfCode(code) === status;

export const RESPONSE_CODE: JsonSchema = {
  title: 'ResponseCode',
  type: 'integer',
  enum: codesWith(() => true),
  description: 'A code of the registry.',
};
const SUCCESS_CODE: JsonSchema = { const: RESPONSE_CODES.SUCCESS };
const DECLINE_CODE: JsonSchema = {
  title: 'DeclineCode',
  type: 'integer',
  enum: codesWith(hasStatus('decline')),
  description: 'Why a bank, a property of the card or a fraud rule said no.',
};
const ERROR_CODE: JsonSchema = {
  title: 'ErrorCode',
  type: 'integer',
  enum: codesWith(hasStatus('error')),
  description: 'Why the operation failed, or why its outcome is not known.',
};

const CUSTOM_PARAMETERS: JsonSchema = {
  title: 'CustomParameters',
  description: 'Parameters that the account has activated, where they have a value.',
  type: 'object',
  properties: Object.fromEntries(
    customParameterRules.map(({ name, pattern }) => [name, { type: 'string', pattern }] as const),
  ),
};

/** Every answer begins with these. An account that was not given, or not readable, is left out. */
export const cardEnvelope: Properties = {
  api_version: { const: 1 },
  merchant_account: { type: 'string', minLength: 6, maxLength: 32 },
  sessionid: SESSION_ID,
};
const payoutEnvelope: Properties = {
  api_version: { const: 1 },
  merchant_account: { type: 'string', minLength: 6, maxLength: 32 },
  session_id: SESSION_ID,
};

const ERROR_REASON: JsonSchema = {
  title: 'ErrorReason',
  type: 'string',
  enum: Object.keys(ERROR_REASONS),
  description: 'What is wrong. `docs` leads to what it means. Later versions of the gateway may have more of them.',
};

const FIELD_ERRORS: JsonSchema = {
  title: 'FieldErrors',
  description: 'What is wrong with the request: every wrong field, or what else it is.',
  type: 'array',
  minItems: 1,
  items: shapeOf(
    {
      field: { type: 'string', description: 'Its name, or what else of the request is wrong, such as a header.' },
      code: ERROR_CODE,
      message: { type: 'string', maxLength: 255 },
      reason: ERROR_REASON,
      hint: { type: 'string', description: 'What is allowed, with an example. For developers.' },
      docs: { type: 'string', format: 'uri-reference', description: 'What the reason means.' },
    },
    ['reason', 'hint', 'docs'],
  ),
};

/** What merchants read where services exchange something else. */
const SHOWN: Properties = {
  timestamp: UNIX_SECONDS,
  hold_ends_at: UNIX_SECONDS,
  status: { type: 'string', enum: ['success', 'decline', 'error'] },
  code: RESPONSE_CODE,
  transaction_type: { type: 'string', enum: OPERATION_TYPES },
  eci: { type: 'integer', enum: [1, 2, 5, 6, 7] },
};

/** The fields of the contracts' table, in the order of that kind of answer. */
export function fieldsOf(kind: AnswerKind): Properties {
  const inOrder = answerFields
    .filter((field) => field[kind] !== undefined)
    .toSorted((a, b) => (a[kind] ?? 0) - (b[kind] ?? 0));
  return Object.fromEntries(
    inOrder.map(({ name, schema, meaning }) => {
      const shown: JsonSchema = SHOWN[name] ?? schema;
      return [name, 'title' in shown ? shown : { ...shown, description: `${meaning}.` }] as const;
    }),
  );
}

export const cardFields = fieldsOf('response');

function without(properties: Properties, ...names: readonly string[]): Properties {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => !names.includes(name)));
}

const ONLY_3DS = ['acs_url', 'pareq', 'eci'];
const plainCard: Properties = { ...cardEnvelope, ...without(cardFields, ...ONLY_3DS) };
/** Beside the properties of its own, an outcome on record has the activated custom parameters. */
const withCustom = (schema: JsonSchema): JsonSchema => ({ ...schema, allOf: [CUSTOM_PARAMETERS] });

export const succeeded: Properties = { status: { const: 'success' }, code: SUCCESS_CODE };
const declined: Properties = { status: { const: 'decline' }, code: DECLINE_CODE };
const failed: Properties = { status: { const: 'error' }, code: ERROR_CODE };

const CARD_APPROVED: OutcomeShape = {
  title: 'CardApproved',
  description: 'The operation succeeded.',
  ...withCustom(shapeOf({ ...plainCard, ...succeeded })),
};
const CARD_DECLINED: OutcomeShape = {
  title: 'CardDeclined',
  description: 'A bank, a property of the card or a fraud rule said no. Final.',
  // A card that was refused before it had a token.
  ...withCustom(shapeOf({ ...plainCard, ...declined }, ['token'])),
};
/** An operation about an unknown token or reference knows no card. */
const CARD_FAILED: OutcomeShape = {
  title: 'CardFailed',
  description:
    'The operation is on record and failed, or its outcome is not known (codes 11, 3109, 3117, 3118, 3124, 3125: ask with CHECK).',
  ...withCustom(shapeOf({ ...plainCard, ...failed }, ['token'])),
};
const CARD_REFUSED: OutcomeShape = {
  title: 'CardRefused',
  description: 'Nothing was done and nothing is on record. Code 11: it is not known whether the request is on record.',
  ...shapeOf({ ...without(plainCard, 'token', 'reference'), ...failed, errors: FIELD_ERRORS }, [
    'merchant_account',
    'transaction_unique_id',
    'errors',
  ]),
};
const CARD_DECLINED_3DS: OutcomeShape = {
  title: 'CardDeclinedWith3ds',
  description: 'Declined. With `eci`, the cardholder could not be authenticated. Final.',
  ...withCustom(shapeOf({ ...plainCard, ...declined, eci: cardFields['eci'] ?? {} }, ['token', 'eci'])),
};
const started: Properties = {
  ...succeeded,
  message: { const: AUTHENTICATION_STARTED },
  authcode: { type: 'null' },
  acs_url: cardFields['acs_url'] ?? {},
};
const SALE3D_STARTED: OutcomeShape = {
  title: 'Sale3dStarted',
  description:
    "Send the cardholder's browser to `acs_url`. Nothing has been paid yet: the outcome comes by callback, and CHECK says PENDING until then.",
  ...withCustom(shapeOf({ ...plainCard, ...started, eci: cardFields['eci'] ?? {} }, ['eci'])),
};
const AUTH3D_STARTED: OutcomeShape = {
  title: 'Auth3dStarted',
  description: "Post the cardholder's browser to `acs_url` with `PaReq` (`pareq`), `TermUrl` and `MD` (the reference).",
  ...withCustom(shapeOf({ ...plainCard, ...started, pareq: cardFields['pareq'] ?? {} })),
};
const AUTH3D_AUTHENTICATED: OutcomeShape = {
  title: 'Auth3dAuthenticated',
  description: 'The cardholder was authenticated without a challenge. Post the browser to `acs_url` for the proof.',
  ...withCustom(shapeOf({ ...plainCard, ...cardFields, ...succeeded })),
};
const CHECKOUT_OPENED: OutcomeShape = {
  title: 'CheckoutOpened',
  description: "Send the cardholder's browser to `checkout_url`.",
  ...shapeOf({
    ...without(plainCard, 'token', 'reference'),
    ...succeeded,
    authcode: { type: 'null' },
    checkout_url: { type: 'string', format: 'uri', description: 'Address of the card-entry page.' },
    expires_at: { ...UNIX_SECONDS, description: 'When the page stops taking cards, in unix seconds.' },
  }),
};

export const CARD_OUTCOMES = [CARD_APPROVED, CARD_DECLINED, CARD_FAILED, CARD_REFUSED];
export const TOKENIZE_OUTCOMES = [CARD_APPROVED, CARD_DECLINED, CARD_FAILED, CARD_REFUSED];
export const AUTH3D_OUTCOMES = [AUTH3D_STARTED, AUTH3D_AUTHENTICATED, CARD_DECLINED_3DS, CARD_FAILED, CARD_REFUSED];
export const SALE3D_OUTCOMES = [SALE3D_STARTED, CARD_DECLINED_3DS, CARD_FAILED, CARD_REFUSED];
export const CHECKOUT_OUTCOMES = [CHECKOUT_OPENED, CARD_REFUSED];

const CHECKOUT_CLOSED: OutcomeShape = {
  title: 'CheckoutClosed',
  description: 'The page takes no further card. Without an attempt under way, nobody will be charged there any more.',
  ...shapeOf({
    ...cardEnvelope,
    transaction_unique_id: cardFields['transaction_unique_id'] ?? {},
    timestamp: UNIX_SECONDS,
    ...succeeded,
    message: { type: 'string', maxLength: 255 },
    state: {
      type: 'string',
      enum: [...CLOSED_STATES],
      description:
        '`expired`: nobody will be charged there any more. `paid`: an attempt succeeded before. `under_way`: an attempt was submitted before, and may still succeed.',
    },
  }),
};
export const CHECKOUT_EXPIRY_OUTCOMES = [CHECKOUT_CLOSED, CARD_REFUSED];

/** CHECK: records, or why there are none. */
function checkOutcomes(
  prefix: string,
  envelope: Properties,
  record: JsonSchema,
  refused: OutcomeShape,
): OutcomeShape[] {
  const message = { type: 'string', maxLength: 255 };
  const records = { type: 'array', items: record };
  return [
    {
      title: `${prefix}Found`,
      description: 'The requested operation, then those based on it, oldest first.',
      ...shapeOf({ ...envelope, transactions: { ...records, minItems: 1 }, ...succeeded, message }),
    },
    {
      title: `${prefix}NotFound`,
      description: 'Nothing is known (3014), or the record could not be read (10).',
      ...shapeOf({ ...envelope, transactions: { ...records, maxItems: 0 }, ...failed, message }),
    },
    refused,
  ];
}

const CARD_RECORD: JsonSchema = {
  title: 'CardRecord',
  description: 'An operation. PENDING with code 11: its outcome is not known yet.',
  ...shapeOf({ ...fieldsOf('check'), status: { type: 'string', enum: ['SUCCESS', 'DECLINE', 'ERROR', 'PENDING'] } }, [
    'token',
    'hold_ends_at',
  ]),
};
export const CHECK_OUTCOMES = checkOutcomes('Check', cardEnvelope, CARD_RECORD, CARD_REFUSED);

const PAYOUT_STATUS = { type: 'string', enum: ['SUCCESS', 'DECLINED', 'ERROR', 'FRAUDED', 'PENDING'] };
const payoutRecordFields: Properties = {
  ...without(fieldsOf('check'), 'authcode', 'hold_ends_at'),
  transaction_type: { const: 'PAYOUT' },
  status: PAYOUT_STATUS,
};

const payoutAnswer: Properties = {
  ...without(payoutEnvelope, 'merchant_account'),
  reference: cardFields['reference'] ?? {},
  timestamp: UNIX_SECONDS,
  status: { const: 'pending' },
  code: SUCCESS_CODE,
  message: { type: 'string', maxLength: 255 },
};
const PAYOUT_PENDING: OutcomeShape = {
  title: 'PayoutPending',
  description: 'The payout is on record. The outcome comes by callback.',
  ...withCustom(shapeOf(payoutAnswer)),
};
const PAYOUT_UNKNOWN: OutcomeShape = {
  title: 'PayoutUnknown',
  description: 'It is not known whether the payout is on record: ask with CHECK.',
  ...withCustom(
    shapeOf({ ...payoutAnswer, status: { const: 'error' }, code: { const: RESPONSE_CODES.OUTCOME_UNKNOWN } }),
  ),
};
const PAYOUT_REFUSED: OutcomeShape = {
  title: 'PayoutRefused',
  description: 'Nothing was done and nothing is on record.',
  ...shapeOf({ ...payoutEnvelope, ...without(payoutAnswer, 'reference'), ...failed, errors: FIELD_ERRORS }, [
    'merchant_account',
    'errors',
  ]),
};
export const PAYOUT_OUTCOMES = [PAYOUT_PENDING, PAYOUT_UNKNOWN, PAYOUT_REFUSED];

const PAYOUT_RECORD: JsonSchema = {
  title: 'PayoutRecord',
  description: 'A payout. PENDING with code 11: its outcome is not known yet.',
  ...shapeOf(payoutRecordFields),
};
export const PAYOUT_CHECK_OUTCOMES = checkOutcomes('PayoutCheck', payoutEnvelope, PAYOUT_RECORD, PAYOUT_REFUSED);

const NOTHING_TO_TELL: JsonSchema = { type: ['object', 'null'] };
const LISTED_PAYOUT: JsonSchema = {
  title: 'ListedPayout',
  description: 'A payout in the listing.',
  ...shapeOf(
    {
      transaction_type: { const: 'PAYOUT' },
      status: PAYOUT_STATUS,
      mode: { const: 'CC' },
      reference: cardFields['reference'] ?? {},
      amount: { type: 'number', minimum: 0, description: 'With the fee on `/transactions`, without it on `/ra`.' },
      currency: { type: 'string', pattern: '^[A-Z]{3}$' },
      change_reason_type: { type: 'string', description: 'Why the status changed after it was final.' },
      merchant: NOTHING_TO_TELL,
      user: NOTHING_TO_TELL,
      card: NOTHING_TO_TELL,
      bank: NOTHING_TO_TELL,
      time: { ...UNIX_SECONDS, description: 'When the payout was accepted, in unix seconds.' },
      token: cardFields['token'] ?? {},
      transaction_unique_id: cardFields['transaction_unique_id'] ?? {},
      code: RESPONSE_CODE,
      message: { type: 'string', maxLength: 255 },
    },
    ['change_reason_type'],
  ),
};
const PAYOUTS_LISTED: OutcomeShape = {
  title: 'PayoutsListed',
  description: 'The payouts of the period, a page at a time.',
  ...shapeOf({
    ...payoutEnvelope,
    timestamp: UNIX_SECONDS,
    transactions: { type: 'array', items: LISTED_PAYOUT },
    ...succeeded,
    message: { type: 'string', maxLength: 255 },
  }),
};
export const PAYOUT_QUERY_OUTCOMES = [PAYOUTS_LISTED, PAYOUT_REFUSED];

const CLOCK: OutcomeShape = {
  title: 'SandboxClock',
  description: "The account's time, how many seconds it is ahead, and whether all services use it already.",
  ...shapeOf({
    ...cardEnvelope,
    timestamp: UNIX_SECONDS,
    ...succeeded,
    message: { type: 'string', maxLength: 255 },
    clock: { ...UNIX_SECONDS, description: "The account's time, in unix seconds." },
    ahead: { type: 'integer', minimum: 0, description: 'Seconds ahead of real time.' },
    followed: { type: 'boolean', description: 'Whether holds, retries and time-outs use this time already.' },
  }),
};
export const CLOCK_OUTCOMES = [CLOCK, CARD_REFUSED];

const LEDGER_LINE: JsonSchema = {
  title: 'LedgerEntry',
  description: 'Something that a bank of the sandbox did.',
  ...shapeOf({
    at: { type: 'string', description: 'When it took effect, in ISO 8601.' },
    operation: {
      type: ['string', 'null'],
      description: 'As the bank calls it. Null for a key that was cancelled before its request arrived.',
    },
    idempotencyKey: { type: 'string', description: 'By which the bank knows a repetition.' },
    reference: cardFields['reference'] ?? {},
    amount: { type: ['number', 'null'], minimum: 0 },
    currency: { type: ['string', 'null'] },
    effect: { type: 'string', description: 'What became of the money, such as `sold`, `declined` or `cancelled`.' },
  }),
};
const LEDGER: OutcomeShape = {
  title: 'SandboxLedger',
  description: 'What the banks did for the operation or payout, oldest first.',
  ...shapeOf({
    ...cardEnvelope,
    timestamp: UNIX_SECONDS,
    ...succeeded,
    message: { type: 'string', maxLength: 255 },
    entries: { type: 'array', items: LEDGER_LINE },
  }),
};
export const LEDGER_OUTCOMES = [LEDGER, CARD_REFUSED];

/** Of answers that are about no operation. */
export const QUERY_REFUSED = CARD_REFUSED;

/** Refusals of the transport, and of requests beyond a limit. */
export const REFUSED = { card: CARD_REFUSED, payout: PAYOUT_REFUSED } as const;

const signed = { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'Signature of all other values.' };
/** Forms: every value is text. */
const asText = (values: readonly number[]): JsonSchema => ({ type: 'string', enum: values.map(String) });
const SECONDS_AS_TEXT: JsonSchema = { type: 'string', pattern: '^[0-9]+$', description: 'In unix seconds.' };
function callbackShape(
  title: string,
  statuses: readonly string[],
  fields: Properties,
  optional: readonly string[] = [],
): OutcomeShape {
  return {
    title,
    description: 'The final outcome. Answer with status 200; to card callbacks with the body `OK`.',
    ...withCustom(
      shapeOf(
        {
          ...fields,
          status: { type: 'string', enum: statuses },
          code: { ...asText(codesWith(() => true)), description: 'A code of the registry.' },
          checkSum: signed,
        },
        optional,
      ),
    ),
  };
}

const callbackFields = fieldsOf('callback');
/** `event` and `hold_ends_at` are in callbacks about a hold, which accounts ask for. */
export const CARD_CALLBACK = callbackShape(
  'CardCallback',
  ['success', 'decline', 'error'],
  { ...callbackFields, hold_ends_at: SECONDS_AS_TEXT },
  ['token', 'event', 'hold_ends_at'],
);
export const PAYOUT_CALLBACK = callbackShape(
  'PayoutCallback',
  ['SUCCESS', 'DECLINED', 'ERROR', 'FRAUDED'],
  without(callbackFields, 'event', 'hold_ends_at'),
);
