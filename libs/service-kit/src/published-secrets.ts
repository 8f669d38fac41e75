import { createHash } from 'node:crypto';
import type { TSchema } from '@sinclair/typebox';
import type { ProductionRule } from './production';
import { textIn } from './production';
import { readSecretFolder } from './secret-files';

/** Marks a setting whose value must be the operator's own. {@link secretText} and {@link ownKeyText} set it. */
export const OWN_KEYWORD = 'own';
/** Marks a folder of such values. `secretFolder` sets it. */
export const FOLDER_KEYWORD = 'folder';

/**
 * The first 16 hex digits of the SHA-256 of each secret in this repository: of the decoded bytes of a key, else of the
 * text. `published-secrets.unit.test.ts` finds those that are missing.
 */
const FINGERPRINTS: ReadonlySet<string> = new Set([
  '057ba03d6c441048',
  '199844eb1585d0a0',
  '23ad41ab9af9a779',
  '26bafb937dd460da',
  '283e2e115f93d483',
  '2bb80d537b1da3e3',
  '2d711642b726b044',
  '30c952fab122c3f9',
  '3152e52fdc8439ce',
  '32d5f9c281a2cfc1',
  '3329ea77f371eaf3',
  '34d8f9557511183a',
  '43fdfad4c58100a8',
  '47d395b481b95b76',
  '5e884898da280471',
  '61aad75852fa6326',
  '7050ac34daca4bcd',
  '83ee304951d8a82d',
  '8c6976e5b5410415',
  'a3587a2a0f166531',
  'c1936a446a549eb0',
  'c59215c9585adb6a',
  'cba788684537444c',
  'ccf9740e81bfe247',
  'd186f520030afa4d',
  'd74ff0ee8da3b980',
  'e997d4e68987ded6',
  'ec9e7fa19ef3968a',
]);

const FINGERPRINT_LENGTH = 16;
/** Base64 or base64url of 32 bytes or more. */
const LONG_BASE64 = /^[A-Za-z0-9+/_-]{43,4096}={0,2}$/;

/** What {@link isPublished} looks up. @param text of one secret, without the id of a key */
export function fingerprintsOf(text: string): string[] {
  const isKey = LONG_BASE64.test(text);
  return [...(isKey ? [Buffer.from(text, 'base64')] : []), Buffer.from(text)].map(fingerprintOf);
}

/** 16 hex digits by which people and programs compare a key without seeing it. @param bytes of a key, not of a short secret */
export function fingerprintOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, FINGERPRINT_LENGTH);
}

/** True for a secret that everyone can read in this repository, and for a key of one repeated byte. */
export function isPublished(text: string): boolean {
  return isRepeatedByte(text) || fingerprintsOf(text).some((fingerprint) => FINGERPRINTS.has(fingerprint));
}

/** As {@link isPublished}, of a secret of which only the SHA-256 in hex is known. */
export function isPublishedHash(sha256: string): boolean {
  return FINGERPRINTS.has(sha256.slice(0, FINGERPRINT_LENGTH));
}

function isRepeatedByte(text: string): boolean {
  if (!LONG_BASE64.test(text)) return false;
  const bytes = Buffer.from(text, 'base64');
  return bytes.every((byte) => byte === bytes[0]);
}

/** Scheme, then user and password as an address has them. */
const CREDENTIALS = /^[a-z][a-z0-9+.-]{0,30}:\/\/([^/?#@]{0,2048})@/i;

/**
 * The secrets in the value of a setting: the value, the entries of a list (`id:key,id:key`, `name=value`), the words of
 * an entry (`Bearer token`), the password of an address.
 */
export function secretsIn(value: string): string[] {
  const [, credentials = ''] = CREDENTIALS.exec(value) ?? [];
  const entries = value.split(',').map((entry) => entry.trim());
  const words = [...entries, credentials].flatMap((entry) => [entry, afterFirst(entry, ':'), afterFirst(entry, '=')]);
  const parts = words.flatMap((word) => [word, ...word.split(/\s+/)]);
  return [...new Set([value, ...parts, ...parts.map(decoded)])].filter((part) => part !== '');
}

function afterFirst(text: string, separator: string): string {
  const at = text.indexOf(separator);
  return at === -1 ? '' : text.slice(at + 1);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** Whoever has read this repository has the secret too. A rule for each declared secret, whatever its name. */
export function publishedSecretRules(settings: Readonly<Record<string, TSchema>>): ProductionRule<object>[] {
  const marked = (keyword: string): string[] =>
    Object.keys(settings).filter((name) => settings[name]?.[keyword] === true);
  const values = marked(OWN_KEYWORD).map((name): ProductionRule<object> => (config) => {
    const value = textIn(config, name);
    const isUnsafe = value !== undefined && secretsIn(value).some(isPublished);
    return isUnsafe ? `${name} is published with this software, or one repeated byte.` : undefined;
  });
  const folders = marked(FOLDER_KEYWORD).map((name): ProductionRule<object> => (config) => {
    const unsafe = publishedIn(textIn(config, name)).join(', ');
    return unsafe === '' ? undefined : `${name} has secrets that are published with this software: ${unsafe}.`;
  });
  return [...values, ...folders];
}

/** The files whose whole content is a published secret. Who uses the folder reports one that cannot be read. */
function publishedIn(folder: string | undefined): string[] {
  if (folder === undefined) return [];
  try {
    return [...readSecretFolder(folder)].flatMap(([file, read]) =>
      'text' in read && isPublished(read.text) ? [file] : [],
    );
  } catch {
    return [];
  }
}
