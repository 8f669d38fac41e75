import { RawText } from '@gateway/contracts';
import { readFlatJson } from './flat-json';

/** A duplicate form key: its field is invalid, whatever its values. */
export const DUPLICATE: unique symbol = Symbol('duplicate');

/** One field as sent. */
export type RawValue = RawText | number | boolean | null | typeof DUPLICATE;

/** More than an endpoint has fields, and than any merchant needs. A body with more of them does not parse. */
export const NAMES_MAX = 100;

/** The fields of a request in order of appearance. `__proto__` is a name like any other. */
export class RawFields {
  readonly #values: ReadonlyMap<string, RawValue>;

  /** @param bytes the memory that they take */
  constructor(
    values: ReadonlyMap<string, RawValue>,
    readonly bytes = 0,
  ) {
    this.#values = values;
  }

  get(name: string): RawValue | undefined {
    return this.#values.get(name);
  }

  /** All of them. Names are from outside too. */
  *[Symbol.iterator](): Generator<readonly [name: RawText, value: RawValue]> {
    for (const [name, value] of this.#values) yield [new RawText(name), value];
  }
}

/** decisions.md, section 1: an empty string or `null` counts as absent. So does blank text, which says no more. */
export function isAbsent(value: RawValue | undefined): value is null | undefined {
  return value === undefined || value === null || (value instanceof RawText && value.isBlank);
}

/** The text of a field, if it is one and has at most `maxLength` UTF-16 units. */
export function boundedText(value: RawValue | undefined, maxLength: number): string | undefined {
  return value instanceof RawText ? value.within(maxLength) : undefined;
}

/** Stateless while `stream` is not used, so one serves every request. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a JSON object without objects or arrays in it, which no field takes. Malformed: invalid UTF-8, invalid JSON, a
 * name that comes twice, more than {@link NAMES_MAX} names.
 */
export function parseJsonBody(bytes: Uint8Array): RawFields | 'malformed' {
  const text = textOf(bytes);
  if (text === undefined) return 'malformed';
  const values = readFlatJson(text, NAMES_MAX, (value) => new RawText(value));
  return values === undefined ? 'malformed' : new RawFields(values, memoryOf(values, bytes, text));
}

/**
 * Reads `application/x-www-form-urlencoded`. Malformed: invalid UTF-8, raw or percent-encoded, a `%` without two hex
 * digits after it, and more than {@link NAMES_MAX} names. A duplicate key gets {@link DUPLICATE} as its value; a key
 * without `=` an empty one.
 */
export function parseFormBody(bytes: Uint8Array): RawFields | 'malformed' {
  const text = textOf(bytes);
  if (text === undefined) return 'malformed';
  const fields = new Map<string, RawValue>();
  let pairs = 0;
  try {
    for (let from = 0; from < text.length;) {
      const to = endOf(text, from);
      if (to > from) {
        pairs += 1;
        if (pairs > NAMES_MAX) return 'malformed';
        const [key, value] = decodedPair(text.slice(from, to));
        fields.set(key, fields.has(key) ? DUPLICATE : new RawText(value));
      }
      from = to + 1;
    }
  } catch {
    return 'malformed';
  }
  return new RawFields(fields, memoryOf(fields, bytes, text));
}

/** A name and its value, with their places in the map. */
const FIELD_BYTES = 200;

/** Values are parts of the text, which stays as long as they. Beyond ASCII it may take two bytes for each unit. */
function memoryOf(fields: ReadonlyMap<string, RawValue>, bytes: Uint8Array, text: string): number {
  const isAscii = text.length === bytes.length;
  return fields.size * FIELD_BYTES + (isAscii ? text.length : 2 * text.length);
}

/** Of the pair that begins at `from`. */
function endOf(text: string, from: number): number {
  const at = text.indexOf('&', from);
  return at === -1 ? text.length : at;
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

function decodedPair(pair: string): readonly [key: string, value: string] {
  const equals = pair.indexOf('=');
  if (equals === -1) return [decodeFormText(pair), ''];
  return [decodeFormText(pair.slice(0, equals)), decodeFormText(pair.slice(equals + 1))];
}

/** Throws on a bad escape and on escapes that are not UTF-8. */
function decodeFormText(encoded: string): string {
  const spaced = encoded.includes('+') ? encoded.replaceAll('+', ' ') : encoded;
  return spaced.includes('%') ? decodeURIComponent(spaced) : spaced;
}
