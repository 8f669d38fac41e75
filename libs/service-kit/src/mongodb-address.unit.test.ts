import { countWork } from '@gateway/testing';
import { loadConfig, mongoSchema } from './config';
import { hasPlainCredentials, NOT_ENCODED } from './mongodb-address';

const SERVERS = ['db1', 'db1:27017,db2:27018', '[::1]:27017', 'db1/admin', '%2Ftmp%2Fmongodb-27017.sock'];
const OPTIONS = ['', '/?tls=true&replicaSet=rs0', '?tls=true', '/?appName=a@b&tlsCAFile=/etc/ca.pem'];
const PLAIN = ['p@w', 'p/w', 'p:w', 'p?w', 'p#w', 'p%w', 'p[w', '1/w', '27017?w', 'p@db1:27017/w', '@', '/', 'p%4'];

const addresses = (credentials: string) =>
  ['mongodb', 'mongodb+srv'].flatMap((scheme) =>
    SERVERS.flatMap((servers) =>
      OPTIONS.filter((options) => !(servers.includes('/admin') && options.startsWith('/'))).map(
        (options) => `${scheme}://${credentials}${servers}${options}`,
      ),
    ),
  );

test.each(PLAIN)('a password %s is to be percent-encoded, whatever follows', (password) => {
  for (const uri of addresses(`payout:${password}@`)) expect([uri, hasPlainCredentials(uri)]).toEqual([uri, true]);
});

test.each(PLAIN)('a password %s is right when it is percent-encoded, as user and password', (plain) => {
  const encoded = encodeURIComponent(plain);
  for (const uri of addresses(`${encoded}:${encoded}@`)) expect([uri, hasPlainCredentials(uri)]).toEqual([uri, false]);
});

test.each(['', 'payout:pw@', 'payout@', '@', ':pw@', "payout:-._~!$&'()*+,;=@"])(
  'credentials %s are right',
  (credentials) => {
    for (const uri of addresses(credentials)) expect([uri, hasPlainCredentials(uri)]).toEqual([uri, false]);
  },
);

test.each(['', 'mongodb://', 'http://a:b@c@d/', 'mongodb://no host/?x'])('%s is for the driver to refuse', (uri) => {
  expect(hasPlainCredentials(uri)).toBe(false);
});

test('every profile refuses it by the setting, without the address', () => {
  for (const NODE_ENV of ['development', 'production'])
    expect(() => loadConfig(mongoSchema, { NODE_ENV, MONGODB_URI: 'mongodb://payout:s3cr/t@db1/?tls=true' })).toThrow(
      new Error(`Configuration: MONGODB_URI ${NOT_ENCODED}.`),
    );
});

test('the work for an address grows with its length alone', async () => {
  const work = (hosts: number) => countWork(() => hasPlainCredentials(`mongodb://${'a:1,'.repeat(hosts)}@`));
  const once = await work(4_000);
  expect(await work(8_000)).toBeLessThanOrEqual(2 * once);
  expect(await work(16_000)).toBeLessThanOrEqual(4 * once);
});
