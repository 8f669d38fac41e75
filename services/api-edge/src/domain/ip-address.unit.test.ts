import { isIP } from 'node:net';
import fc from 'fast-check';
import { isIpAddress } from './ip-address';

it.each([
  '0.0.0.0',
  '1.2.3.4',
  '255.255.255.255',
  '::',
  '::1',
  '1::',
  '2001:db8::1',
  '2001:DB8:0:0:8:800:200C:417A',
  '1:2:3:4:5:6:7::',
  '::2:3:4:5:6:7:8',
  '::ffff:192.0.2.1',
  '64:ff9b::192.0.2.33',
  '1:2:3:4:5:6:1.2.3.4',
  '1:2:3:4:5::1.2.3.4',
  'ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255',
])('%s is an address', (text) => {
  expect(isIpAddress(text)).toBe(true);
  expect(isIP(text)).not.toBe(0);
});

it.each([
  '',
  '1.2.3',
  '1.2.3.4.',
  '.1.2.3.4',
  '1.2.3.4.5',
  '1.2.3.256',
  '01.2.3.4',
  '1.2.3.-4',
  '1.2.3.4 ',
  ' 1.2.3.4',
  '1.2.3.4\n',
  '0x1.2.3.4',
  '16909060',
  '１.2.3.4',
  ':',
  ':::',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '1:2:3:4:5:6:7:8::',
  '1::2:3:4:5:6:7:8',
  '1::2::3',
  '1:2:3::4:5::6:7:8',
  ':1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:',
  '12345::',
  'g::',
  '1.2.3.4::',
  '1:2:3:4:5:6:7:1.2.3.4',
  '1:2:3:4:5:6::1.2.3.4',
  '::1.2.3',
  '[::1]',
  '::1/128',
  'localhost',
])('%j is not an address', (text) => {
  expect(isIpAddress(text)).toBe(false);
  expect(isIP(text)).toBe(0);
});

it('accepts no zone, which is only valid on its own host', () => {
  expect(isIpAddress('fe80::1%eth0')).toBe(false);
});

it('agrees with the operating system on anything that resembles an address', () => {
  const pieces = fc.constantFrom('0', '1', '255', '256', '00', 'ab', 'ffff', 'fffff', '1.2.3.4', '1.2.3', 'g', '');
  const resembling = fc
    .array(fc.tuple(pieces, fc.constantFrom(':', '::', '.')), { maxLength: 9 })
    .chain((parts) => pieces.map((last) => parts.map(([piece, joint]) => piece + joint).join('') + last));
  const address = fc.oneof(fc.ipV4(), fc.ipV6(), resembling);
  fc.assert(
    fc.property(address, (text) => isIpAddress(text) === (isIP(text) !== 0)),
    { numRuns: 3000 },
  );
});
