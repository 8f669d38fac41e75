import { randomBytes } from 'node:crypto';
import { loadConfig } from '@gateway/service-kit';
import { productionRules, settings } from './config';

const PASSWORD = randomBytes(16).toString('hex');
const ENV = {
  NODE_ENV: 'production',
  KAFKA_BROKERS: 'localhost:9092',
  KAFKA_USER: 'callback-dispatcher',
  KAFKA_PASSWORD: PASSWORD,
  MONGODB_URI: `mongodb://user:${PASSWORD}@localhost`,
  CALLERS_FILE: 'callers.json',
  IDENTITY_TOKEN: 'i'.repeat(32),
  ACCOUNT_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  SIGNING_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  CARD_QUERY_URL: 'https://cards',
  PAYOUT_QUERY_URL: 'https://payouts',
  INTERNAL_TLS_CERT_FILE: '/certificate',
  INTERNAL_TLS_KEY_FILE: '/key',
};
const load = (CALLBACK_ALLOW_CIDRS: string) => loadConfig(settings, { ...ENV, CALLBACK_ALLOW_CIDRS }, productionRules);

test.each([
  ['127.0.0.0/8', '127.0.0.0/8'],
  ['10.0.0.0/8, 127.0.0.1/32,::1/128', '127.0.0.1/32, ::1/128'],
  ['0.0.0.0/0', '0.0.0.0/0'],
  ['::/0', '::/0'],
  ['169.254.169.254/32', '169.254.169.254/32'],
  ['0.0.0.0/32', '0.0.0.0/32'],
])('in production callbacks to this machine are refused: %s', (allowed, named) => {
  expect(() => load(allowed)).toThrow(
    `CALLBACK_ALLOW_CIDRS has ${named}, so that callbacks reach this machine itself.`,
  );
});

test.each(['', '10.0.0.0/8', '10.0.0.0/8,fd12::/16'])(
  'in production a private network may be opened: "%s"',
  (allowed) => {
    expect(load(allowed)).toMatchObject({ CALLBACK_ALLOW_CIDRS: allowed });
  },
);
