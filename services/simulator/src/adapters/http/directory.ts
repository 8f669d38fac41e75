import { createHmac } from 'node:crypto';
import type { Secret } from '@gateway/contracts';
import { behaviourOfCard, currencyOfNumber, MAX_AMOUNT_E4, numericCurrency, TEST_CURRENCY } from '@gateway/contracts';
import type { Logger } from '@gateway/service-kit';
import { createHttpClient, messageOf } from '@gateway/service-kit';
import type { DirectoryPorts } from '../../application/authentication';
import { authenticate } from '../../application/authentication';
import type { AttemptEnd, AuthenticationRequest, ResultRequest } from '../../domain/authentication';
import { authenticationResponse, MESSAGE_VERSION, RESULT_TIMEOUT_MS } from '../../domain/authentication';
import { maskedCard } from '../../domain/masked-card';
import type { Takes } from './keyed';
import { isRecord } from './keyed';
import type { HttpAnswer, HttpRequest, Route } from './listener';
import { HttpProblem, json } from './listener';

/** Counts every authentication: a transStatus, `unavailable` or `error`. */
export type OnAuthentication = (labels: { answer: string }) => void;

/** EMV 3-D Secure 2.2, error codes. */
const ERROR_CODES = {
  messageInvalid: '101',
  versionNotSupported: '102',
  elementMissing: '201',
  elementMalformed: '203',
  dataNotValid: '305',
  systemFailure: '403',
} as const;

/** Answered with an Erro of this code. */
class MessageProblem extends HttpProblem {
  constructor(
    readonly errorCode: string,
    description: string,
  ) {
    super(400, description);
  }
}

export interface DirectoryApi {
  ports: DirectoryPorts;
  /** Where challenges are. */
  acsURL: () => string;
  /** Purchases in other currencies are refused. */
  takes: Takes;
  onAuthentication: OnAuthentication;
}

/** The directory server's API: AReq in, ARes or Erro out (EMV 3-D Secure 2.2). */
export function directoryRoutes(api: DirectoryApi): Route[] {
  return [
    {
      method: 'POST',
      path: '/ds/v2/authenticate',
      callers: ['threeds', 'operator'],
      handle: (request) => answer(api, request),
      refusal: (problem) => {
        api.onAuthentication({ answer: 'error' });
        return json(problem.status, errorMessage(problem));
      },
    },
  ];
}

async function answer(api: DirectoryApi, request: HttpRequest): Promise<HttpAnswer> {
  const { ports, acsURL, takes, onAuthentication } = api;
  const asked = readAuthenticationRequest(await request.json());
  // The simulator's page authenticates nobody.
  const currency = currencyOfNumber(asked.purchaseCurrency);
  if (currency === undefined) {
    throw new MessageProblem(ERROR_CODES.dataNotValid, 'purchaseCurrency is not the number of a currency');
  }
  if (!takes(currency)) {
    throw new MessageProblem(ERROR_CODES.dataNotValid, `purchaseCurrency is not ${numericCurrency(TEST_CURRENCY)}`);
  }
  const authentication = await authenticate(ports, asked);
  if (authentication === 'other-request') {
    throw new MessageProblem(ERROR_CODES.dataNotValid, 'threeDSServerTransID came before with other data');
  }
  if (authentication === 'unavailable') {
    onAuthentication({ answer: 'unavailable' });
    return json(503, { error: 'directory unavailable' });
  }
  const response = authenticationResponse(authentication, acsURL());
  onAuthentication({ answer: response.transStatus });
  return json(200, response);
}

function errorMessage(problem: HttpProblem) {
  return {
    messageType: 'Erro',
    messageVersion: MESSAGE_VERSION,
    errorCode: errorCodeOf(problem),
    errorComponent: 'D',
    errorDescription: problem.message,
  };
}

function errorCodeOf(problem: HttpProblem): string {
  if (problem instanceof MessageProblem) return problem.errorCode;
  return problem.status >= 500 ? ERROR_CODES.systemFailure : ERROR_CODES.messageInvalid;
}

const TEXT = /^[^\p{Cc}]{1,255}$/u;
const HEADER = /^[^\p{Cc}]{1,2048}$/u;
/** Browsers are redirected there, so it must fit in a header. */
const ADDRESS = /^[\x21-\x7e]{1,2048}$/;
const PURCHASE_DECIMALS = 4;

type Check = (value: unknown) => boolean;
const matches =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === 'string' && pattern.test(value);

/** The elements that EMVCo requires of a browser purchase. */
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

/** EMVCo waives these where a market's rules or the cardholder forbid them. */
const OPTIONAL: Record<string, Check> = {
  cardExpiryDate: matches(/^\d{2}(0[1-9]|1[0-2])$/),
  cardholderName: matches(TEXT),
  email: matches(TEXT),
  browserIP: matches(TEXT),
};

/**
 * Reads an AReq and drops what the directory server does not keep: card number, expiry, cardholder, browser. Throws a
 * {@link MessageProblem} that names the first invalid element, never its value.
 */
function readAuthenticationRequest(body: unknown): AuthenticationRequest {
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

/** Allows plain http: the sandbox runs on one machine. */
function isWebAddress(value: unknown): boolean {
  if (typeof value !== 'string' || !ADDRESS.test(value)) return false;
  const url = URL.parse(value);
  return url !== null && ['http:', 'https:'].includes(url.protocol) && url.username === '' && url.password === '';
}

/** Counts every attempt to send a result. */
export type OnResult = (labels: { end: AttemptEnd }) => void;

/** Sends results to 3DS servers. The signature over the bytes replaces the mutual TLS of a real directory server. */
export function createResultSender(options: {
  key: Secret<Buffer>;
  logger: Logger;
  onResult: OnResult;
}): DirectoryPorts['sendResult'] {
  const http = createHttpClient({ baseUrl: '', timeoutMs: RESULT_TIMEOUT_MS });

  async function send(url: string, message: ResultRequest): Promise<{ end: AttemptEnd; reason: string }> {
    const body = Buffer.from(JSON.stringify(message));
    const signature = createHmac('sha256', options.key.expose()).update(body).digest('hex');
    try {
      const { status, data } = await http.post<unknown>(url, body, {
        headers: { 'content-type': 'application/json', 'x-ds-signature': `sha256=${signature}` },
      });
      return { end: endOf(message, status, data), reason: `HTTP ${status}` };
    } catch (error) {
      return { end: 'not-taken', reason: messageOf(error) };
    }
  }

  return async (url, message) => {
    const { end, reason } = await send(url, message);
    options.onResult({ end });
    if (end !== 'taken') {
      options.logger.warn('result message was not taken', { acsTransID: message.acsTransID, end, reason });
    }
    return end;
  };
}

function endOf(message: ResultRequest, status: number, answer: unknown): AttemptEnd {
  if (status >= 400 && status < 500) return 'refused';
  return status === 200 && isResultResponse(message, answer) ? 'taken' : 'not-taken';
}

function isResultResponse(message: ResultRequest, answer: unknown): boolean {
  if (!isRecord(answer)) return false;
  const { threeDSServerTransID, dsTransID, acsTransID } = message;
  const expected = { messageType: 'RRes', threeDSServerTransID, dsTransID, acsTransID, resultsStatus: '01' };
  return Object.entries(expected).every(([name, value]) => answer[name] === value);
}
