import { ConfigurationError } from '@gateway/service-kit';
import { createAddressGuard } from './address-guard';

const guard = createAddressGuard('');

describe('addresses that may be dialled', () => {
  it.each(['8.8.8.8', '93.184.216.34', '2606:4700::1111', '2a00:1450:4001::1', '64:ff9b::808:808', '::ffff:8.8.8.8'])(
    '%s',
    (address) => {
      expect(guard(address)).toBeUndefined();
    },
  );
});

describe('addresses that may not', () => {
  it.each([
    ['loopback', '127.0.0.1'],
    ['loopback', '127.255.255.254'],
    ['loopback', '::1'],
    ['unspecified', '0.0.0.0'],
    ['unspecified', '0.1.2.3'],
    ['unspecified', '::'],
    ['private', '10.0.0.1'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['link-local', '169.254.1.1'],
    ['link-local', 'fe80::1'],
    ['metadata', '169.254.169.254'],
    ['metadata', '168.63.129.16'],
    ['metadata', '::ffff:168.63.129.16'],
    ['metadata', '64:ff9b::168.63.129.16'],
    ['metadata', 'fd00:ec2::254'],
    ['CGNAT', '100.64.0.1'],
    ['CGNAT', '100.127.255.255'],
    ['multicast', '224.0.0.1'],
    ['multicast', 'ff02::1'],
    ['broadcast', '255.255.255.255'],
    ['reserved', '240.0.0.1'],
    ['reserved', '192.0.2.1'],
    ['reserved', '198.18.0.1'],
    ['reserved', '2001:db8::1'],
    ['unique-local', 'fc00::1'],
    ['unique-local', 'fdff::1'],
    ['site-local', 'fec0::1'],
    ['outside the internet', '4000::1'],
    ['outside the internet', '1::1'],
    ['mapped', '::ffff:127.0.0.1'],
    ['mapped', '::ffff:7f00:1'],
    ['mapped', '::ffff:10.1.2.3'],
    ['mapped', '::ffff:169.254.169.254'],
    ['compatible', '::127.0.0.1'],
    ['compatible', '::a00:1'],
    ['translated', '::ffff:0:127.0.0.1'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['NAT64', '64:ff9b::10.0.0.1'],
    ['local NAT64', '64:ff9b:1::808:808'],
    ['6to4', '2002:7f00:1::1'],
    ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['no address', 'localhost'],
    ['no address', ''],
  ])('%s: %s', (_kind, address) => {
    expect(guard(address)).toBeDefined();
  });
});

describe('opened ranges', () => {
  const opened = createAddressGuard(' 127.0.0.0/8, ::1/128,fd12::/16');
  it.each(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', 'fd12::5', '8.8.8.8'])('let %s in', (address) => {
    expect(opened(address)).toBeUndefined();
  });
  it.each(['128.0.0.0'])('are not needed for %s', (address) => {
    expect(opened(address)).toBeUndefined();
  });
  it.each(['10.0.0.1', '::2', 'fd13::5', '169.254.169.254', '0.0.0.0'])('keep %s out', (address) => {
    expect(opened(address)).toBeDefined();
  });
  it.each(['127.0.0.0', '127.0.0.0/33', 'localhost/8', '::1/129'])('are not "%s"', (text) => {
    expect(() => createAddressGuard(`10.0.0.0/8,${text}`)).toThrow(ConfigurationError);
    expect(() => createAddressGuard(`10.0.0.0/8,${text}`)).toThrow(text);
  });
});
