const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const IPV6_GROUP = /^[0-9a-f]{1,4}$/i;
const IPV6_GROUPS = 8;
/** An IPv6 address of six groups and an IPv4 address, written in full. */
const MAX_LENGTH = 45;

/** An IPv4 address in dotted decimal without leading zeros, or an IPv6 address as in RFC 4291, without a zone. */
export function isIpAddress(text: string): boolean {
  return text.length <= MAX_LENGTH && (IPV4.test(text) || isIpv6(text));
}

function isIpv6(text: string): boolean {
  const sides = text.split('::');
  if (sides.length > 2) return false;
  const last = sides.length - 1;
  const counts = sides.map((side, i) => (side === '' ? 0 : countGroups(side.split(':'), i === last)));
  const groups = counts.reduce((sum, count) => sum + count, 0);
  // `::` means at least one group of zeros.
  return sides.length === 2 ? groups < IPV6_GROUPS : groups === IPV6_GROUPS;
}

/** NaN if a group is invalid. An IPv4 address at the end counts as two groups. */
function countGroups(groups: readonly string[], atEnd: boolean): number {
  const tail = groups.at(-1) ?? '';
  const withIpv4 = atEnd && IPV4.test(tail);
  const plain = withIpv4 ? groups.slice(0, -1) : groups;
  if (!plain.every((group) => IPV6_GROUP.test(group))) return Number.NaN;
  return groups.length + (withIpv4 ? 1 : 0);
}
