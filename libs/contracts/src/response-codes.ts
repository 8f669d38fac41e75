/** What a merchant's system does after a code, in words for developers. */
export const ADVICE = {
  none: 'Nothing to do.',
  retry: 'Nothing was done. Send it again later, under a new id if this one has an outcome.',
  'other-card': 'Do not send this card again. Ask the cardholder to check its details or to use another card.',
  authenticate: 'Send the payment again as SALE3D: the issuer wants to authenticate the cardholder.',
  check: 'Ask with CHECK what happened. Do not send it again under another id.',
  'fix-request': 'The request is wrong and will fail every time: correct it.',
  'contact-support': 'Something at the gateway or the bank must change first: contact support.',
} as const;
export type Advice = keyof typeof ADVICE;

/**
 * Texts that may be shown to a cardholder who is paying. None says that a card is reported stolen, or that a rule against
 * fraud has stopped it.
 */
export const CARDHOLDER_TEXTS = {
  approved: 'Your payment was approved.',
  declined: 'Your payment was declined. Please use another card.',
  funds: 'There is not enough money on this card. Please use another card.',
  details: 'Please check the card number, the expiry date and the security code.',
  authentication: 'Your bank could not confirm that it was you. Please try again or use another card.',
  cancelled: 'You cancelled the payment.',
  expired: 'The payment was not finished in time. Please try again.',
  later: 'Your payment could not be processed just now. Please try again later.',
  failed: 'Your payment could not be processed. Please contact the shop.',
  unknown: 'We do not know yet whether your payment went through. Please do not pay again.',
} as const;
export type CardholderText = keyof typeof CARDHOLDER_TEXTS;

const TEXT_OF_ADVICE = {
  none: 'approved',
  retry: 'later',
  'other-card': 'declined',
  authenticate: 'authentication',
  check: 'unknown',
  'fix-request': 'failed',
  'contact-support': 'failed',
} as const satisfies Record<Advice, CardholderText>;

interface ClassRule {
  /** How a card operation ends with a code of the class. */
  readonly cardStatus: 'success' | 'decline' | 'error';
  readonly advice: Advice;
}

const CLASSES = {
  success: { cardStatus: 'success', advice: 'none' },
  service: { cardStatus: 'error', advice: 'contact-support' },
  request: { cardStatus: 'error', advice: 'fix-request' },
  account: { cardStatus: 'error', advice: 'contact-support' },
  processing: { cardStatus: 'error', advice: 'fix-request' },
  'bank-decline': { cardStatus: 'decline', advice: 'other-card' },
  antifraud: { cardStatus: 'decline', advice: 'other-card' },
  payout: { cardStatus: 'error', advice: 'contact-support' },
  qod: { cardStatus: 'error', advice: 'fix-request' },
} as const satisfies Record<string, ClassRule>;

export type CodeClass = keyof typeof CLASSES;
export type CardStatus = (typeof CLASSES)[CodeClass]['cardStatus'];

interface Registered {
  readonly code: number;
  readonly class: CodeClass;
  /** What merchants read. `[field]` stands for a field of the request. */
  readonly message: string;
  /** The operation may or may not have happened: never a decline. */
  readonly outcomeUnknown?: true;
  /** Overrides the status of the class. */
  readonly cardStatus?: CardStatus;
  /** Overrides the advice of the class. An unknown outcome is always checked. */
  readonly advice?: Advice;
  /** Overrides the text of the advice. `null`: never for cardholders, because nobody is paying. */
  readonly cardholder?: CardholderText | null;
  /** Our addition to the public registry of this family of gateways. */
  readonly extension?: true;
}

/** The registry of response codes. Numbers and messages are part of the merchants' contract and never change. */
const REGISTRY = {
  SUCCESS: { code: 0, class: 'success', message: 'Transaction processed successfully' },
  INTERNAL_ERROR: { code: 1, class: 'service', message: 'General internal service error', outcomeUnknown: true },
  DATABASE_ERROR: { code: 2, class: 'service', message: 'Internal DB error', outcomeUnknown: true },
  SERVICE_ERROR: { code: 3, class: 'service', message: 'General service error', outcomeUnknown: true },
  ACCESS_DENIED: { code: 4, class: 'service', message: 'Access denied' },
  SERVICE_UNAVAILABLE: {
    code: 10,
    class: 'service',
    message: 'General internal service communication error',
    outcomeUnknown: true,
  },
  OUTCOME_UNKNOWN: { code: 11, class: 'service', message: 'Internal timeout', outcomeUnknown: true },
  SSL_ERROR: { code: 12, class: 'service', message: 'Internal SSL error', outcomeUnknown: true },
  GATE_ERROR: { code: 1000, class: 'request', message: 'Merchant gate error' },
  FORMAT_ERROR: { code: 1001, class: 'request', message: 'Request format error' },
  FIELD_MISSING: { code: 1002, class: 'request', message: '[field] not present in request' },
  COMMUNICATION_ERROR: { code: 1003, class: 'request', message: 'Internal communication error', outcomeUnknown: true },
  FIELD_INVALID: { code: 1004, class: 'request', message: 'Invalid [field] in request message' },
  API_VERSION_UNSUPPORTED: { code: 1005, class: 'request', message: 'Unsupported API version' },
  FIELD_FORBIDDEN: { code: 1006, class: 'request', message: '[field] should not be present in request' },
  TOO_MANY_REQUESTS: { code: 1007, class: 'request', message: 'Too many requests', extension: true, advice: 'retry' },
  ACCOUNT_ERROR: { code: 2000, class: 'account', message: 'General MMS error' },
  WRONG_CREDENTIALS: {
    code: 2001,
    class: 'account',
    message: 'Incorrect value in merchant account or pass field',
    advice: 'fix-request',
  },
  COUNTRY_NOT_AVAILABLE: { code: 2002, class: 'account', message: 'Country is not available' },
  ACCOUNT_NOT_ACTIVE: { code: 2003, class: 'account', message: 'Merchant account exists but not active' },
  TRANSACTION_TYPE_NOT_ALLOWED: { code: 2004, class: 'account', message: 'Transaction is not allowed to account' },
  MID_NOT_ACTIVE: { code: 2005, class: 'account', message: 'MID is not active' },
  NO_MID_FOR_CURRENCY: { code: 2006, class: 'account', message: 'There is no currency configured for account' },
  AMOUNT_OUT_OF_LIMITS: {
    code: 2007,
    class: 'account',
    message: 'Amount is below or above amount restrictions',
    advice: 'fix-request',
  },
  IP_ADDRESS_NOT_ALLOWED: { code: 2008, class: 'account', message: 'Access from this IP-address is not available' },
  ACCOUNT_NOT_ACTIVATED: { code: 2009, class: 'account', message: 'Merchant is not activated' },
  GATE_NOT_ACTIVE: { code: 2010, class: 'account', message: 'Gate is not active' },
  ENTITY_EXISTS: { code: 2011, class: 'account', message: 'Entity already exists' },
  ENTITY_NOT_FOUND: { code: 2012, class: 'account', message: 'Entity not found' },
  WRONG_API_CREDENTIALS: { code: 2013, class: 'account', message: 'Bad API credentials', advice: 'fix-request' },
  PROCESSING_ERROR: { code: 3000, class: 'processing', message: 'General processing error', advice: 'contact-support' },
  UNIQUE_ID_USED: {
    code: 3001,
    class: 'processing',
    message: 'Transaction ID/Order ID is already used',
    advice: 'check',
  },
  TOKEN_NOT_FOUND: { code: 3002, class: 'processing', message: 'Token not found or invalid' },
  REFERENCE_NOT_FOUND: {
    code: 3003,
    class: 'processing',
    message: 'Reference not found or invalid',
    advice: 'check',
    cardholder: null,
  },
  NOT_VOIDABLE: {
    code: 3004,
    class: 'processing',
    message: 'It is not possible to void the provided reference',
    advice: 'check',
    cardholder: null,
  },
  NOT_REFUNDABLE: {
    code: 3005,
    class: 'processing',
    message: 'It is not possible to refund the provided reference',
    advice: 'check',
    cardholder: null,
  },
  CHARGED_BACK: {
    code: 3006,
    class: 'processing',
    message: 'Transaction is chargebacked',
    advice: 'contact-support',
    cardholder: null,
  },
  INTERVAL_EXCEEDED: {
    code: 3007,
    class: 'processing',
    message: 'Illegal interval between AUTH and SETTLE/VOID, between AUTH3D and SETTLE/SALE',
    cardholder: 'expired',
  },
  ALREADY_VOIDED: {
    code: 3008,
    class: 'processing',
    message: 'Transaction was already voided',
    advice: 'check',
    cardholder: null,
  },
  ALREADY_REFUNDED: {
    code: 3009,
    class: 'processing',
    message: 'Transaction was already refunded',
    advice: 'check',
    cardholder: null,
  },
  ALREADY_SETTLED: {
    code: 3010,
    class: 'processing',
    message: 'Transaction was already settled',
    advice: 'check',
    cardholder: null,
  },
  MID_WITHOUT_CARD_TYPE: {
    code: 3011,
    class: 'processing',
    message: "MID doesn't support the card type",
    advice: 'other-card',
  },
  ACCOUNT_WITHOUT_3DS: {
    code: 3012,
    class: 'processing',
    message: "Account doesn't support 3D secure",
    advice: 'contact-support',
  },
  ACCOUNT_REQUIRES_3DS: {
    code: 3013,
    class: 'processing',
    message: 'Account support only 3D secure transaction',
    advice: 'authenticate',
    cardholder: 'failed',
  },
  TRANSACTION_NOT_FOUND: {
    code: 3014,
    class: 'processing',
    message: 'There was no transaction found on your Check request',
    advice: 'retry',
    cardholder: null,
  },
  MID_WITHOUT_CURRENCY: {
    code: 3015,
    class: 'processing',
    message: "Bank MID doesn't support the currency",
    advice: 'contact-support',
  },
  SETTLE_AMOUNT_INCORRECT: {
    code: 3016,
    class: 'processing',
    message: 'Amount in settle transaction is incorrect',
    cardholder: null,
  },
  MID_CREDENTIALS_INCORRECT: {
    code: 3017,
    class: 'processing',
    message: 'Bank MID access credentials are incorrect',
    advice: 'contact-support',
  },
  BANK_REFUSED_CONNECTION: { code: 3018, class: 'processing', message: 'Bank refused the connection', advice: 'retry' },
  REQUEST_NOT_VALIDATED: { code: 3019, class: 'processing', message: 'Request cannot be validated' },
  CHARGEBACK_INVALID: {
    code: 3020,
    class: 'processing',
    message: 'Chargeback is invalid',
    advice: 'contact-support',
    cardholder: null,
  },
  BLOCKED_BY_ROUTING: {
    code: 3021,
    class: 'processing',
    message: 'Transaction is blocked by routing',
    advice: 'contact-support',
  },
  AMOUNT_INCORRECT: { code: 3022, class: 'processing', message: 'The amount is incorrect' },
  // decisions.md, section 4: the cardholder declines, as a bank would.
  CANCELLED_BY_CARDHOLDER: {
    code: 3023,
    class: 'processing',
    message: 'Transaction is aborted by the customer',
    cardStatus: 'decline',
    advice: 'retry',
    cardholder: 'cancelled',
  },
  TRANSACTION_EXPIRED: {
    code: 3024,
    class: 'processing',
    message: 'Transaction is expired',
    advice: 'retry',
    cardholder: 'expired',
  },
  TRANSACTION_COMPLETED: { code: 3025, class: 'processing', message: 'Transaction is completed', advice: 'check' },
  DECLINED_BY_NETWORK: { code: 3100, class: 'bank-decline', message: 'Transaction declined by bank network' },
  INSUFFICIENT_FUNDS: { code: 3101, class: 'bank-decline', message: 'Insufficient funds', cardholder: 'funds' },
  CARD_LOST_OR_STOLEN: { code: 3102, class: 'bank-decline', message: 'Card lost or stolen' },
  AUTHENTICATION_FAILED: {
    code: 3103,
    class: 'bank-decline',
    message: '3d secure authentication failed',
    cardholder: 'authentication',
  },
  CVV_INVALID: { code: 3104, class: 'bank-decline', message: 'Invalid CVV', cardholder: 'details' },
  CARD_EXPIRED: {
    code: 3105,
    class: 'bank-decline',
    message: 'Card expired due to expiry date or expiry date is not correct',
    cardholder: 'details',
  },
  BANK_AMOUNT_NOT_POSSIBLE: { code: 3106, class: 'bank-decline', message: 'Bank cannot process selected amount' },
  CARD_NUMBER_INVALID: { code: 3107, class: 'bank-decline', message: 'Invalid card number', cardholder: 'details' },
  BANK_REFUND_LIMIT: {
    code: 3108,
    class: 'bank-decline',
    message: 'It is not possible to issue refund due to bank limit',
    advice: 'contact-support',
    cardholder: null,
  },
  BANK_TIMEOUT: { code: 3109, class: 'bank-decline', message: 'Timeout between PSP and bank', outcomeUnknown: true },
  BANK_DATA_MISSING: {
    code: 3110,
    class: 'bank-decline',
    message: 'Not all required data was provided to the specific bank',
    advice: 'fix-request',
  },
  BANK_ACCESS_ERROR: {
    code: 3111,
    class: 'bank-decline',
    message: 'Access error to a bank acquirer',
    advice: 'contact-support',
  },
  BANK_CARD_TYPE_UNSUPPORTED: { code: 3112, class: 'bank-decline', message: 'Card type is not supported by MID' },
  BANK_TRANSACTION_TYPE_UNSUPPORTED: {
    code: 3113,
    class: 'bank-decline',
    message: 'Transaction type is not supported by MID',
    advice: 'contact-support',
  },
  BANK_CURRENCY_UNSUPPORTED: {
    code: 3114,
    class: 'bank-decline',
    message: 'Currency is not supported by MID',
    advice: 'contact-support',
  },
  BANK_REFUND_NOT_POSSIBLE: {
    code: 3115,
    class: 'bank-decline',
    message: 'Refund not possible by bank',
    advice: 'contact-support',
    cardholder: null,
  },
  BANK_COUNTRY_UNSUPPORTED: { code: 3116, class: 'bank-decline', message: 'Country is not supported by MID' },
  BANK_RESPONSE_MALFORMED: {
    code: 3117,
    class: 'bank-decline',
    message: 'Malformed bank response',
    outcomeUnknown: true,
  },
  BANK_CONNECTION_ERROR: {
    code: 3118,
    class: 'bank-decline',
    message: 'Connection error between PSP and bank',
    outcomeUnknown: true,
  },
  CARD_RESTRICTED: { code: 3119, class: 'bank-decline', message: 'Referral or restricted card' },
  BANK_RISK_DECLINE: { code: 3120, class: 'bank-decline', message: 'Risk Bank Decline' },
  ACQUIRER_TOKEN_INVALID: {
    code: 3121,
    class: 'bank-decline',
    message: 'Invalid acquirer token',
    advice: 'contact-support',
  },
  ACQUIRER_REFERENCE_INVALID: {
    code: 3122,
    class: 'bank-decline',
    message: 'Invalid acquirer reference',
    advice: 'contact-support',
  },
  CARD_WITHOUT_3DS: { code: 3123, class: 'bank-decline', message: 'Card 3D secure is not enabled' },
  BANK_STATUS_UNKNOWN: {
    code: 3124,
    class: 'bank-decline',
    message: 'Unknown acquirer processing status',
    outcomeUnknown: true,
  },
  BANK_INTERNAL_ERROR: { code: 3125, class: 'bank-decline', message: 'Acquirer internal error', outcomeUnknown: true },
  WITHDRAWAL_FREQUENCY_EXCEEDED: { code: 3126, class: 'bank-decline', message: 'Withdrawal frequency limit exceeded' },
  BANK_NEGATIVE_LIST: { code: 3127, class: 'bank-decline', message: 'Bank negative list' },
  BANK_FRAUD_DECLINE: { code: 3128, class: 'bank-decline', message: 'Fraud bank decline' },
  AUTHORIZATION_DECLINED: { code: 3129, class: 'bank-decline', message: 'Authorization declined' },
  AUTHORIZATION_REVOKED: { code: 3130, class: 'bank-decline', message: 'Revocation of authorization order' },
  REPEATS_NOT_ALLOWED: { code: 3131, class: 'bank-decline', message: 'Repeats not allowed by operator' },
  RECURRING_STOPPED: { code: 3132, class: 'bank-decline', message: 'Recurring is stopped by the customer' },
  EXPIRED_AT_BANK: {
    code: 3134,
    class: 'bank-decline',
    message: 'Transaction is expired (by bank)',
    advice: 'retry',
    cardholder: 'expired',
  },
  ISSUER_VERIFICATION_REQUIRED: {
    code: 3135,
    class: 'bank-decline',
    message: 'Verification required by issuer',
    advice: 'authenticate',
  },
  GENERAL_BANK_DECLINE: { code: 3140, class: 'bank-decline', message: 'General bank decline' },
  INVALID_TRANSACTION: { code: 3150, class: 'bank-decline', message: 'Invalid transaction' },
  TRANSACTION_NOT_PERMITTED: { code: 3157, class: 'bank-decline', message: 'Transaction not permitted' },
  BANK_ACCOUNT_INVALID: { code: 3170, class: 'bank-decline', message: 'Invalid or closed account' },
  ANTIFRAUD_DECLINE: { code: 3200, class: 'antifraud', message: 'Declined by anti-fraud system' },
  ANTIFRAUD_REVIEW: {
    code: 3201,
    class: 'antifraud',
    message: 'Sent for manual review by anti-fraud system',
    advice: 'contact-support',
  },
  VOLUME_LIMIT_EXCEEDED: { code: 3202, class: 'antifraud', message: 'Volume limit exceeded', advice: 'retry' },
  REFUND_LIMIT_EXCEEDED: {
    code: 3203,
    class: 'antifraud',
    message: 'Refund limit exceeded',
    advice: 'contact-support',
    cardholder: null,
  },
  TRUST_LIST_DECLINE: { code: 3220, class: 'antifraud', message: 'Declined by anti-fraud trust lists' },
  TRUST_LIST_REVIEW: {
    code: 3221,
    class: 'antifraud',
    message: 'Sent for manual review by anti-fraud trust lists',
    advice: 'contact-support',
  },
  PAYOUT_ERROR: { code: 3300, class: 'payout', message: 'General payout error', cardholder: null },
  PAYOUT_INVALID: {
    code: 3310,
    class: 'payout',
    message: 'Payout validation error',
    advice: 'fix-request',
    cardholder: null,
  },
  MID_REFERENCE_INVALID: {
    code: 3311,
    class: 'payout',
    message: 'Invalid mid reference',
    advice: 'fix-request',
    cardholder: null,
  },
  CARD_NOT_REGISTERED: {
    code: 3330,
    class: 'payout',
    message: 'Unregistered card',
    advice: 'fix-request',
    cardholder: null,
  },
  QUERY_ERROR: { code: 5000, class: 'qod', message: 'General QoD error', advice: 'retry', cardholder: null },
  QUERY_VERSION_UNSUPPORTED: { code: 5001, class: 'qod', message: 'Unsupported QoD API version', cardholder: null },
  QUERY_TIMES_OUT_OF_ORDER: { code: 5002, class: 'qod', message: 'Invalid time fields order', cardholder: null },
} as const satisfies Record<string, Registered>;

export type ResponseCodeName = keyof typeof REGISTRY;
type Entry = (typeof REGISTRY)[ResponseCodeName];

/** A registered code. */
export type ResponseCode = Entry['code'];
/** A code that leaves the outcome open. */
export type OutcomeUnknownCode = Extract<Entry, { outcomeUnknown: true }>['code'];

/** The codes by name: rules name a code and never write its number. */
export const RESPONSE_CODES = Object.fromEntries(Object.entries(REGISTRY).map(([name, { code }]) => [name, code])) as {
  readonly [Name in ResponseCodeName]: (typeof REGISTRY)[Name]['code'];
};

/** All codes in their order, for documents. */
export const responseCodes: readonly (Registered & { readonly name: ResponseCodeName; readonly code: ResponseCode })[] =
  (Object.keys(REGISTRY) as ResponseCodeName[]).map((name) => ({ name, ...REGISTRY[name] }));

const byCode = new Map<number, Registered>(responseCodes.map((entry) => [entry.code, entry]));

/** For a number that may be a code, such as an amount of the sandbox. */
export function isRegisteredCode(code: number): code is ResponseCode {
  return byCode.has(code);
}

/** The codes of a class that end an operation for good. */
export type FinalCode<Class extends CodeClass> = FinalCodes[Class];
type FinalCodes = {
  [Class in CodeClass]: Exclude<Extract<Entry, { class: Class }>, { outcomeUnknown: true }>['code'];
};

/**
 * The code with which a bank has refused, as it wrote it. Undefined for anything but a final code of these classes: a
 * refusal must neither read as a success, nor leave open what has ended.
 */
export function finalCodeOf<Class extends CodeClass>(
  written: string | undefined,
  ...classes: readonly Class[]
): FinalCode<Class> | undefined {
  const entry = written === undefined || !/^[1-9][0-9]{0,3}$/.test(written) ? undefined : byCode.get(Number(written));
  if (entry === undefined || entry.outcomeUnknown === true) return undefined;
  return classes.some((one) => one === entry.class) ? (entry.code as FinalCode<Class>) : undefined;
}

function entryOf(code: ResponseCode): Registered {
  const entry = byCode.get(code);
  if (entry === undefined) throw new Error(`response code ${code} is not registered`);
  return entry;
}

export function messageOfCode(code: ResponseCode): string {
  return entryOf(code).message;
}

/** How outcomes and answers hold a code. */
export function coded<Code extends ResponseCode>(code: Code): { code: Code; message: string } {
  return { code, message: messageOfCode(code) };
}

export function classOfCode(code: ResponseCode): CodeClass {
  return entryOf(code).class;
}

/** How an answer counts in metrics: by its code's class, except that an open outcome is a class of its own. */
export function resultClassOf(code: ResponseCode): CodeClass | 'unknown' {
  const { class: codeClass, outcomeUnknown } = entryOf(code);
  return outcomeUnknown === true ? 'unknown' : codeClass;
}

/** The registered message with its `[field]` filled in, e.g. `card_number not present in request`. */
export function messageForField(code: ResponseCode, field: string): string {
  return messageOfCode(code).replace('[field]', () => field);
}

/** Status of a card operation that ended with this code. */
export function cardStatusOfCode(code: ResponseCode): CardStatus {
  const { class: codeClass, cardStatus, outcomeUnknown } = entryOf(code);
  return outcomeUnknown === true ? 'error' : (cardStatus ?? CLASSES[codeClass].cardStatus);
}

/** What a merchant does after this code. */
export function adviceOfCode(code: ResponseCode): Advice {
  const { class: codeClass, advice, outcomeUnknown } = entryOf(code);
  return outcomeUnknown === true ? 'check' : (advice ?? CLASSES[codeClass].advice);
}

/** What the cardholder may read after this code; undefined if it is not for cardholders. */
export function cardholderTextOfCode(code: ResponseCode): string | undefined {
  const { cardholder = TEXT_OF_ADVICE[adviceOfCode(code)] } = entryOf(code);
  return cardholder === null ? undefined : CARDHOLDER_TEXTS[cardholder];
}
