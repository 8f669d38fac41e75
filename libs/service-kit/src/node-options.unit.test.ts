import { unsafeNodeOptions } from './node-options';

test.each([
  [{ NODE_TLS_REJECT_UNAUTHORIZED: '0' }, 'NODE_TLS_REJECT_UNAUTHORIZED'],
  [{ NODE_OPTIONS: '--inspect --tls-keylog=/tmp/keys' }, '--inspect, --tls-keylog'],
  [{ NODE_OPTIONS: '--max-old-space-size=512 --inspect-brk=0.0.0.0:9229' }, '--inspect-brk'],
  [{ NODE_OPTIONS: '--tls_keylog=/tmp/keys' }, '--tls_keylog'],
  [{ NODE_OPTIONS: '--tls-min-v1.0' }, '--tls-min-v1.0'],
  [{ NODE_OPTIONS: '-r /tmp/first.js' }, '-r, /tmp/first.js'],
  [{ NODE_OPTIONS: '--import=/tmp/first.mjs' }, '--import'],
  [{ NODE_OPTIONS: '"--inspect"' }, '"--inspect"'],
  [{ NODE_DEBUG: 'http,tls' }, 'NODE_DEBUG'],
  [{ SSLKEYLOGFILE: '/tmp/keys' }, 'SSLKEYLOGFILE'],
  [{ OPENSSL_CONF: '/tmp/openssl.cnf' }, 'OPENSSL_CONF'],
  [{ NODE_V8_COVERAGE: '/tmp' }, 'NODE_V8_COVERAGE'],
])('%j is refused', (env, named) => {
  expect(unsafeNodeOptions(env, [])).toBe(`Options of Node that production does not take: ${named}.`);
});

test.each(['--inspect=0.0.0.0', '--tls-cipher-list=NULL', '--allow-natives-syntax', '--env-file=.env'])(
  'Node started with %s is refused',
  (flag) => expect(unsafeNodeOptions({}, ['--expose-gc', flag])).toContain(flag.split('=')[0]),
);

test('sizes of memory and further authorities are taken', () => {
  const env = {
    NODE_ENV: 'production',
    NODE_EXTRA_CA_CERTS: '/run/ca.pem',
    NODE_OPTIONS: '--max-old-space-size=512 --max_semi_space_size 8',
    NODE_VERSION: '24',
    NODE_TLS_REJECT_UNAUTHORIZED: '',
    PATH: '/bin',
  };
  const flags = ['--heap-growing-percent=50', '--max-semi-space-size=8', '--expose-gc'];
  expect(unsafeNodeOptions(env, flags)).toBeUndefined();
});
