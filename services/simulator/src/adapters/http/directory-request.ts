import { MAX_AMOUNT_E4 } from '@gateway/contracts';
import type { AuthenticationRequest } from '../../domain/directory/authentication';
import { MESSAGE_VERSION } from '../../domain/directory/messages';
import { behaviourOfCard } from '../../domain/directory/test-cards';
import { maskedCard } from '../../domain/masked-card';
import { HttpProblem } from './listener';

/** EMV 3-D Secure 2.2, error codes. */
export const ERROR_CODES = {
  messageInvalid: '101',
  versionNotSupported: '102',
  elementMissing: '201',
  elementMalformed: '203',
  dataNotValid: '305',
  systemFailure: '403',
} as const;

/** A message that is answered with an Erro of this code. */
export class MessageProblem extends HttpProblem {
  constructor(
    readonly errorCode: string,
    description: string,
  ) {
    super(400, description);
  }
}

const TEXT = /^[^\p{Cc}]{1,255}$/u;
const HEADER = /^[^\p{Cc}]{1,2048}$/u;
/** Without what a header cannot carry: browsers are sent there. */
const ADDRESS = /^[\x21-\x7e]{1,2048}$/;
const PURCHASE_DECIMALS = 4;

type Check = (value: unknown) => boolean;
const matches =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === 'string' && pattern.test(value);

/** The elements of an AReq that are refused when they are wrong: all that EMVCo requires of a browser's purchase. */
const REQUIRED = {
  threeDSServerTransID: matches(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  threeDSServerURL: isWebAddress,
  notificationURL: isWebAddress,
  deviceChannel: matches(/^02$/),
  messageCategory: matches(/^01$/),
  threeDSRequestorID: matches(TEXT),
  threeDSRequestorName: matches(TEXT),
  threeDSRequestorURL: isWebAddress,
  acctNumber: matches(/^\d{12,19}$/),
  merchantName: matches(TEXT),
  acquirerMerchantID: matches(TEXT),
  purchaseAmount: matches(/^\d{1,48}$/),
  purchaseCurrency: matches(/^\d{3}$/),
  purchaseExponent: matches(/^[0-4]$/),
  purchaseDate: matches(/^\d{14}$/),
  browserAcceptHeader: matches(HEADER),
  browserLanguage: matches(TEXT),
  browserUserAgent: matches(HEADER),
  browserJavascriptEnabled: (value: unknown) => typeof value === 'boolean',
} satisfies Record<string, Check>;

/** Required only where a market's rules or the cardholder do not stand against it. */
const OPTIONAL: Record<string, Check> = {
  cardExpiryDate: matches(/^\d{2}(0[1-9]|1[0-2])$/),
  cardholderName: matches(TEXT),
  email: matches(TEXT),
  browserIP: matches(TEXT),
};

/**
 * Reads an AReq and leaves behind all that the directory server does not keep: card number, expiry, cardholder,
 * browser. Throws a {@link MessageProblem} that names the first element that is wrong, never its value.
 */
export function readAuthenticationRequest(body: unknown): AuthenticationRequest {
  if (!isRecord(body) || body['messageType'] !== 'AReq') {
    throw new MessageProblem(ERROR_CODES.messageInvalid, 'messageType is not AReq');
  }
  if (body['messageVersion'] !== MESSAGE_VERSION) {
    throw new MessageProblem(ERROR_CODES.versionNotSupported, `messageVersion is not ${MESSAGE_VERSION}`);
  }
  checkElements(body);
  const text = (name: keyof typeof REQUIRED): string => body[name] as string;
  return {
    threeDSServerTransID: text('threeDSServerTransID'),
    threeDSServerURL: text('threeDSServerURL'),
    notificationURL: text('notificationURL'),
    card: maskedCard(text('acctNumber')),
    behaviour: behaviourOfCard(text('acctNumber')),
    merchantName: text('merchantName'),
    amountE4: amountOf(text('purchaseAmount'), text('purchaseExponent')),
    purchaseCurrency: text('purchaseCurrency'),
  };
}

function checkElements(body: Record<string, unknown>): void {
  for (const [name, isValid] of Object.entries<Check>(REQUIRED)) {
    if (isAbsent(body[name])) throw new MessageProblem(ERROR_CODES.elementMissing, `${name} is missing`);
    if (!isValid(body[name])) throw malformed(name);
  }
  for (const [name, isValid] of Object.entries(OPTIONAL)) {
    if (!isAbsent(body[name]) && !isValid(body[name])) throw malformed(name);
  }
}

function amountOf(minorUnits: string, exponent: string): number {
  const amountE4 = Number(minorUnits) * 10 ** (PURCHASE_DECIMALS - Number(exponent));
  if (amountE4 > MAX_AMOUNT_E4) throw malformed('purchaseAmount');
  return amountE4;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function malformed(element: string): MessageProblem {
  return new MessageProblem(ERROR_CODES.elementMalformed, `${element} is malformed`);
}

/** Plain http too: the sandbox runs on one machine. */
function isWebAddress(value: unknown): boolean {
  if (typeof value !== 'string' || !ADDRESS.test(value)) return false;
  const url = URL.parse(value);
  return url !== null && ['http:', 'https:'].includes(url.protocol) && url.username === '' && url.password === '';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
