import { TEST_CURRENCY } from './currencies';
import type { OutcomeUnknownCode } from './response-codes';
import { cardStatusOfCode, messageOfCode, RESPONSE_CODES, responseCodes } from './response-codes';
import { TEST_CARDS } from './test-cards';

/** A bank that misbehaves on purpose, in what it commits as well as in what it answers. */
interface Misbehaving {
  /** The amount in cents that forces it: a code's number, but 3133 is no code. */
  readonly trigger: number;
  readonly name: string;
  readonly bank: string;
  /** Code of the first answer. */
  readonly firstCode: OutcomeUnknownCode;
  /** What the gateway finds out afterwards. */
  readonly end: string;
}

/** By how the bank misbehaves. The simulator does what is said here. */
export const MISBEHAVIOURS = {
  'commits-and-never-answers': {
    trigger: RESPONSE_CODES.BANK_TIMEOUT,
    name: 'bank-timeout',
    bank: 'commits, and never answers',
    firstCode: RESPONSE_CODES.BANK_TIMEOUT,
    end: 'success, code 0',
  },
  'commits-and-answers-garbage': {
    trigger: RESPONSE_CODES.BANK_RESPONSE_MALFORMED,
    name: 'bank-garbage',
    bank: 'commits, and answers garbage',
    firstCode: RESPONSE_CODES.BANK_RESPONSE_MALFORMED,
    end: 'success, code 0',
  },
  'drops-connection-before-commit': {
    trigger: RESPONSE_CODES.BANK_CONNECTION_ERROR,
    name: 'bank-connection-dropped',
    bank: 'drops the connection before it commits',
    firstCode: RESPONSE_CODES.BANK_CONNECTION_ERROR,
    end: 'error 3118, final',
  },
  'commits-and-says-unknown': {
    trigger: RESPONSE_CODES.BANK_STATUS_UNKNOWN,
    name: 'bank-unsure',
    bank: 'commits, and answers "unknown" to the first two inquiries',
    firstCode: RESPONSE_CODES.BANK_STATUS_UNKNOWN,
    end: 'success, code 0',
  },
  'fails-before-commit': {
    trigger: RESPONSE_CODES.BANK_INTERNAL_ERROR,
    name: 'bank-broken',
    bank: 'answers HTTP 500, and commits nothing',
    firstCode: RESPONSE_CODES.BANK_INTERNAL_ERROR,
    end: 'error 3125, final',
  },
  'commits-after-first-inquiry': {
    trigger: 3_133,
    name: 'bank-late',
    bank: 'commits only after the first inquiry was answered "not found"',
    firstCode: RESPONSE_CODES.BANK_TIMEOUT,
    end: 'success, or error after a confirmed cancellation, never both',
  },
} as const satisfies Record<string, Misbehaving>;

export type Misbehaviour = keyof typeof MISBEHAVIOURS;
export const misbehaviours = Object.keys(MISBEHAVIOURS) as Misbehaviour[];

/** Registered codes in this range are forced by an amount in XTS; payouts add those up to `lastOfPayouts`. */
export const FORCED_CODES = {
  first: RESPONSE_CODES.DECLINED_BY_NETWORK,
  lastOfCards: RESPONSE_CODES.TRUST_LIST_REVIEW,
  lastOfPayouts: RESPONSE_CODES.CARD_NOT_REGISTERED,
} as const;

/** A code is the amount times 100. */
export const E4_PER_CODE = 100;
/** An authorization of a code's amount plus 10.00 is approved, and its void then behaves like that code. */
export const VOID_OFFSET_E4 = 100_000;

/** Something that the sandbox does on request, for documents and for whoever tests an integration. */
export interface Scenario {
  /** Stable. */
  readonly name: string;
  /** Fields of the request that choose it, beside the currency XTS. */
  readonly fields: Readonly<Record<string, string>>;
  /** The operations that it concerns. */
  readonly operations: string;
  readonly outcome: string;
}

const MONEY_OPERATIONS = 'AUTH, SALE, SALE3D, SETTLE, REFUND, payout';

const PHONE_WITHOUT_PLUS: Scenario = {
  name: 'phone-without-plus',
  fields: { user_phone: '4915112345678' },
  operations: 'AUTH, SALE, AUTH3D, SALE3D',
  outcome: `decline 3140: ${messageOfCode(RESPONSE_CODES.GENERAL_BANK_DECLINE)}, at once, without 3-D Secure and callback`,
};

/** Every scenario of the sandbox: test cards, then amounts. */
export function scenarios(): readonly Scenario[] {
  const forced = forcedCodes();
  const ofCards = forced.filter(({ trigger }) => trigger <= FORCED_CODES.lastOfCards);
  const amountOf = (trigger: number): string => (trigger / 100).toFixed(2);
  return [
    ...cardScenarios(),
    PHONE_WITHOUT_PLUS,
    ...forced.map(({ name, trigger, outcome }) => ({
      name,
      fields: { amount: amountOf(trigger) },
      operations: trigger <= FORCED_CODES.lastOfCards ? MONEY_OPERATIONS : 'payout',
      outcome,
    })),
    ...ofCards.map(({ name, trigger, outcome }) => ({
      name: `void-${name}`,
      fields: { amount: amountOf(trigger + VOID_OFFSET_E4 / E4_PER_CODE) },
      operations: 'AUTH',
      outcome: `the AUTH succeeds; its VOID: ${outcome}`,
    })),
  ];
}

/** The fields of a request in this scenario; undefined if there is none of that name. */
export function fieldsOfScenario(name: string): Readonly<Record<string, string>> | undefined {
  const found = scenarios().find((scenario) => scenario.name === name);
  return found && { ...found.fields, currency: TEST_CURRENCY };
}

function cardScenarios(): Scenario[] {
  return Object.entries(TEST_CARDS).flatMap(([name, { visa, mastercard, threeDS }]) => {
    const rest = { operations: 'SALE3D, AUTH3D', outcome: threeDS };
    const card = `card-${kebab(name)}`;
    return [
      { name: card, fields: { card_number: visa }, ...rest },
      { name: `${card}-mastercard`, fields: { card_number: mastercard }, ...rest },
    ];
  });
}

interface Forced {
  name: string;
  trigger: number;
  outcome: string;
}

/** In the order of the amounts. */
function forcedCodes(): Forced[] {
  const behaviours = misbehaviours.map((how): Forced => {
    const { name, trigger, bank, firstCode, end } = MISBEHAVIOURS[how];
    return { name, trigger, outcome: `the bank ${bank}: error ${firstCode} first; then ${end}` };
  });
  const triggers = new Set(behaviours.map(({ trigger }) => trigger));
  const codes = responseCodes
    .filter(({ code }) => code >= FORCED_CODES.first && code <= FORCED_CODES.lastOfPayouts && !triggers.has(code))
    .map(({ name, code, message }): Forced => {
      const status = cardStatusOfCode(code);
      return { name: kebab(name), trigger: code, outcome: `${status} ${code}: ${message}` };
    });
  return [...behaviours, ...codes].sort((one, other) => one.trigger - other.trigger);
}

/** `INSUFFICIENT_FUNDS` and `notEnrolled` as `insufficient-funds` and `not-enrolled`. */
function kebab(name: string): string {
  return name
    .replaceAll(/([a-z])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();
}
