import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
interface Range {
  network: Address;
  prefixLength: number;
}

const MAPPED_PREFIX_LENGTH = 96;
const MAX_PREFIX_LENGTH = { ipv4: 32, ipv6: 128 } as const;
/** The owner of one IPv6 address usually has all that share its first 64 bits. */
const SOURCE_PREFIX_LENGTH = 64;
/** An IPv6 address with a zone. */
const ADDRESS_LENGTH_MAX = 100;

/**
 * An address or CIDR in canonical form: host bits zeroed, IPv4-mapped IPv6 as IPv4. Undefined if it is malformed, which
 * includes short and octal spellings of IPv4.
 */
export function canonicalRange(text: string): string | undefined {
  const range = parseRange(text);
  if (range === undefined) return undefined;
  const { network, prefixLength } = range;
  const address = prefix(network, prefixLength).toString();
  return prefixLength === MAX_PREFIX_LENGTH[network.kind()] ? address : `${address}/${prefixLength}`;
}

/** True if an address is in an address or CIDR. False if either is malformed. */
export function rangeContains(text: string, source: string): boolean {
  const range = parseRange(text);
  const address = parseAddress(source);
  if (range === undefined || address?.kind() !== range.network.kind()) return false;
  return address.match(range.network, range.prefixLength);
}

/** True if two addresses or CIDRs have an address in common. False if either is malformed. */
export function rangesOverlap(one: string, other: string): boolean {
  // Of two CIDRs that overlap, one contains the other.
  return rangeContains(one, addressIn(other)) || rangeContains(other, addressIn(one));
}

function addressIn(range: string): string {
  return range.split('/')[0] ?? '';
}

/** Addresses that reach this machine alone. */
const LOOPBACK = ['127.0.0.0/8', '::1'];

/** The addresses and names in a setting such as HOST, comma-separated. */
export function hostsIn(setting: string): string[] {
  return setting.split(',').map((host) => host.trim());
}

/** The addresses and CIDRs in a setting such as TRUSTED_PROXY_CIDRS, comma-separated. Empty entries are none. */
export function rangesIn(setting: string): string[] {
  return hostsIn(setting).filter((range) => range !== '');
}

/** True for an address or name of this machine that no other machine can reach. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || LOOPBACK.some((range) => rangeContains(range, host));
}

/** An IPv6 address in an address of the web has them. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

/** IPv6 with a zone. A trusted proxy may pass on anything. */
const SOURCE_LENGTH_MAX = 64;

/** The client's address of a request; empty for what can be none. */
export function sourceOf({ ip = '' }: { readonly ip?: string | undefined }): string {
  return ip.length <= SOURCE_LENGTH_MAX ? ip : '';
}

/**
 * The client's address of a request without Express, as Express reads it: the last one in `X-Forwarded-For` that is no
 * trusted proxy's, if a trusted proxy sent it; otherwise the peer's.
 */
export function clientAddress({ socket, headers }: IncomingMessage, trustedProxies: readonly string[]): string {
  const isTrusted = (address: string) => trustedProxies.some((range) => rangeContains(range, address));
  let address = socket.remoteAddress ?? '';
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
  while (forwarded.length > 0 && isTrusted(address)) address = forwarded.pop()?.trim() || address;
  return sourceOf({ ip: address });
}

/** The source of a request: an IPv4 address, or an IPv6 network of 64 bits. */
export function sourceKey(source: string): string {
  const address = parseAddress(source);
  if (address === undefined) return source;
  return address.kind() === 'ipv6' ? prefix(address, SOURCE_PREFIX_LENGTH).toString() : address.toString();
}

function parseRange(text: string): Range | undefined {
  const [addressText = '', prefixText, ...rest] = text.split('/');
  const given = parseGiven(addressText);
  if (given === undefined || rest.length > 0) return undefined;
  const prefixLength = prefixText === undefined ? MAX_PREFIX_LENGTH[given.kind()] : parsePrefixLength(prefixText);
  if (prefixLength === undefined || prefixLength > MAX_PREFIX_LENGTH[given.kind()]) return undefined;
  if (!(given instanceof ipaddr.IPv6) || !given.isIPv4MappedAddress()) return { network: given, prefixLength };
  // ::ffff:0:0/90 and wider would include addresses that are not mapped ones, which no operator means.
  if (prefixLength < MAPPED_PREFIX_LENGTH) return undefined;
  return { network: given.toIPv4Address(), prefixLength: prefixLength - MAPPED_PREFIX_LENGTH };
}

function parsePrefixLength(text: string): number | undefined {
  return /^(0|[1-9]\d{0,2})$/.test(text) ? Number(text) : undefined;
}

function parseAddress(text: string): Address | undefined {
  const given = parseGiven(text);
  return given instanceof ipaddr.IPv6 && given.isIPv4MappedAddress() ? given.toIPv4Address() : given;
}

function parseGiven(text: string): Address | undefined {
  if (text.length > ADDRESS_LENGTH_MAX) return undefined;
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  const [withoutZone = ''] = text.split('%', 1);
  return withoutZone.includes(':') && ipaddr.IPv6.isValid(withoutZone) ? ipaddr.IPv6.parse(withoutZone) : undefined;
}

function prefix(address: Address, length: number): Address {
  const bytes = address.toByteArray();
  return ipaddr.fromByteArray(
    bytes.map((byte, index) => {
      const kept = Math.min(Math.max(length - index * 8, 0), 8);
      return byte & (0xff << (8 - kept));
    }),
  );
}
