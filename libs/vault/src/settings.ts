import { Type } from '@sinclair/typebox';
import { Secret } from '@gateway/contracts';
import { ConfigurationError } from '@gateway/service-kit';
import type { KeyRing } from './key-ring';
import { decodeBase64, readKeyRing } from './key-ring';

/** Settings of services that open the vault; they spread them into their own. */
export const vaultSettings = {
  VAULT_KEYS: Type.String({
    minLength: 1,
    description: 'Key ring `id:base64[,id:base64…]` of 32-byte keys: the first encrypts, all decrypt',
  }),
  VAULT_TOKEN_KEY: Type.String({
    minLength: 1,
    description: 'Base64 of at least 32 bytes: the key of card tokens. Never change it: every token would change',
  }),
};

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
