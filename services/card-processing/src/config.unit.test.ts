import { ConfigurationError, loadConfig } from '@gateway/service-kit';
import { holdsOf, settings } from './config';

const ENV = {
  KAFKA_BROKERS: 'localhost:9092',
  MONGODB_URI: 'mongodb://localhost',
  CARD_KEYS: 'k1:x',
  TOKEN_KEYS: 'k1:x',
  CVV_KEYS: 'k1:x',
  CARD_HASH_KEY: 'k1:x',
};
const holdsIn = (text: string) => holdsOf(loadConfig(settings, { ...ENV, AUTH_HOLDS: text }));

describe('AUTH_HOLDS', () => {
  test('is empty by default', () => {
    expect(holdsIn('')).toEqual([]);
  });
  test('has rules by scheme, or by scheme and initiator', () => {
    expect(holdsIn('visa:MIT=432000,visa=604800,diners-club:CIT=9999999')).toEqual([
      { scheme: 'visa', initiator: 'MIT', seconds: 432_000 },
      { scheme: 'visa', seconds: 604_800 },
      { scheme: 'diners-club', initiator: 'CIT', seconds: 9_999_999 },
    ]);
  });
  test('refuses two rules for the same cards', () => {
    expect(() => holdsIn('visa=1,visa:MIT=2,visa=3')).toThrow('AUTH_HOLDS has two rules for the same cards.');
  });
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
  ])('refuses "%s"', (text) => expect(() => holdsIn(text)).toThrow(ConfigurationError));
});
