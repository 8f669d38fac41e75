import type { ErrorReason } from '@gateway/contracts';
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
import { boundedText, DUPLICATE } from './body';
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

/** What hints say of a rule: see {@link FieldRule}. */
type Told = Pick<FieldRule, 'allowed' | 'example'>;

/** `schema` and `why` say what `isRight` says: the one as far as a schema can, the other of texts of a right length. */
interface Kind extends Told {
  isRight: Predicate;
  schema?: FieldSchema;
  why: ErrorReason | ((text: string, nowMs: number) => ErrorReason);
  /** Of what is wrong, `why` tells more than that its length is. */
  whateverLength?: true;
}

/** Kept as sent. */
function text(
  minLength: number,
  maxLength: number,
  { isRight, schema, why, whateverLength, ...told }: Kind,
): FieldRule {
  const specific = typeof why === 'string' ? () => why : why;
  return {
    ...told,
    schema: textSchema(minLength, maxLength, schema),
    read(value, nowMs) {
      const given = plainText(value, minLength, maxLength);
      return given !== undefined && isRight(given, nowMs) ? given : undefined;
    },
    why(value, nowMs) {
      const given = boundedText(value, 2 * maxLength);
      const general = whyNotText(value, minLength, maxLength);
      if (general === 'length' && whateverLength === true) return specific(given ?? '', nowMs);
      return general ?? specific(given ?? '', nowMs);
    },
  };
}

/** Undefined if it is a text of such a length. */
function whyNotText(value: RawValue, minLength: number, maxLength: number): ErrorReason | undefined {
  if (!(value instanceof RawText)) return whyNoText(value);
  const given = value.within(2 * maxLength);
  if (given === undefined) return 'length';
  if (!isPlainText(given, 0, 2 * maxLength)) return 'characters';
  return isPlainText(given, minLength, maxLength) ? undefined : 'length';
}

/** Why a value is no text at all. */
export function whyNoText(value: Exclude<RawValue, RawText>): ErrorReason {
  return value === DUPLICATE ? 'repeated' : 'type';
}

const charactersOf = (minLength: number, maxLength: number): string =>
  minLength === maxLength ? `exactly ${maxLength} characters` : `${minLength} to ${maxLength} characters`;

/** Any text, kept as sent. */
export function anyText(minLength: number, maxLength: number, example: string): FieldRule {
  const allowed = charactersOf(minLength, maxLength);
  return text(minLength, maxLength, { isRight: () => true, why: 'format', allowed, example });
}

/** Any text, kept with card numbers masked. */
export function freeText(minLength: number, maxLength: number, example: string): FieldRule {
  return masked(anyText(minLength, maxLength, example));
}

/** Keeps what a rule accepts, with card numbers masked. */
function masked(rule: FieldRule, isSuspect: (value: string) => boolean = () => true): FieldRule {
  return {
    ...rule,
    read(raw, nowMs) {
      const value = rule.read(raw, nowMs);
      return typeof value === 'string' && isSuspect(value) ? maskCardNumbers(value) : value;
    },
  };
}

/** A text that matches. */
function matching(minLength: number, maxLength: number, regex: RegExp, told: Told): FieldRule {
  const isRight = (value: string): boolean => regex.test(value);
  return text(minLength, maxLength, { isRight, schema: { pattern: regex.source }, why: 'format', ...told });
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
  allowed: 'a number from 0 to 9999999.9999 with a point and at most 4 decimals',
  example: '10.50',
  read(value) {
    const given = typeof value === 'number' ? String(value) : boundedText(value, NUMERIC_LENGTH_MAX);
    return given === undefined ? undefined : parseAmountE4(given);
  },
  why(value) {
    if (typeof value === 'number') return isInRange(value) ? 'too-many-decimals' : 'range';
    if (!(value instanceof RawText)) return whyNoText(value);
    const given = value.within(NUMERIC_LENGTH_MAX);
    if (given === undefined) return 'length';
    if (!DECIMAL.test(given)) return 'format';
    return isInRange(Number(given)) ? 'too-many-decimals' : 'range';
  },
};

const DECIMAL = /^-?[0-9]+(?:\.[0-9]+)?$/;
const AMOUNT_MAX = 9_999_999.9999;

/** -0 is no amount as a text. */
function isInRange(amount: number): boolean {
  return amount >= 0 && amount <= AMOUNT_MAX && !Object.is(amount, -0);
}

export const currency = text(3, 3, {
  isRight: isCurrency,
  schema: { pattern: '^[A-Z]{3}$', format: 'iso-4217' },
  why: 'currency-alpha-3',
  whateverLength: true,
  allowed: 'three capital letters of ISO 4217',
  example: 'EUR',
});
export const country = text(3, 3, {
  isRight: isCountry,
  schema: { pattern: '^[A-Z]{3}$', format: 'iso-3166-1-alpha-3' },
  why: 'country-alpha-3',
  whateverLength: true,
  allowed: 'three capital letters of ISO 3166-1 alpha-3',
  example: 'DEU',
});
export const cardNumber = text(13, 19, {
  isRight: isCardNumber,
  schema: { pattern: '^[0-9]+$', format: 'card-number' },
  why: (given) =>
    /^[0-9]*$/.test(given) ? (given.length < 13 || given.length > 19 ? 'length' : 'check-digits') : 'format',
  whateverLength: true,
  allowed: '13 to 19 digits without spaces, the last of which is the check digit',
  example: '4242424242424242',
});
export const cardExpMonth = matching(2, 2, /^(?:0[1-9]|1[0-2])$/, {
  allowed: 'two digits from 01 to 12',
  example: '09',
});
export const cardExpYear = matching(4, 4, /^[0-9]{4}$/, { allowed: 'four digits', example: '2030' });
export const cvv = matching(3, 4, /^[0-9]{3,4}$/, { allowed: '3 or 4 digits', example: '123' });
export const cardHolder = freeText(2, 32, 'Ann Lee');
export const token = anyText(36, 36, '3b0e9c1e-55a1-8c3f-9f7a-0123456789ab');
/** A number that begins with + is a phone number, even if it looks like a card number. */
export const userPhone = masked(anyText(7, 15, '+4930123456'), (value) => !value.startsWith('+'));
export const userEmail = masked(
  text(6, 255, {
    isRight: isEmailAddress,
    schema: { format: 'idn-email' },
    why: 'format',
    allowed: 'an e-mail address of 6 to 255 characters without spaces',
    example: 'ann@example.com',
  }),
);
export const userIp = text(2, 45, {
  isRight: isIpAddress,
  schema: { anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] },
  why: whyNoIpAddress,
  whateverLength: true,
  allowed: "one IPv4 or IPv6 address, the customer's, without a port",
  example: '192.0.2.1',
});
export const httpsUrl = text(1, 2048, {
  isRight: isHttpsUrl,
  schema: { pattern: '^[Hh][Tt][Tt][Pp][Ss]://', format: 'https-url' },
  why: whyNoHttpsUrl,
  allowed: 'an absolute https address of at most 2048 characters without spaces',
  example: 'https://shop.example/done',
});
export const reference = anyText(20, 20, 'ABCDEFGHIJKLMNOP0001');
/** A reference that is only compared. */
export const shortReference = anyText(1, 20, reference.example);
export const midReference = anyText(16, 16, 'MD0123456789ABCD');
export const dateOfBirth = text(10, 10, {
  isRight: isPastDate,
  schema: { format: 'date' },
  why: (given) => (isRealDate(given) ? 'not-past' : 'format'),
  whateverLength: true,
  allowed: 'a day in the past as YYYY-MM-DD',
  example: '1990-12-31',
});
export const cofType = oneOf('CIT-initial', 'CIT-subsequent', 'MIT');
/** Opaque to all but the gateway, which creates it. */
export const pares = matching(1, 4096, /^[A-Za-z0-9_-]+$/, {
  allowed: 'the PaRes as it came, 1 to 4096 letters, digits, - and _',
  example: 'eNpVUsFu2zAM',
});

const UNIQUE_ID = /^[!-~]+$/;
/** The automatic VOID at the end of a hold is recorded as `expiry-` and the AUTH's reference. */
const RESERVED_PREFIX = 'expiry-';

const MAX_UNIQUE_ID_LENGTH = 45;

/** @param which says which id */
const idOf = (minLength: number, which: string): Told => ({
  allowed: `${which}, ${minLength} to ${MAX_UNIQUE_ID_LENGTH} printable ASCII characters without spaces`,
  example: 'order-00000001',
});

/** The id of a new operation. */
export function newUniqueId(minLength: number): FieldRule {
  return text(minLength, MAX_UNIQUE_ID_LENGTH, {
    isRight: (value) => UNIQUE_ID.test(value) && !value.startsWith(RESERVED_PREFIX),
    schema: { pattern: `^(?!${RESERVED_PREFIX})[!-~]+$` },
    why: (given) => (given.startsWith(RESERVED_PREFIX) ? 'reserved-id' : 'characters'),
    ...idOf(minLength, 'an id of your own'),
  });
}

/** The id of any recorded operation, including the system's own. */
export function knownUniqueId(minLength: number): FieldRule {
  return text(minLength, MAX_UNIQUE_ID_LENGTH, {
    isRight: (value) => UNIQUE_ID.test(value),
    schema: { pattern: UNIQUE_ID.source },
    why: 'characters',
    ...idOf(minLength, 'the id that you gave it, or a reference in its place'),
  });
}

/** The only value of a field, or one of a few. */
export function oneOf(...values: readonly [string, ...string[]]): FieldRule {
  return {
    schema: { type: 'string', enum: values },
    allowed: values.length === 1 ? values[0] : `one of ${values.join(', ')}`,
    example: values[0],
    read: (value) => values.find((one) => value instanceof RawText && value.is(one)),
    why: (value) => (value instanceof RawText ? 'not-listed' : whyNoText(value)),
  };
}

const DIGITS_MAX = 16;
const DIGITS = /^[0-9]{1,16}$/;

/** A whole number, bounds included; as a string it has digits only. */
export function integer(min: number, max: number, example = 20): FieldRule {
  return {
    schema: {
      anyOf: [
        { type: 'integer', minimum: min, maximum: max },
        { type: 'string', maxLength: DIGITS_MAX, pattern: digitsOf(min, max) },
      ],
    },
    read(value) {
      const given = boundedText(value, DIGITS_MAX);
      const number = given !== undefined && DIGITS.test(given) ? Number(given) : value;
      return typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max
        ? number
        : undefined;
    },
    allowed: `a whole number from ${min} to ${max}`,
    example: String(max < example ? max : Math.max(min, example)),
    why(value) {
      if (typeof value === 'number') return Number.isInteger(value) ? 'range' : 'format';
      if (!(value instanceof RawText)) return whyNoText(value);
      return /^[0-9]+$/.test(value.within(DIGITS_MAX) ?? '') ? 'range' : 'format';
    },
  };
}

/** Of the texts of whole numbers from `min`, which is 0 or 1, to `max`, with leading zeros or without. */
function digitsOf(min: number, max: number): string {
  if (min !== 0 && min !== 1) throw new Error(`no pattern is written for numbers from ${min}`);
  const digits = String(max);
  const below = [...digits].flatMap((digit, place) => {
    const rest = digits.length - place - 1;
    return digit === '0' ? [] : [`${digits.slice(0, place)}[0-${Number(digit) - 1}][0-9]{${rest}}`];
  });
  const shorter = digits.length > 1 ? [`[0-9]{1,${digits.length - 1}}`] : [];
  return `^${min === 1 ? '(?!0+$)' : ''}0*(${[...shorter, ...below, digits].join('|')})$`;
}

/** Until the end of the year 9999: milliseconds sent by mistake are beyond it. */
export const unixSeconds = integer(0, 253_402_300_799, 1_767_225_600);

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

/** Of a text that {@link isHttpsUrl} refuses. */
function whyNoHttpsUrl(value: string): ErrorReason {
  if (!/^https:\/\//i.test(value)) return 'not-https';
  if (/^https:\/\/[^/?#]*@/i.test(value)) return 'has-user-info';
  const url = HTTPS_URL.test(value) ? URL.parse(value) : null;
  return url === null ? 'format' : 'port-refused';
}

/** Of a text that is no IP address: proxies add ports, and more addresses behind commas. */
function whyNoIpAddress(value: string): ErrorReason {
  if (value.includes(',')) return 'several-addresses';
  const host = /^(?:([0-9.]+):[0-9]+|\[([0-9a-f:.]+)\](?::[0-9]+)?)$/i.exec(value);
  return isIpAddress(host?.[1] ?? host?.[2] ?? '') ? 'has-port' : 'format';
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;

/** A day of the Gregorian calendar before today in UTC. */
function isPastDate(value: string, nowMs: number): boolean {
  return isRealDate(value) && value < utcDay(nowMs);
}

function isRealDate(value: string): boolean {
  const [, year, month, day] = (DATE.exec(value) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  return year >= 1 && day >= 1 && day <= daysInMonth(year, month);
}

/** Zero for an invalid month. */
function daysInMonth(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
}
