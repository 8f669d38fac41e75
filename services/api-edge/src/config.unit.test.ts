import { accountKeySettings, cardReaderSettings, newVaultKeys, vaultReaderSettings } from '@gateway/vault';
import { loadConfig } from '@gateway/service-kit';
import { settings } from './config';

const keys = newVaultKeys();
const ENV = {
  ...keys,
  KAFKA_BROKERS: 'k:1',
  MONGODB_URI: 'mongodb://m',
  CARD_QUERY_URL: 'http://c',
  PAYOUT_QUERY_URL: 'http://p',
  CALLBACK_ADMIN_URL: 'http://k',
  JOURNAL_HMAC_KEY: Buffer.alloc(32).toString('base64'),
};

test('takes no key that opens a card, a CVV or a secret that signs, even if it is in the environment', () => {
  const config = loadConfig(settings, ENV);
  const { CARD_KEYS, CVV_KEYS, CARD_HASH_KEY, SIGNING_KEYS, SIGNING_PUBLIC_KEY, ...held } = keys;
  expect(config).toMatchObject(held);
  const written = JSON.stringify(config);
  for (const key of [CARD_KEYS, CVV_KEYS, CARD_HASH_KEY, SIGNING_KEYS, SIGNING_PUBLIC_KEY])
    expect(written).not.toContain(key.split(':')[1]);
});

test('shares only the token keys with the readers of the vault', () => {
  const readers = Object.keys({ ...cardReaderSettings, ...vaultReaderSettings });
  // Everyone with keys says where they come from.
  const shared = readers.filter((name) => name in settings.properties && !(name in accountKeySettings));
  expect(shared).toEqual(['TOKEN_KEYS']);
  expect(Object.keys(settings.properties)).toEqual(expect.arrayContaining(Object.keys(accountKeySettings)));
});
