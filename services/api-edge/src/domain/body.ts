/** A duplicate form key: its field is invalid, whatever its values. */
export const DUPLICATE: unique symbol = Symbol('duplicate');

/** One field as sent. Objects and arrays are kept and never examined: no field accepts them. */
export type RawValue = string | number | boolean | null | object | typeof DUPLICATE;

/** The fields of a request in order of appearance. A Map, so that `__proto__` is a key like any other. */
export type RawFields = ReadonlyMap<string, RawValue>;

/** decisions.md, section 1: an empty string or `null` counts as absent. */
export function isAbsent(value: RawValue | undefined): value is null | undefined | '' {
  return value === undefined || value === null || value === '';
}

/** Stateless while `stream` is not used, so one serves every request. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a JSON object. Malformed: invalid UTF-8, invalid JSON, anything but an object at the top. As in JSON.parse, a
 * number out of range becomes Infinity, and the last value of a duplicate name counts.
 */
export function parseJsonBody(bytes: Uint8Array): RawFields | 'malformed' {
  let body: unknown;
  try {
    body = JSON.parse(utf8.decode(bytes));
  } catch {
    return 'malformed';
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'malformed';
  return new Map(Object.entries(body as Record<string, RawValue>));
}

/**
 * Reads `application/x-www-form-urlencoded`. Malformed: invalid UTF-8, raw or percent-encoded, and a `%` without two
 * hex digits after it. A duplicate key gets {@link DUPLICATE} as its value; a key without `=` an empty one.
 */
export function parseFormBody(bytes: Uint8Array): RawFields | 'malformed' {
  const fields = new Map<string, RawValue>();
  try {
    for (const pair of utf8.decode(bytes).split('&')) {
      if (pair === '') continue;
      const equals = pair.indexOf('=');
      const key = decodeFormText(equals === -1 ? pair : pair.slice(0, equals));
      const value = equals === -1 ? '' : decodeFormText(pair.slice(equals + 1));
      fields.set(key, fields.has(key) ? DUPLICATE : value);
    }
  } catch {
    return 'malformed';
  }
  return fields;
}

/** Throws on a bad escape and on escapes that are not UTF-8. */
function decodeFormText(encoded: string): string {
  const spaced = encoded.includes('+') ? encoded.replaceAll('+', ' ') : encoded;
  return spaced.includes('%') ? decodeURIComponent(spaced) : spaced;
}
