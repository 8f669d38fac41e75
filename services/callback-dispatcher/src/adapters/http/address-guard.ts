import ipaddr from 'ipaddr.js';
import { ConfigurationError } from '@gateway/service-kit';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/** The reason to refuse an IP address; undefined if it is allowed. */
export type AddressGuard = (address: string) => string | undefined;

/** RFC 4291, 2.4: unicast addresses of the internet. Others reach no host, or one inside our network. */
const GLOBAL_UNICAST: Range = [ipaddr.IPv6.parse('2000::'), 3];
/** RFC 6052, 2.1: how a network without IPv4 reaches an IPv4 address, which is the one to check. */
const NAT64: Range = [ipaddr.IPv6.parse('64:ff9b::'), 96];
/** Reaches the host of a virtual machine in Azure, for its agents: public by range, but not on the internet. */
const AZURE_HOST: Range = [ipaddr.IPv4.parse('168.63.129.16'), 32];
const IPV4_BYTES = 4;

/**
 * decisions.md, section 6: only unicast addresses of the internet are allowed. Loopback, private, link-local (cloud
 * metadata), CGNAT, multicast, reserved and similar addresses are refused, also in their IPv6 forms. `allowedCidrs`,
 * comma-separated, allows ranges. Throws a ConfigurationError if one is malformed.
 */
export function createAddressGuard(allowedCidrs: string): AddressGuard {
  const allowed = parseRanges(allowedCidrs);
  return (text) => {
    if (!ipaddr.isValid(text)) return 'is no IP address';
    const address = effective(ipaddr.parse(text));
    if (allowed.some((range) => contains(range, address))) return undefined;
    const kind = address.range();
    if (contains(AZURE_HOST, address)) return 'is refused (metadata)';
    if (kind !== 'unicast') return `is refused (${kind})`;
    return address.kind() === 'ipv6' && !contains(GLOBAL_UNICAST, address) ? 'is refused (reserved)' : undefined;
  };
}

/** The address where a connection ends: the embedded IPv4 address, if there is one. */
function effective(address: Address): Address {
  if (!(address instanceof ipaddr.IPv6)) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  return contains(NAT64, address) ? ipaddr.fromByteArray(address.toByteArray().slice(-IPV4_BYTES)) : address;
}

function contains([network, prefixLength]: Range, address: Address): boolean {
  return network.kind() === address.kind() && address.match(network, prefixLength);
}

function parseRanges(text: string): Range[] {
  const parts = text.split(',').map((part) => part.trim());
  return parts.filter((part) => part !== '').map(parseRange);
}

function parseRange(text: string): Range {
  try {
    return ipaddr.parseCIDR(text);
  } catch {
    throw new ConfigurationError(`Configuration: CALLBACK_ALLOW_CIDRS has "${text}", which is not a CIDR.`);
  }
}
