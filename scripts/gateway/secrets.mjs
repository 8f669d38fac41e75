import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { stateDirectory } from '../checkout.mjs';
import { readPrivateFile, writePrivateFile } from './private-file.mjs';

const KEY_BYTES = 32;

const secretsFile = join(stateDirectory, 'secrets.json');

/** @type {Record<string, () => string>} */
const generators = {
  // `id:key,id:key`: the first one encrypts, all of them decrypt.
  VAULT_KEYS: () => `dev-1:${newKey()}`,
  VAULT_TOKEN_KEY: () => newKey(),
  JOURNAL_HMAC_KEY: () => newKey(),
  THREEDS_PROOF_KEY: () => newKey(),
  // The key with which directory servers sign their result messages; here the simulator plays them.
  DS_MESSAGE_KEY: () => newKey(),
};

/**
 * The secrets of this checkout, created once: data of earlier starts can only be read with the same ones.
 * @returns {Record<string, string>}
 */
export function developmentSecrets() {
  const kept = readPrivateFile(secretsFile) ?? {};
  const missing = Object.entries(generators).filter(([name]) => kept[name] === undefined);
  if (missing.length === 0) return kept;
  const secrets = { ...kept, ...Object.fromEntries(missing.map(([name, generate]) => [name, generate()])) };
  writePrivateFile(secretsFile, secrets);
  return secrets;
}

function newKey() {
  return randomBytes(KEY_BYTES).toString('base64');
}
