import {
  hasAllowedPort,
  isCardNumber,
  isCountry,
  isCurrency,
  maskCardNumbers,
  parseAmountE4,
  RawText,
  utcDay,
} from '@gateway/contracts';
import type { RawValue } from './body';
import { boundedText } from './body';
import type { FieldRule, FieldSchema } from './field-table';
import { isIpAddress } from './ip-address';

/**
 * The rules of the interface's field table and of decisions.md, section 2. A reader returns the value of a text that
 * its predicate accepts. Lengths are in characters (code points), as in the JSON Schemas of the messages.
 */

/** A text of `minLength` to `maxLength` characters without control characters and half surrogate pairs. */
function isPlainText(text: string, minLength: number, maxLength: number): boolean {
  let characters = 0;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0x20 || (unit >= 0x7f && unit < 0xa0)) return false;
    if (unit >= 0xd800 && unit < 0xe000) {
      if (unit >= 0xdc00 || !isLowSurrogate(text.charCodeAt(i + 1))) return false;
      i += 1;
    }
    characters += 1;
  }
  return characters >= minLength && characters <= maxLength;
}

/** A value that {@link isPlainText} accepts. A character has one unit or two. */
export function plainText(value: RawValue | undefined, minLength: number, maxLength: number): string | undefined {
  const given = boundedText(value, 2 * maxLength);
  return given !== undefined && isPlainText(given, minLength, maxLength) ? given : undefined;
}

/** NaN, from beyond the end of a text, is not one. */
function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

type Predicate = (text: string, nowMs: number) => boolean;

/** Printable characters of any script: what {@link isPlainText} accepts. */
const PLAIN = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$';

const textSchema = (minLength: number, maxLength: number, more: FieldSchema = { pattern: PLAIN }): FieldSchema => ({
  type: 'string',
  minLength,
  maxLength,
  ...more,
});

/** Kept as sent. `more` is the part of the schema that says what `isRight` says, as far as a schema can. */
export function text(
  minLength: number,
  maxLength: number,
  isRight: Predicate = () => true,
  more?: FieldSchema,
): FieldRule {
  return {
    schema: textSchema(minLength, maxLength, more),
    read(value, nowMs) {
      const given = plainText(value, minLength, maxLength);
      return given !== undefined && isRight(given, nowMs) ? given : undefined;
    },
  };
}

/** Kept, with card numbers masked. */
export function freeText(minLength: number, maxLength: number): FieldRule {
  return {
    schema: textSchema(minLength, maxLength),
    read(value) {
      const given = plainText(value, minLength, maxLength);
      return given === undefined ? undefined : maskCardNumbers(given);
    },
  };
}

/** Keeps what a rule accepts, with card numbers masked. */
function masked({ schema, read }: FieldRule, isSuspect: (value: string) => boolean = () => true): FieldRule {
  return {
    schema,
    read(raw, nowMs) {
      const value = read(raw, nowMs);
      return typeof value === 'string' && isSuspect(value) ? maskCardNumbers(value) : value;
    },
  };
}

/** A text that matches. */
function matching(minLength: number, maxLength: number, regex: RegExp): FieldRule {
  return text(minLength, maxLength, (value) => regex.test(value), { pattern: regex.source });
}

/** Of a number in a text: leading zeros count for nothing, so there may be many. */
export const NUMERIC_LENGTH_MAX = 1_000;

/** In 1/10000. A JSON number counts as its shortest decimal: 1e2 is 100, and 1e-7 has too many decimals. */
export const amount: FieldRule = {
  schema: {
    anyOf: [
      { type: 'string', pattern: '^0*[0-9]{1,7}(\\.[0-9]{1,4})?$' },
      { type: 'number', minimum: 0, maximum: 9_999_999.9999 },
    ],
  },
  read(value) {
    const given = typeof value === 'number' ? String(value) : boundedText(value, NUMERIC_LENGTH_MAX);
    return given === undefined ? undefined : parseAmountE4(given);
  },
};

export const currency = text(3, 3, isCurrency, { pattern: '^[A-Z]{3}$', format: 'iso-4217' });
export const country = text(3, 3, isCountry, { pattern: '^[A-Z]{3}$', format: 'iso-3166-1-alpha-3' });
export const cardNumber = text(13, 19, isCardNumber, { pattern: '^[0-9]+$', format: 'card-number' });
export const cardExpMonth = matching(2, 2, /^(?:0[1-9]|1[0-2])$/);
export const cardExpYear = matching(4, 4, /^[0-9]{4}$/);
export const cvv = matching(3, 4, /^[0-9]{3,4}$/);
export const token = text(36, 36);
/** A number that begins with + is a phone number, even if it looks like a card number. */
export const userPhone = masked(text(7, 15), (value) => !value.startsWith('+'));
export const userEmail = masked(text(6, 255, isEmailAddress, { format: 'idn-email' }));
export const userIp = text(2, 45, isIpAddress, { anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] });
export const httpsUrl = text(1, 2048, isHttpsUrl, { pattern: '^[Hh][Tt][Tt][Pp][Ss]://', format: 'https-url' });
export const reference = text(20, 20);
export const midReference = text(16, 16);
export const dateOfBirth = text(10, 10, isPastDate, { format: 'date' });
export const cofType = oneOf('CIT-initial', 'CIT-subsequent', 'MIT');
/** Opaque to all but the gateway, which creates it. */
export const pares = matching(1, 4096, /^[A-Za-z0-9_-]+$/);

const UNIQUE_ID = /^[!-~]+$/;
/** The automatic VOID at the end of a hold is recorded as `expiry-` and the AUTH's reference. */
const RESERVED_PREFIX = 'expiry-';

const MAX_UNIQUE_ID_LENGTH = 45;

/** The id of a new operation. */
export function newUniqueId(minLength: number): FieldRule {
  const isRight = (value: string): boolean => UNIQUE_ID.test(value) && !value.startsWith(RESERVED_PREFIX);
  return text(minLength, MAX_UNIQUE_ID_LENGTH, isRight, { pattern: `^(?!${RESERVED_PREFIX})[!-~]+$` });
}

/** The id of any recorded operation, including the system's own. */
export function knownUniqueId(minLength: number): FieldRule {
  return matching(minLength, MAX_UNIQUE_ID_LENGTH, UNIQUE_ID);
}

/** The only value of a field, or one of a few. */
export function oneOf(...values: readonly string[]): FieldRule {
  return {
    schema: { type: 'string', enum: values },
    read: (value) => values.find((one) => value instanceof RawText && value.is(one)),
  };
}

const DIGITS_MAX = 16;
const DIGITS = /^[0-9]{1,16}$/;

/** A whole number, bounds included; as a string it has digits only. */
export function integer(min: number, max: number): FieldRule {
  return {
    schema: {
      anyOf: [
        { type: 'integer', minimum: min, maximum: max },
        { type: 'string', pattern: DIGITS.source },
      ],
    },
    read(value) {
      const given = boundedText(value, DIGITS_MAX);
      const number = given !== undefined && DIGITS.test(given) ? Number(given) : value;
      return typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max
        ? number
        : undefined;
    },
  };
}

/** RFC 5321's dot-string, with the letters of any script (RFC 6531). */
const LOCAL_PART = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const DOMAIN_LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u;
const MAX_LOCAL_PART_LENGTH = 64;

/** local@domain.tld: no quoted local part, no IP address as domain. */
function isEmailAddress(value: string): boolean {
  const at = value.lastIndexOf('@');
  const local = value.slice(0, Math.max(at, 0));
  const labels = value.slice(at + 1).split('.');
  return (
    local.length <= MAX_LOCAL_PART_LENGTH &&
    LOCAL_PART.test(local) &&
    labels.length >= 2 &&
    labels.every((label) => DOMAIN_LABEL.test(label)) &&
    !/^\d+$/.test(labels.at(-1) ?? '')
  );
}

/**
 * Rejects what URL parsers repair or read differently: white space, backslashes, missing slashes, `@` before the path.
 */
const HTTPS_URL = /^https:\/\/[^/?#@\\\s]+(?:[/?#][^\\\s]*)?$/i;

/** An absolute https address without user info, and not at a port of another protocol. */
function isHttpsUrl(value: string): boolean {
  const url = HTTPS_URL.test(value) ? URL.parse(value) : null;
  return url !== null && hasAllowedPort(url);
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;

/** A day of the Gregorian calendar before today in UTC. */
function isPastDate(value: string, nowMs: number): boolean {
  const [, year, month, day] = (DATE.exec(value) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  const isReal = year >= 1 && day >= 1 && day <= daysInMonth(year, month);
  return isReal && value < utcDay(nowMs);
}

/** Zero for an invalid month. */
function daysInMonth(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
}
