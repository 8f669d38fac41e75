import { ConfigurationError, loadConfig } from '@gateway/service-kit';
import { settings } from '../config';
import { holdOfScheme, parseHolds } from './holds';

const rules = parseHolds(
  'visa:MIT=432000,visa:CIT=604800,mastercard=1000,mastercard:MIT=2000,american-express=3000,maestro:MIT=4000',
);

test.each([
  ['Visa', 'MIT', 432_000],
  ['Visa', 'CIT-initial', 604_800],
  ['Visa', 'CIT-subsequent', 604_800],
  ['Visa', undefined, 604_800],
  ['Mastercard', 'MIT', 2_000],
  ['Mastercard', undefined, 1_000],
  ['American Express', 'MIT', 3_000],
  ['Maestro', 'MIT', 4_000],
  ['Maestro', 'CIT-initial', undefined],
  ['JCB', undefined, undefined],
])('%s, %s is held %s s', (brand, cofType, seconds) => {
  expect(holdOfScheme(rules, { brand, cofType })).toBe(seconds);
});

test('without a setting there is no rule', () => {
  expect(parseHolds('')).toEqual([]);
});

test('two rules for the same cards are refused', () => {
  expect(() => parseHolds('visa=1,visa:MIT=2,visa=3')).toThrow('AUTH_HOLDS has two rules for the same cards.');
});

describe('the setting', () => {
  const others = {
    KAFKA_BROKERS: 'localhost:9092',
    MONGODB_URI: 'mongodb://localhost',
    VAULT_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
    VAULT_TOKEN_KEY: Buffer.alloc(32).toString('base64'),
  };
  test.each(['', 'visa=1', 'visa:MIT=432000,visa:CIT=604800,mastercard=604800', 'diners-club:CIT=9999999'])(
    'takes "%s"',
    (text) => expect(loadConfig(settings, { ...others, AUTH_HOLDS: text }).AUTH_HOLDS).toBe(text),
  );
  test.each([
    'visa',
    'visa=0',
    'visa=',
    'vias=1',
    'visa:=1',
    'visa:cit=1',
    'visa=1,',
    'visa=1;jcb=1',
    'visa=1.5',
    'visa=10000000',
  ])('refuses "%s"', (text) =>
    expect(() => loadConfig(settings, { ...others, AUTH_HOLDS: text })).toThrow(ConfigurationError),
  );
});
