import { proxiesAreFew, publicPortHasTls } from './production';

describe('a public port', () => {
  const port = { HOST: '0.0.0.0', TRUSTED_PROXY_CIDRS: '' };
  const tls = { TLS_CERT_FILE: '/tls/cert.pem', TLS_KEY_FILE: '/tls/key.pem' };

  test.each([
    ['every interface', port],
    ['every interface, IPv6', { ...port, HOST: '::' }],
    ['one address', { ...port, HOST: '10.0.0.5' }],
    ['a name', { ...port, HOST: 'gateway.example' }],
    ['one address of several', { ...port, HOST: '127.0.0.1,10.0.0.5' }],
    ['a certificate without its key', { ...port, TLS_CERT_FILE: tls.TLS_CERT_FILE }],
    ['a list of no proxies', { ...port, TRUSTED_PROXY_CIDRS: ' , ' }],
    ['a key without its certificate', { ...port, TLS_KEY_FILE: tls.TLS_KEY_FILE }],
  ])('needs TLS: %s', (_name, config) => {
    expect(publicPortHasTls(config)).toMatch(/^HOST is \S+, where anyone can connect without TLS: .+\.$/);
  });

  test.each([
    ['its own TLS', { ...port, ...tls }],
    ['a proxy', { ...port, TRUSTED_PROXY_CIDRS: '10.0.0.0/8' }],
    ['loopback', { ...port, HOST: '127.0.0.1' }],
    ['loopback, IPv6', { ...port, HOST: '::1' }],
    ['loopback by name', { ...port, HOST: 'localhost' }],
    ['loopback twice', { ...port, HOST: '127.0.0.1,::1' }],
  ])('is safe with %s', (_name, config) => {
    expect(publicPortHasTls(config)).toBeUndefined();
  });
});

test.each(['0.0.0.0/0', '::/0', '10.0.0.0/8, 0.0.0.0/1', '128.0.0.0/1', '::ffff:0:0/96', '2000::/3', 'loopback', 'x'])(
  'no network of proxies is %s',
  (TRUSTED_PROXY_CIDRS) => {
    expect(proxiesAreFew({ TRUSTED_PROXY_CIDRS })).toMatch(
      /^TRUSTED_PROXY_CIDRS has .+, which is no range or too wide/,
    );
  },
);

test.each(['', ',', '10.0.0.0/8', '192.0.2.7, 2001:db8::/32', 'fd00::/8', '172.16.0.0/12'])(
  'a network of proxies may be "%s"',
  (TRUSTED_PROXY_CIDRS) => expect(proxiesAreFew({ TRUSTED_PROXY_CIDRS })).toBeUndefined(),
);
