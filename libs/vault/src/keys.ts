import { Secret } from '@gateway/contracts';
import { ConfigurationError } from '@gateway/service-kit';

export const KEY_BYTES = 32;
const MAX_KEYS = 16;
const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/;

/** The keys of one setting by id, the active one first: it encrypts, all of them decrypt, which allows rotation. */
export interface Keys {
  /** Named in errors. */
  readonly setting: string;
  readonly active: Key;
  readonly all: readonly Key[];
  /** Throws an {@link UnknownKeyError}. */
  find(id: string): Secret<Buffer>;
}

export interface Key {
  readonly id: string;
  /** 32 bytes. */
  readonly key: Secret<Buffer>;
}

/** The record's key is not, or no longer, in its setting. */
export class UnknownKeyError extends Error {
  constructor(
    readonly setting: string,
    readonly keyId: string,
  ) {
    super(`Key "${keyId}" is not in ${setting}, so what was written under it cannot be read.`);
  }
}

/**
 * Reads settings of the form `id:base64(32 bytes)[,id:base64(32 bytes)…]`, the active key first. Throws a
 * ConfigurationError that lists the problems of all settings by the entry's position.
 */
export async function readKeys<Name extends string>(
  config: Readonly<Record<Name, string>>,
  names: readonly Name[],
): Promise<Record<Name, Keys>> {
  const problems: string[] = [];
  const read = names.map((name) => [name, keysOf(name, readEntries(name, config[name], problems))] as const);
  if (problems.length > 0) throw new ConfigurationError(`Configuration: ${problems.join('; ')}.`);
  return Object.fromEntries(read) as Record<Name, Keys>;
}

/** Problems never quote an entry, because it may consist of a key alone. */
function readEntries(setting: string, text: string, problems: string[]): Key[] {
  const entries = text.split(',').map((entry) => entry.trim());
  if (entries.length > MAX_KEYS) problems.push(`${setting} has more than ${MAX_KEYS} entries`);
  const keys = new Map<string, Key>();
  entries.forEach((entry, index) => {
    const read = readEntry(entry);
    const problem = typeof read === 'string' ? read : keys.has(read.id) ? `repeats the id "${read.id}"` : undefined;
    if (problem !== undefined) problems.push(`${setting} entry ${index + 1} ${problem}`);
    else if (typeof read !== 'string') keys.set(read.id, read);
  });
  return [...keys.values()];
}

/** The entry, or its problem. */
function readEntry(entry: string): Key | string {
  const separator = entry.indexOf(':');
  if (separator < 0) return 'is not of the form id:base64';
  const id = entry.slice(0, separator);
  if (!KEY_ID.test(id)) return 'has an id that is not 1 to 32 letters, digits, _ or -';
  const bytes = decodeBase64(entry.slice(separator + 1));
  if (bytes?.length !== KEY_BYTES) return `has a key that is not the base64 of ${KEY_BYTES} bytes`;
  return { id, key: new Secret(bytes) };
}

/** Undefined unless the text is the exact encoding of its bytes: Buffer.from skips invalid characters. */
function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length > 0 && bytes.toString('base64') === text ? bytes : undefined;
}

export function keysOf(setting: string, all: readonly Key[]): Keys {
  const byId = new Map(all.map(({ id, key }) => [id, key]));
  return {
    setting,
    active: all[0] as Key,
    all,
    find(id) {
      const key = byId.get(id);
      if (key === undefined) throw new UnknownKeyError(setting, id);
      return key;
    },
  };
}
