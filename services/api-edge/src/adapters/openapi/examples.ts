import type { OperationOutcome, ResponseCode } from '@gateway/contracts';
import { RESPONSE_CODES, TEST_CARDS, coded } from '@gateway/contracts';
import { callbackRecord, callbacksResponse, eventsResponse } from '../../application/callback-responses';
import type { Operation } from '../../application/endpoint';
import {
  payoutCheckRecord,
  payoutQueryRecord,
  payoutQueryResponse,
  payoutResponse,
} from '../../application/payout-responses';
import type { Session } from '../../application/responses';
import { clockResponse } from '../../application/handle-clock-request';
import { ledgerResponse } from '../../application/handle-ledger-request';
import {
  checkRecord,
  checkResponse,
  checkoutClosedResponse,
  checkoutResponse,
  notFound,
  fieldFailure,
  operationResponse,
  problem,
} from '../../application/responses';
import { CALLBACK_EVENTS_TABLE, CALLBACK_LIST_TABLE } from '../../domain/callback-fields';
import { CLOCK_TABLE } from '../../domain/clock-fields';
import type { FieldName } from '../../domain/field-names';
import type { FieldRow, FieldRule } from '../../domain/field-table';
import { hintOf } from '../../domain/field-table';
import { cardTable } from '../../domain/fields';
import { PAYOUT_CHECK_TABLE, PAYOUT_QUERY_TABLE, payoutTable } from '../../domain/payout-fields';
import { isoBankAddresses } from '../bank-addresses/iso';
import { rowsOf } from './request-schemas';

type Fields = Readonly<Record<string, unknown>>;

/**
 * One request and its answer. test/openapi sends each to a running gateway: the answer must have the same fields, and
 * the same status, code and message.
 */
export interface Example {
  /** The operation's title. */
  readonly operation: string;
  /** In lower case, for people. */
  readonly outcome: string;
  /** The title of the shape that the answer has. */
  readonly shape: string;
  readonly request: Fields;
  /** The example whose `reference`, or whose id, the request is about. */
  readonly after?: Pick<Example, 'operation' | 'outcome'> | undefined;
  readonly answer: Fields;
  /** The answer of a gateway that has waited in vain for the outcome. */
  readonly isLate?: true;
  /** Why no request brings it about at will. */
  readonly rare?: string;
}

/** The id of every example. */
export const SAMPLE_ID = 'order-10001';
const SAMPLE_REFERENCE = 'K3F9Z0Q1R8T7V6W5AB12';
const SAMPLE_TOKEN = '5f0c1a52-93b4-4c5e-8a7d-2e61b0f4c9d3';
const ACCEPTED_AT_MS = 1_798_000_000_000;
const PAGE_LIFETIME_MS = 1_800_000;
const SAMPLE_E4 = 250_000;

/** A valid value of every field that some operation requires, and of the CVV. */
const SAMPLES: Partial<Record<FieldName, unknown>> = {
  api_version: 1,
  merchant_account: 'demo_merchant',
  merchant_password: 'demo_password',
  transaction_unique_id: SAMPLE_ID,
  amount: '25.00',
  currency: 'XTS',
  card_number: TEST_CARDS.notEnrolled.visa,
  card_exp_month: '12',
  card_exp_year: '2030',
  cvv: '123',
  card_holder: 'Jane Doe',
  first_name: 'Jane',
  last_name: 'Doe',
  country: 'USA',
  user_email: 'jane.doe@example.com',
  user_ip: '203.0.113.7',
  callback_url: 'https://localhost:8443/callback',
  redirect_url: 'https://localhost:8443/back',
  reference: SAMPLE_REFERENCE,
  method: 'init',
  type: 'sepa',
  receiver_iban: 'DE89370400440532013000',
  receiver_name: 'Jane Doe',
  transfer_description: 'Invoice 17',
  time_from: ACCEPTED_AT_MS / 1000 - 3_600,
  time_to: ACCEPTED_AT_MS / 1000 + 3_600,
  qod_type: 'transactions',
  callback_id: 'K3F9Z0Q1R8T7V6W5AB12',
};

const ENVELOPE: readonly FieldName[] = ['api_version', 'merchant_account', 'merchant_password'];

/** A request with what the operation requires. */
export function sampleRequest(operation: Operation): Record<string, unknown> {
  const { transactionType } = operation;
  const type = transactionType === undefined ? {} : { transaction_type: transactionType };
  const needed = rowsOf(operation).filter(({ name, need }) => {
    if (name === 'cvv') return need !== 'forbidden';
    return need === 'required' || (typeof need === 'object' && need.otherwise === 'required');
  });
  const values = [...ENVELOPE, ...needed.map(({ name }) => name)].map((name) => {
    if (!(name in SAMPLES)) throw new Error(`no sample of ${name}`);
    return [name, SAMPLES[name]] as const;
  });
  return {
    ...Object.fromEntries(values.slice(0, ENVELOPE.length)),
    ...type,
    ...Object.fromEntries(values.slice(ENVELOPE.length)),
  };
}

const card: Session = {
  family: 'card',
  sessionId: '0d8f2f6e-6a0b-4f7b-9a55-2f1c7be0a9d1',
  merchantAccount: 'demo_merchant',
  transactionUniqueId: SAMPLE_ID,
};
const payout: Session = { family: 'payout', sessionId: card.sessionId };
const payoutQuery: Session = { ...payout, merchantAccount: 'demo_merchant' };

function outcomeOf(
  transactionType: OperationOutcome['transactionType'],
  more: Partial<OperationOutcome>,
): OperationOutcome {
  return {
    paymentId: SAMPLE_REFERENCE.slice(0, 16),
    reference: SAMPLE_REFERENCE,
    merchantAccount: 'demo_merchant',
    transactionUniqueId: SAMPLE_ID,
    transactionType,
    token: SAMPLE_TOKEN,
    timestamp: ACCEPTED_AT_MS,
    authcode: null,
    status: 'success',
    ...coded(RESPONSE_CODES.SUCCESS),
    ...more,
  };
}

type CardType = OperationOutcome['transactionType'];
type Case = Pick<Example, 'outcome' | 'shape' | 'answer' | 'after' | 'isLate' | 'rare'> & { fields?: Fields };

const answerOf = (type: CardType, more: Partial<OperationOutcome> = {}): Fields =>
  operationResponse(card, outcomeOf(type, more)).body;
const withoutToken = (type: CardType, more: Partial<OperationOutcome>): Fields => {
  const { token: _token, ...outcome } = outcomeOf(type, more);
  return operationResponse(card, outcome).body;
};
const APPROVED = { authcode: 'A1B2C3' };
const error = <Code extends ResponseCode>(code: Code) => ({ status: 'error' as const, ...coded(code) });
const decline = (code: ResponseCode) => ({ status: 'decline' as const, ...coded(code) });

const approved = (type: CardType, more: Partial<Case> = {}): Case => ({
  outcome: 'approved',
  shape: 'CardApproved',
  answer: answerOf(type, APPROVED),
  ...more,
});
const declined = (type: CardType, more: Partial<Case> = {}): Case => ({
  outcome: 'declined',
  shape: 'CardDeclined',
  answer: answerOf(type, decline(RESPONSE_CODES.INSUFFICIENT_FUNDS)),
  ...more,
});
const FORCED = { amount: '31.01' };
/** The sandbox declines to VOID it, and to SETTLE or REFUND 31.01 of it. */
const approvedForMore = (type: CardType): Case =>
  approved(type, { outcome: 'approved for more', fields: { amount: '41.01' } });
const failed = (type: CardType, code: ResponseCode, fields: Fields): Case => ({
  outcome: 'failed',
  shape: 'CardFailed',
  fields,
  answer: withoutToken(type, error(code)),
});
const unknown = (type: CardType): Case => ({
  outcome: 'unknown',
  shape: 'CardFailed',
  answer: answerOf(type, error(RESPONSE_CODES.OUTCOME_UNKNOWN)),
  isLate: true,
});
const RULES = {
  card: [cardTable('SALE'), cardTable('VOID'), CALLBACK_LIST_TABLE, CALLBACK_EVENTS_TABLE, CLOCK_TABLE],
  payout: [PAYOUT_CHECK_TABLE, PAYOUT_QUERY_TABLE, payoutTable(isoBankAddresses)],
  /** The id of a known operation has a rule of its own. */
  check: [cardTable('CHECK')],
};

function ruleOf(field: FieldName, of: keyof typeof RULES = 'card'): FieldRule {
  const rule = RULES[of].flatMap(({ rows }): readonly FieldRow[] => rows).find(({ name }) => name === field);
  if (rule === undefined) throw new Error(`no rule of ${field}`);
  return rule;
}

const refusedFor = (
  field: FieldName,
  session: Session = card,
  shape = 'CardRefused',
  of: keyof typeof RULES = session.family,
): Case => ({
  outcome: 'refused',
  shape,
  fields: { [field]: '' },
  answer: fieldFailure(session, ACCEPTED_AT_MS, [
    problem(RESPONSE_CODES.FIELD_MISSING, field, 'missing', hintOf(ruleOf(field, of))),
  ]).body,
});

const UNKNOWN_TOKEN = '00000000-0000-0000-0000-000000000000';
const NO_CARD = { card_number: '', card_exp_month: '', card_exp_year: '', cvv: '', token: UNKNOWN_TOKEN };
const unknownToken = (type: CardType): Case => ({
  outcome: 'failed',
  shape: 'CardFailed',
  fields: NO_CARD,
  answer: answerOf(type, { ...error(RESPONSE_CODES.TOKEN_NOT_FOUND), token: UNKNOWN_TOKEN }),
});
const UNKNOWN_REFERENCE = { reference: '00000000000000000000' };
const ACS_URL = 'http://127.0.0.1:8081/challenge/9J2kq5tD0aS8hX1vYwLr4g';
const PAREQ = 'eyJ2IjoxLCJpZCI6IjlKMmtxNXREMGFTOGhYMXZZd0xyNGcifQ';
const CHALLENGED = { card_number: TEST_CARDS.challenged.visa };
const FRICTIONLESS = { card_number: TEST_CARDS.frictionless.visa };
const notEnrolled = (type: CardType): Case => ({
  outcome: 'declined',
  shape: 'CardDeclinedWith3ds',
  answer: answerOf(type, { ...decline(RESPONSE_CODES.CARD_WITHOUT_3DS), eci: 6 }),
});
const pending = (type: CardType, more: Partial<OperationOutcome>): Fields =>
  answerOf(type, { status: 'pending', ...coded(RESPONSE_CODES.OUTCOME_UNKNOWN), acsUrl: ACS_URL, ...more });
const after = (operation: string): Example['after'] => ({ operation, outcome: 'approved' });

const opened: Case = {
  outcome: 'opened',
  shape: 'CheckoutOpened',
  answer: checkoutResponse(card, ACCEPTED_AT_MS, {
    transactionUniqueId: SAMPLE_ID,
    url: 'http://127.0.0.1:8080/checkout/2Yh0pQ7cTzq1mKXf8sVw9A',
    expiresAt: ACCEPTED_AT_MS + PAGE_LIFETIME_MS,
  }).body,
};
const CHECKOUT: readonly Case[] = [opened, refusedFor('currency')];

const check = (
  prefix: string,
  session: Session,
  record: object,
  base: Example['after'],
  refusedShape: string,
): Case[] => [
  {
    outcome: 'found',
    shape: `${prefix}Found`,
    after: base,
    answer: checkResponse(session, RESPONSE_CODES.SUCCESS, [record]).body,
  },
  {
    outcome: 'not found',
    shape: `${prefix}NotFound`,
    fields: { transaction_unique_id: 'never-sent-1' },
    answer: checkResponse(session, RESPONSE_CODES.TRANSACTION_NOT_FOUND, []).body,
  },
  refusedFor('transaction_unique_id', session, refusedShape, session.family === 'card' ? 'check' : 'payout'),
];

const PAID = {
  reference: SAMPLE_REFERENCE,
  transactionUniqueId: SAMPLE_ID,
  token: SAMPLE_TOKEN,
  timestamp: ACCEPTED_AT_MS,
  status: 'success' as const,
  ...coded(RESPONSE_CODES.SUCCESS),
};
const listed = payoutQueryRecord(
  {
    ...PAID,
    payoutId: SAMPLE_REFERENCE.slice(0, 16),
    merchantAccount: 'demo_merchant',
    amountE4: SAMPLE_E4,
    feeE4: 0,
    currency: 'XTS',
  },
  'with-fee',
);
const query: readonly Case[] = [
  {
    outcome: 'listed',
    shape: 'PayoutsListed',
    after: { operation: 'Payout', outcome: 'pending' },
    answer: payoutQueryResponse(payoutQuery, ACCEPTED_AT_MS, [listed]).body,
  },
  {
    outcome: 'refused',
    shape: 'PayoutRefused',
    fields: { time_from: 2, time_to: 1 },
    answer: fieldFailure(payoutQuery, ACCEPTED_AT_MS, [
      problem(
        RESPONSE_CODES.QUERY_TIMES_OUT_OF_ORDER,
        'time_to',
        'times-out-of-order',
        'Send a time_to that is not before time_from',
      ),
    ]).body,
  },
];

const account: Session = { ...card, transactionUniqueId: undefined };
const refusedWith = (field: FieldName, value: unknown): Case => ({
  outcome: 'refused',
  shape: 'CardRefused',
  fields: { [field]: value },
  answer: fieldFailure(account, ACCEPTED_AT_MS, [
    problem(RESPONSE_CODES.FIELD_INVALID, field, 'range', hintOf(ruleOf(field))),
  ]).body,
});
const callback = callbackRecord({
  id: 'c7a1e0a4',
  kind: 'card',
  reference: SAMPLE_REFERENCE,
  transactionUniqueId: SAMPLE_ID,
  url: 'https://localhost:8443/callback',
  state: 'delivered',
  createdAt: ACCEPTED_AT_MS,
  endedAt: ACCEPTED_AT_MS,
  attempts: [{ startedAt: ACCEPTED_AT_MS, acknowledged: true, httpStatus: 200, durationMs: 12 }],
});
const feed = {
  events: [
    {
      id: 'c7a1e0a4',
      kind: 'card' as const,
      reference: SAMPLE_REFERENCE,
      transactionUniqueId: SAMPLE_ID,
      at: ACCEPTED_AT_MS,
      cursor: '1',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `reference=${SAMPLE_REFERENCE}&status=success&code=0`,
    },
  ],
  cursor: '1',
};
const CALLBACKS: Readonly<Record<string, readonly Case[]>> = {
  CallbackList: [
    { outcome: 'listed', shape: 'CallbacksListed', answer: callbacksResponse(account, [callback]).body },
    refusedWith('limit', 51),
  ],
  CallbackFeed: [
    { outcome: 'the end', shape: 'CallbackEvents', answer: eventsResponse(account, { events: [], cursor: '1' }).body },
    {
      outcome: 'since the beginning',
      shape: 'CallbackEvents',
      fields: { since: 0, wait: 0 },
      answer: eventsResponse(account, feed).body,
    },
    refusedWith('wait', 26),
  ],
  CallbackResend: [
    {
      outcome: 'resent',
      shape: 'CallbackResent',
      after: { operation: 'Sale3d', outcome: 'authenticated' },
      answer: callbacksResponse(account, [callback]).body,
    },
    {
      outcome: 'not found',
      shape: 'CardRefused',
      answer: notFound(account, ACCEPTED_AT_MS, 'callback_id').body,
    },
  ],
};

const CLOCK: readonly Case[] = [
  {
    outcome: 'told',
    shape: 'SandboxClock',
    answer: clockResponse(account, { known: undefined, at: ACCEPTED_AT_MS }).body,
  },
  {
    outcome: 'moved',
    shape: 'SandboxClock',
    fields: { advance: 60 },
    answer: clockResponse(account, { known: undefined, at: ACCEPTED_AT_MS }).body,
  },
  refusedWith('advance', 0),
];

const LEDGER: readonly Case[] = [
  {
    outcome: 'listed',
    shape: 'SandboxLedger',
    after: after('Sale'),
    answer: ledgerResponse(account, ACCEPTED_AT_MS, [
      {
        at: new Date(ACCEPTED_AT_MS).toISOString(),
        operation: 'sale',
        idempotencyKey: SAMPLE_REFERENCE,
        reference: SAMPLE_REFERENCE,
        amount: 25,
        currency: 'XTS',
        effect: 'sold',
      },
    ]).body,
  },
  {
    outcome: 'not found',
    shape: 'CardRefused',
    fields: UNKNOWN_REFERENCE,
    answer: notFound(account, ACCEPTED_AT_MS, 'reference').body,
  },
];

/** By the title of the operation. */
const CASES: Readonly<Record<string, readonly Case[]>> = {
  Auth: [
    approved('AUTH'),
    approvedForMore('AUTH'),
    declined('AUTH', { fields: FORCED }),
    unknownToken('AUTH'),
    refusedFor('currency'),
  ],
  Auth3d: [
    {
      outcome: 'challenge',
      shape: 'Auth3dStarted',
      fields: CHALLENGED,
      answer: pending('AUTH3D', { pareq: PAREQ }),
    },
    {
      outcome: 'authenticated',
      shape: 'Auth3dAuthenticated',
      fields: FRICTIONLESS,
      answer: answerOf('AUTH3D', { acsUrl: ACS_URL, pareq: PAREQ, eci: 5 }),
    },
    notEnrolled('AUTH3D'),
    unknown('AUTH3D'),
    refusedFor('currency'),
  ],
  Sale: [
    approved('SALE'),
    approvedForMore('SALE'),
    declined('SALE', { fields: FORCED }),
    unknownToken('SALE'),
    refusedFor('currency'),
  ],
  Sale3d: [
    { outcome: 'challenge', shape: 'Sale3dStarted', fields: CHALLENGED, answer: pending('SALE3D', {}) },
    {
      outcome: 'authenticated',
      shape: 'Sale3dStarted',
      fields: FRICTIONLESS,
      answer: pending('SALE3D', { eci: 5 }),
    },
    notEnrolled('SALE3D'),
    unknown('SALE3D'),
    refusedFor('currency'),
  ],
  Settle: [
    approved('SETTLE', { after: after('Auth') }),
    declined('SETTLE', { after: { operation: 'Auth', outcome: 'approved for more' }, fields: FORCED }),
    failed('SETTLE', RESPONSE_CODES.REFERENCE_NOT_FOUND, UNKNOWN_REFERENCE),
    refusedFor('reference'),
  ],
  Void: [
    approved('VOID', { after: after('Auth') }),
    declined('VOID', { after: { operation: 'Auth', outcome: 'approved for more' } }),
    failed('VOID', RESPONSE_CODES.REFERENCE_NOT_FOUND, UNKNOWN_REFERENCE),
    refusedFor('reference'),
  ],
  Refund: [
    approved('REFUND', { after: after('Sale') }),
    declined('REFUND', { after: { operation: 'Sale', outcome: 'approved for more' }, fields: FORCED }),
    failed('REFUND', RESPONSE_CODES.REFERENCE_NOT_FOUND, UNKNOWN_REFERENCE),
    refusedFor('reference'),
  ],
  Check: check(
    'Check',
    { ...card, transactionUniqueId: undefined },
    checkRecord(outcomeOf('AUTH', APPROVED)),
    after('Auth'),
    'CardRefused',
  ),
  ...CALLBACKS,
  Clock: CLOCK,
  Ledger: LEDGER,
  Tokenize: [
    approved('TOKENIZE', { answer: answerOf('TOKENIZE') }),
    declined('TOKENIZE', {
      answer: withoutToken('TOKENIZE', decline(RESPONSE_CODES.VOLUME_LIMIT_EXCEEDED)),
      rare: 'the account has to send 500 other cards of the BIN on that day',
    }),
    unknown('TOKENIZE'),
    refusedFor('card_holder'),
  ],
  CheckoutAuth: CHECKOUT,
  CheckoutSale: CHECKOUT,
  CheckoutSale3d: CHECKOUT,
  CheckoutExpire: [
    {
      outcome: 'closed',
      shape: 'CheckoutClosed',
      after: { operation: 'CheckoutSale', outcome: 'opened' },
      answer: checkoutClosedResponse(card, ACCEPTED_AT_MS, {
        transactionUniqueId: SAMPLE_ID,
        state: 'expired',
      }).body,
    },
    {
      outcome: 'not found',
      shape: 'CardRefused',
      answer: notFound(card, ACCEPTED_AT_MS, 'transaction_unique_id').body,
    },
  ],
  Payout: [
    {
      outcome: 'pending',
      shape: 'PayoutPending',
      answer: payoutResponse(payout, { reference: SAMPLE_REFERENCE, acceptedAt: ACCEPTED_AT_MS, state: 'pending' })
        .body,
    },
    {
      outcome: 'unknown',
      shape: 'PayoutUnknown',
      answer: payoutResponse(payout, { reference: SAMPLE_REFERENCE, acceptedAt: ACCEPTED_AT_MS, state: 'unknown' })
        .body,
      rare: 'the database has to take the payout and lose its answer',
    },
    refusedFor('receiver_iban', payout, 'PayoutRefused'),
  ],
  PayoutCheck: check(
    'PayoutCheck',
    payoutQuery,
    payoutCheckRecord(PAID),
    { operation: 'Payout', outcome: 'pending' },
    'PayoutRefused',
  ),
  PayoutQuery: query,
  PayoutQueryWithoutFees: query,
};

/** The examples of an operation, one for each outcome at least. */
export function examplesOf(operation: Operation): Example[] {
  const cases = CASES[operation.title];
  if (cases === undefined) throw new Error(`the operation ${operation.title} has no examples`);
  return cases.map(({ fields = {}, ...example }) => {
    const sent = Object.entries({ ...sampleRequest(operation), ...fields }).filter(([, value]) => value !== '');
    return { operation: operation.title, request: Object.fromEntries(sent), ...example };
  });
}

/** A form, and the answer to it that acknowledges. */
export const CALLBACK_EXAMPLES = {
  card: {
    token: SAMPLE_TOKEN,
    reference: SAMPLE_REFERENCE,
    transaction_unique_id: SAMPLE_ID,
    status: 'success',
    code: '0',
    message: 'Transaction processed successfully',
    checkSum: '3f0f0b1c6d0b1b34fb9b0a5a1f4d1e86b2b34f0c5b8a4a3d9d8e4f1d2c3b4a59',
  },
  payout: {
    token: SAMPLE_TOKEN,
    reference: SAMPLE_REFERENCE,
    transaction_unique_id: SAMPLE_ID,
    status: 'SUCCESS',
    code: '0',
    message: 'Transaction processed successfully',
    checkSum: '8c1d7be0a9f64d3c2b1a0f9e8d7c6b5a4f3e2d1c0b9a8f7e6d5c4b3a29181706',
  },
} as const;
