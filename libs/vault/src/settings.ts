import { Type } from '@sinclair/typebox';
import type { ProductionRule } from '@gateway/service-kit';
import { ownKeyText, secretText } from '@gateway/service-kit';
import { keyProviderSettings } from './key-provider';

const keys = (use: string) =>
  secretText({
    minLength: 1,
    description: `${use}: \`id:base64[,id:base64…]\` of 32 bytes each, the active one first`,
  });
const oneKey = (use: string) => ({ minLength: 1, description: `${use}: \`id:base64\` of 32 bytes` });

const tokens = {
  TOKEN_KEYS: keys('Keys of card tokens. The first one makes tokens, the others recognize older ones'),
};

/** For who checks merchants' passwords. They make verifiers, and open only what releases before ADR 0079 encrypted. */
export const accountKeySettings = {
  ...keyProviderSettings,
  ACCOUNT_KEYS: keys("Keys of the verifiers of merchants' passwords. The first makes verifiers, all of them check"),
};

/** For callback-dispatcher, which signs callbacks. */
export const signingReaderSettings = {
  ...accountKeySettings,
  SIGNING_KEYS: keys(
    'Private keys that open the secrets that sign callbacks; the public half of the first one is `SIGNING_PUBLIC_KEY`',
  ),
};

/** For command lines that give accounts their secrets. */
export const signingWriterSettings = {
  ...accountKeySettings,
  // No secret, but it may be in a file, beside ACCOUNT_KEYS.
  SIGNING_PUBLIC_KEY: secretText(oneKey('Public key that the secrets that sign callbacks are sealed for')),
  SIGNING_KEYS: Type.Optional(signingReaderSettings.SIGNING_KEYS),
};

/** For api-edge, which writes card data and cannot read it. */
export const vaultWriterSettings = {
  ...keyProviderSettings,
  CARD_PUBLIC_KEY: ownKeyText(oneKey('Public key that card data is encrypted for')),
  CVV_PUBLIC_KEY: ownKeyText(oneKey('Public key that the keys of security codes are encrypted for')),
  ...tokens,
};

/** For services that read cards. */
export const cardReaderSettings = {
  ...keyProviderSettings,
  CARD_KEYS: keys('Private keys that open card data; the public half of the first one is `CARD_PUBLIC_KEY`'),
  ...tokens,
};

/** For card-processing, which also reads security codes. */
export const vaultReaderSettings = {
  ...cardReaderSettings,
  CVV_KEYS: keys('Private keys that open security codes; the public half of the first one is `CVV_PUBLIC_KEY`'),
  CARD_HASH_KEY: keys(
    'Keys of card hashes. The first one makes those that merchants see as `secure_storage_id`; velocity rules count under all of them',
  ),
};

/** `npm start` generates keys under ids like this one. */
const DEVELOPMENT_KEY = /(^|,)\s*dev-/;
const KEY_SETTINGS = Object.keys({ ...signingWriterSettings, ...vaultWriterSettings, ...vaultReaderSettings }).filter(
  (name) => !(name in keyProviderSettings),
);

export const noDevelopmentKeys: ProductionRule<object> = (config) => {
  const found = Object.entries(config).filter(
    ([name, value]) => KEY_SETTINGS.includes(name) && typeof value === 'string' && DEVELOPMENT_KEY.test(value),
  );
  if (found.length === 0) return undefined;
  const names = found.map(([name]) => name).join(', ');
  return found.length === 1
    ? `${names} has a development key, whose id begins with dev-.`
    : `${names} have development keys, whose ids begin with dev-.`;
};
