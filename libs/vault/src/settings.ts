import { Secret } from '@gateway/contracts';
import type { ProductionRule } from '@gateway/service-kit';
import { ConfigurationError, secretText } from '@gateway/service-kit';
import type { KeyRing } from './key-ring';
import { decodeBase64, readKeyRing } from './key-ring';

/** Settings of services that open the vault; they spread them into their own. */
export const vaultSettings = {
  VAULT_KEYS: secretText({
    minLength: 1,
    description: 'Key ring `id:base64[,id:base64…]` of 32-byte keys: the first encrypts, all decrypt',
  }),
  VAULT_TOKEN_KEY: secretText({
    minLength: 1,
    description: 'Base64 of at least 32 bytes: the key of card tokens. Never change it: every token would change',
  }),
};

/** `npm start` generates keys under ids like this one. */
const DEVELOPMENT_KEY = /(^|,)\s*dev-/;

export const noDevelopmentKeys: ProductionRule<{ VAULT_KEYS: string }> = ({ VAULT_KEYS }) =>
  DEVELOPMENT_KEY.test(VAULT_KEYS) ? 'VAULT_KEYS has a development key, whose id begins with dev-.' : undefined;

const MIN_TOKEN_KEY_BYTES = 32;

export interface VaultKeys {
  keyRing: KeyRing;
  tokenKey: Secret<Buffer>;
}

/** Throws one ConfigurationError with the problems of both settings. */
export function readVaultKeys(settings: { VAULT_KEYS: string; VAULT_TOKEN_KEY: string }): VaultKeys {
  const { keyRing, problems } = readKeyRing(settings.VAULT_KEYS);
  const tokenKey = decodeBase64(settings.VAULT_TOKEN_KEY) ?? Buffer.alloc(0);
  if (tokenKey.length < MIN_TOKEN_KEY_BYTES) {
    problems.push(`VAULT_TOKEN_KEY is not the base64 of at least ${MIN_TOKEN_KEY_BYTES} bytes`);
  }
  if (problems.length > 0) throw new ConfigurationError(`Configuration: ${problems.join('; ')}.`);
  return { keyRing, tokenKey: new Secret(tokenKey) };
}
