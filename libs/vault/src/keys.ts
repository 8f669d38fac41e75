import { Secret } from '@gateway/contracts';
import { ConfigurationError } from '@gateway/service-kit';
import type { KeyProvider, KeyProviderConfig } from './key-provider';
import { openKeyProvider } from './open-key-provider';

export const KEY_BYTES = 32;
/** Of a key that a KMS has wrapped. */
const WRAPPED_BYTES_MAX = 1_024;
const MAX_KEYS = 16;
const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/;

/** The settings of private keys, with those of the public half of their active key. */
export const PUBLIC_HALF: Readonly<Record<string, string>> = {
  CARD_KEYS: 'CARD_PUBLIC_KEY',
  CVV_KEYS: 'CVV_PUBLIC_KEY',
  SIGNING_KEYS: 'SIGNING_PUBLIC_KEY',
};

export function isPublicKey(setting: string): boolean {
  return Object.values(PUBLIC_HALF).includes(setting);
}

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
 * ConfigurationError that lists the problems of all settings by the entry's position. With `aws-kms` the entries are
 * wrapped keys, which are unwrapped here; public keys are no secret, and never wrapped.
 */
export async function readKeys<Name extends string>(
  config: Readonly<Record<Name, string>> & KeyProviderConfig,
  names: readonly Name[],
): Promise<Record<Name, Keys>> {
  const problems: string[] = [];
  const isWrapped = (name: string): boolean => config.KEY_PROVIDER === 'aws-kms' && !isPublicKey(name);
  const entries = names.map((name) => [name, readEntries(name, config[name], problems, isWrapped(name))] as const);
  if (problems.length > 0) throw new ConfigurationError(`Configuration: ${problems.join('; ')}.`);
  const provider = await openKeyProvider(config);
  try {
    const keys = entries.map(
      async ([name, all]) =>
        [name, keysOf(name, isWrapped(name) ? await unwrapped(provider, name, all) : all)] as const,
    );
    return Object.fromEntries(await Promise.all(keys)) as Record<Name, Keys>;
  } finally {
    provider.close();
  }
}

async function unwrapped(provider: KeyProvider, setting: string, entries: readonly Key[]): Promise<Key[]> {
  return Promise.all(
    entries.map(async ({ id, key: entry }) => {
      const key = await provider.unwrap({ setting, id }, entry);
      if (key.expose().length === KEY_BYTES) return { id, key };
      throw new ConfigurationError(`Key "${id}" of ${setting} has ${key.expose().length} bytes, not ${KEY_BYTES}.`);
    }),
  );
}

/** Problems never quote an entry, because it may consist of a key alone. */
function readEntries(setting: string, text: string, problems: string[], wrapped: boolean): Key[] {
  const entries = text.split(',').map((entry) => entry.trim());
  if (entries.length > MAX_KEYS) problems.push(`${setting} has more than ${MAX_KEYS} entries`);
  const keys = new Map<string, Key>();
  entries.forEach((entry, index) => {
    const read = readEntry(entry, wrapped);
    const problem = typeof read === 'string' ? read : keys.has(read.id) ? `repeats the id "${read.id}"` : undefined;
    if (problem !== undefined) problems.push(`${setting} entry ${index + 1} ${problem}`);
    else if (typeof read !== 'string') keys.set(read.id, read);
  });
  return [...keys.values()];
}

/** The entry, or its problem. */
function readEntry(entry: string, wrapped: boolean): Key | string {
  const separator = entry.indexOf(':');
  if (separator < 0) return 'is not of the form id:base64';
  const id = entry.slice(0, separator);
  if (!KEY_ID.test(id)) return 'has an id that is not 1 to 32 letters, digits, _ or -';
  const bytes = decodeBase64(entry.slice(separator + 1));
  const length = bytes?.length ?? 0;
  if (wrapped && (length === 0 || length > WRAPPED_BYTES_MAX))
    return 'has a key that is not the base64 of a wrapped key';
  if (!wrapped && length !== KEY_BYTES) return `has a key that is not the base64 of ${KEY_BYTES} bytes`;
  return { id, key: new Secret(bytes ?? Buffer.alloc(0)) };
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
