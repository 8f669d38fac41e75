import { RawText } from '@gateway/contracts';
import { readJson } from '@gateway/service-kit';

/** The version of EMV 3-D Secure that we use. */
export const MESSAGE_VERSION = '2.2.0';

export type Fields = Readonly<Record<string, unknown>>;

/** A message of the expected kind and version; undefined for anything else. */
export function messageFields(data: unknown, messageType: string): Fields | undefined {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return undefined;
  const fields = data as Fields;
  return fields['messageType'] === messageType && fields['messageVersion'] === MESSAGE_VERSION ? fields : undefined;
}

/** Why a message was refused. An Erro has the version of whoever refuses, so it counts in every version. */
export interface Refusal {
  errorCode?: string;
  /** Of the detail, the names of our elements (EMV 3-D Secure, A.5.5). */
  errorDetail?: string;
}

const ERROR_CODE_LENGTH = 3;
const ERROR_CODE = /^\d{3}$/;
const ERROR_DETAIL_LENGTH_MAX = 2048;
const WORD = /\w+/g;

/**
 * An Erro; undefined for anything else. Some directory servers put values into the detail: a name or a card number must
 * not get into a log, so of its words only those in `elements` are kept, each once.
 */
export function refusalIn(data: unknown, elements: readonly string[]): Refusal | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  const fields = data as Fields;
  if (fields['messageType'] !== 'Erro') return undefined;
  const errorCode = textOf(fields['errorCode'], ERROR_CODE_LENGTH);
  const words = new Set(textOf(fields['errorDetail'], ERROR_DETAIL_LENGTH_MAX).match(WORD));
  const errorDetail = elements.filter((element) => words.has(element)).join(' ');
  return {
    ...(ERROR_CODE.test(errorCode) ? { errorCode } : {}),
    ...(errorDetail === '' ? {} : { errorDetail }),
  };
}

const TRANSACTION_ID_LENGTH = 36;
const TRANSACTION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A text of a message; empty if it is none, or longer. */
function textOf(value: unknown, maxLength: number): string {
  return typeof value === 'string' ? (new RawText(value).within(maxLength) ?? '') : '';
}

/** A transaction id in canonical form. */
export function transactionId(value: unknown): string | undefined {
  const text = textOf(value, TRANSACTION_ID_LENGTH).toLowerCase();
  return TRANSACTION_ID.test(text) ? text : undefined;
}

/** Base64 of 20 bytes. */
const AUTHENTICATION_VALUE_LENGTH = 28;
const AUTHENTICATION_VALUE = /^[A-Za-z0-9+/]{27}=$/;

/** The issuer's cryptogram. Undefined if it is malformed: it would prove nothing to an acquirer. */
export function authenticationValue(value: unknown): string | undefined {
  const text = textOf(value, AUTHENTICATION_VALUE_LENGTH);
  return AUTHENTICATION_VALUE.test(text) ? text : undefined;
}

const ADDRESS_LENGTH_MAX = 2048;

/** An address, which its reader checks; empty if it is none. */
export function addressText(value: unknown): string {
  return textOf(value, ADDRESS_LENGTH_MAX);
}

const TWO_DIGITS = /^\d{2}$/;

export function twoDigits(value: unknown): string | undefined {
  const text = textOf(value, 2);
  return TWO_DIGITS.test(text) ? text : undefined;
}

export function oneOf<T extends string>(allowed: readonly T[], value: unknown): T | undefined {
  return allowed.find((one) => one === value);
}

/** JSON in base64url without padding, as messages travel through browsers. */
export function encoded(message: object): string {
  return Buffer.from(JSON.stringify(message)).toString('base64url');
}

export function parsedJson(bytes: Buffer): unknown {
  return readJson(bytes.toString('utf8'));
}
