import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { canonicalRange, clientAddress, rangeContains, rangesOverlap, sourceKey } from './address-range';

describe('canonical form', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7/32', '192.0.2.7'],
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['192.0.2.129/25', '192.0.2.128/25'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:DB8:0::1', '2001:db8::1'],
    ['2001:db8:aa:bb::7/64', '2001:db8:aa:bb::/64'],
    ['::/0', '::/0'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['::ffff:10.1.2.3/104', '10.0.0.0/8'],
  ])('of %s is %s', (given, canonical) => {
    expect(canonicalRange(given)).toBe(canonical);
    expect(canonicalRange(canonical)).toBe(canonical);
  });

  it.each([
    '',
    ' ',
    'localhost',
    '10.1',
    '10',
    '0x7f.0.0.1',
    '010.0.0.1',
    '10.0.0.256',
    '10.0.0.1/33',
    '10.0.0.1/-1',
    '10.0.0.1/',
    '10.0.0.1/08',
    '10.0.0.1/8/8',
    '10.0.0.1/8.0',
    '::1/129',
    ':::1',
    '::ffff:10.0.0.0/90',
    '1.2.3.4 ',
  ])('of %j is none', (given) => {
    expect(canonicalRange(given)).toBeUndefined();
  });

  it('of any IPv4 range contains just the addresses that share its prefix', () => {
    const address = fc.nat({ max: 2 ** 32 - 1 });
    const dotted = (value: number): string => [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff).join('.');
    fc.assert(
      fc.property(address, address, fc.nat({ max: 32 }), (one, other, length) => {
        const range = canonicalRange(`${dotted(one)}/${length}`) as string;
        const mask = length === 0 ? 0 : (-1 << (32 - length)) >>> 0;
        expect(rangeContains(range, dotted(one))).toBe(true);
        expect(rangeContains(range, dotted(other))).toBe((one & mask) === (other & mask));
      }),
    );
  });
});

describe('containment', () => {
  it.each([
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['10.0.0.0/8', '::ffff:10.255.0.1', true],
    ['10.0.0.0/8', '::ffff:b00:1', false],
    ['192.0.2.7', '::ffff:192.0.2.7', true],
    ['2001:db8::/32', '2001:db8:ffff::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['fe80::/10', 'fe80::1%eth0', true],
    ['::/0', '10.0.0.1', false],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['10.0.0.0/8', 'nonsense', false],
    ['10.0.0.0/8', '', false],
    ['nonsense', '10.0.0.1', false],
  ])('of %s: %s is %s', (range, source, contained) => {
    expect(rangeContains(range, source)).toBe(contained);
  });
});

describe('overlap', () => {
  it.each([
    ['127.0.0.1/32', '127.0.0.0/8', true],
    ['0.0.0.0/0', '127.0.0.0/8', true],
    ['127.9.0.0/16', '127.0.0.0/8', true],
    ['::ffff:127.0.0.0/104', '127.0.0.0/8', true],
    ['::/0', '::1', true],
    ['10.0.0.0/8', '127.0.0.0/8', false],
    ['126.0.0.0/8', '127.0.0.0/8', false],
    ['::2', '::1', false],
    ['nonsense', '127.0.0.0/8', false],
    ['', '127.0.0.0/8', false],
  ])('of %s and %s: %s', (one, other, overlap) => {
    expect(rangesOverlap(one, other)).toBe(overlap);
    expect(rangesOverlap(other, one)).toBe(overlap);
  });
});

it('knows a sender by its IPv4 address or its IPv6 network', () => {
  expect(sourceKey('::ffff:192.0.2.7')).toBe(sourceKey('192.0.2.7'));
  expect(sourceKey('2001:db8:1:2:3::1')).toBe(sourceKey('2001:db8:1:2:ffff::9'));
  expect(sourceKey('2001:db8:1:2::1')).not.toBe(sourceKey('2001:db8:1:3::1'));
  expect(sourceKey('192.0.2.7')).not.toBe(sourceKey('192.0.2.8'));
  expect(sourceKey('unix socket')).toBe('unix socket');
});

test.each([
  ['the peer, without proxies', '192.0.2.7', undefined, '192.0.2.7'],
  ['the peer, whatever it says', '192.0.2.7', '198.51.100.1', '192.0.2.7'],
  ['what the proxy says', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['the last one that no proxy has', '10.0.0.1', '203.0.113.9, 198.51.100.1, 10.0.0.2', '198.51.100.1'],
  ['the proxy, if it says nothing', '10.0.0.1', undefined, '10.0.0.1'],
  ['the first proxy, if it says nothing but proxies', '10.0.0.1', '10.0.0.3,10.0.0.2', '10.0.0.3'],
  ['empty, for what is too long to be an address', '10.0.0.1', 'x'.repeat(65), ''],
])("a client's address is %s", (_what, remoteAddress, forwarded, address) => {
  const headers = { 'x-forwarded-for': forwarded };
  const request = { socket: { remoteAddress }, headers } as unknown as IncomingMessage;
  expect(clientAddress(request, ['10.0.0.0/8'])).toBe(address);
});
