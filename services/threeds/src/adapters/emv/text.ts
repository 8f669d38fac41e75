import { domainToASCII } from 'node:url';
import { LATIN_REPLACEMENTS } from '@gateway/contracts';

/** EMV Book 4, Annex B: the common character set of ISO/IEC 8859. */
const COMMON = /^[ -~]$/;

/**
 * `text` in EMV's characters, at most `maxLength` of them: accents go, other letters become Latin ones, and what has no
 * Latin form is left out. Undefined if fewer than `minLength` remain.
 */
export function emvText(text: string, minLength: number, maxLength: number): string | undefined {
  const latin = [...text.normalize('NFC')].map(inLatin).join('').replace(/ +/g, ' ');
  const cut = latin.trim().slice(0, maxLength).trimEnd();
  return cut.length < minLength ? undefined : cut;
}

function inLatin(character: string): string {
  if (COMMON.test(character)) return character;
  if (/\s/.test(character)) return ' ';
  return LATIN_REPLACEMENTS.get(character) ?? baseLetters(character);
}

function baseLetters(character: string): string {
  return [...character.normalize('NFKD')]
    .map((part) => (COMMON.test(part) ? part : (LATIN_REPLACEMENTS.get(part) ?? '')))
    .join('');
}

const EMAIL_LENGTH_MAX = 254;
/** RFC 5322, of which directory servers check as much. */
const LOCAL_PART = /^[!-?A-~]+$/;

/** Undefined if it cannot be written in ASCII: only the domain can be converted. */
export function emvEmail(email: string): string | undefined {
  const at = email.lastIndexOf('@');
  const [local, domain] = [email.slice(0, at), domainToASCII(email.slice(at + 1))];
  if (at < 0 || domain === '' || !LOCAL_PART.test(local)) return undefined;
  const ascii = `${local}@${domain}`;
  return ascii.length > EMAIL_LENGTH_MAX ? undefined : ascii;
}

const GROUPS = 8;
const GROUP_LENGTH = 4;
/** RFC 4291, 2.5.5.2: an IPv4 address in an IPv6 one. */
const MAPPED = /^(?:0000:){5}FFFF:(?<high>[0-9A-F]{4}):(?<low>[0-9A-F]{4})$/;

/** A valid address in the forms of browserIP: four decimal numbers, or eight groups of four digits. */
export function emvIpAddress(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = withoutDots(address).split('::');
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')];
  const zeros = tail === undefined ? 0 : GROUPS - before.length - after.length;
  const groups = [...before, ...Array<string>(zeros).fill('0'), ...after];
  const full = groups.map((group) => group.padStart(GROUP_LENGTH, '0').toUpperCase()).join(':');
  const { high, low } = MAPPED.exec(full)?.groups ?? {};
  return high === undefined || low === undefined ? full : bytesOf(high + low).join('.');
}

function groupsOf(side: string): string[] {
  return side === '' ? [] : side.split(':');
}

/** `::ffff:192.0.2.1` is `::ffff:c000:0201`. */
function withoutDots(address: string): string {
  const start = address.lastIndexOf(':') + 1;
  const bytes = address.slice(start).split('.').map(Number);
  if (bytes.length !== GROUP_LENGTH) return address;
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${address.slice(0, start)}${hex.slice(0, GROUP_LENGTH)}:${hex.slice(GROUP_LENGTH)}`;
}

function bytesOf(hex: string): number[] {
  return [...Buffer.from(hex, 'hex')];
}
