import { randomBytes } from 'node:crypto';
import { loadConfig } from '@gateway/service-kit';
import { settings } from './config';

const key = (bytes: number): string => randomBytes(bytes).toString('base64');
const ENV = {
  KAFKA_BROKERS: 'k:1',
  MONGODB_URI: 'mongodb://m',
  CARD_KEYS: 'k1:x',
  TOKEN_KEYS: 'k1:x',
  DIRECTORY_SERVER_URL: 'http://d',
  DS_MESSAGE_KEY: key(32),
  THREEDS_PROOF_KEY: key(32),
};
const load = (env: Record<string, string>) => loadConfig(settings, { ...ENV, ...env });

test('has these defaults', () => {
  expect(load({})).toMatchObject({
    THREEDS_PORT: 8081,
    HOST: '127.0.0.1',
    THREEDS_PUBLIC_URL: 'http://127.0.0.1:8081',
    DIRECTORY_TIMEOUT_MS: 5000,
    CHALLENGE_TIMEOUT_SECONDS: 900,
  });
});

test.each([32, 33, 34, 35, 48, 64])('a key of %i bytes is long enough', (bytes) => {
  expect(() => load({ DS_MESSAGE_KEY: key(bytes) })).not.toThrow();
});

test.each([key(16), key(30), key(31), 'x'.repeat(44) + '!', `${key(32)}\n`, key(48).slice(0, -1)])(
  'an invalid key is refused and not shown',
  (text) => {
    expect(() => load({ THREEDS_PROOF_KEY: text })).toThrow('THREEDS_PROOF_KEY');
    expect(() => load({ DS_MESSAGE_KEY: text })).not.toThrow(text);
  },
);

test.each(['http://a/', 'http://a/path', 'ftp://a', 'http://u@a', 'http://a;b', `http://${'a'.repeat(200)}`])(
  '%s is no public address',
  (text) => expect(() => load({ THREEDS_PUBLIC_URL: text })).toThrow('THREEDS_PUBLIC_URL'),
);
