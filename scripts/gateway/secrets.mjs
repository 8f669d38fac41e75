import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { stateDirectory } from '../checkout.mjs';
import { Failure } from '../failure.mjs';
import { readPrivateFile, writePrivateFile } from './private-file.mjs';

const KEY_BYTES = 32;
/** Id of the first key in each setting of the form `id:key,id:key`. Production refuses keys that are called dev-. */
const KEY_ID = 'dev-1';

const secretsFile = join(stateDirectory, 'secrets.json');

const vaultTool = 'libs/vault/dist/cli.js';
const accountsTools = ['libs/accounts/dist/cli.js', 'deploy/operations/dist/provision.js'];

/**
 * Each secret with the services and command lines that need it. No other process gets it.
 * @type {Record<string, string[]>}
 */
export const holders = {
  ACCOUNT_KEYS: ['api-edge', 'callback-dispatcher', ...accountsTools],
  SIGNING_PUBLIC_KEY: [...accountsTools, 'deploy/operations/dist/doctor/doctor.js'],
  // The command lines open secrets to seal them again, and print the public half for the audit log's anchors.
  SIGNING_KEYS: ['callback-dispatcher', 'libs/accounts/dist/cli.js', vaultTool],
  CARD_PUBLIC_KEY: ['api-edge'],
  CARD_KEYS: ['card-processing', 'threeds', vaultTool],
  CVV_PUBLIC_KEY: ['api-edge'],
  CVV_KEYS: ['card-processing'],
  TOKEN_KEYS: ['api-edge', 'card-processing', 'threeds', vaultTool],
  CARD_HASH_KEY: ['card-processing'],
  JOURNAL_HMAC_KEY: ['api-edge'],
  THREEDS_PROOF_KEY: ['threeds'],
  // The key with which directory servers sign their result messages; here the simulator plays them.
  DS_MESSAGE_KEY: ['threeds', 'simulator'],
};

/**
 * @param {string} id of each key that has one
 * @returns {Record<string, string>} a value for each of {@link holders}
 */
export function newSecrets(id) {
  const entry = (/** @type {string} */ key) => `${id}:${key}`;
  const card = newKeyPair();
  const cvv = newKeyPair();
  const signing = newKeyPair();
  return {
    ACCOUNT_KEYS: entry(newKey()),
    SIGNING_PUBLIC_KEY: entry(signing.publicKey),
    SIGNING_KEYS: entry(signing.privateKey),
    CARD_PUBLIC_KEY: entry(card.publicKey),
    CARD_KEYS: entry(card.privateKey),
    CVV_PUBLIC_KEY: entry(cvv.publicKey),
    CVV_KEYS: entry(cvv.privateKey),
    TOKEN_KEYS: entry(newKey()),
    CARD_HASH_KEY: entry(newKey()),
    JOURNAL_HMAC_KEY: newKey(),
    THREEDS_PROOF_KEY: newKey(),
    DS_MESSAGE_KEY: newKey(),
  };
}

/**
 * The secrets of this checkout, created once: data of earlier starts can only be read with the same ones.
 * @returns {Record<string, string>}
 */
export function developmentSecrets() {
  const kept = readPrivateFile(secretsFile) ?? {};
  if (kept.VAULT_KEYS !== undefined) {
    throw new Failure(
      `The data in ${stateDirectory} was written by an earlier version and cannot be read by this one. To start from nothing, remove that directory and, with Docker, the volumes payment-gateway-*.`,
    );
  }
  if (Object.keys(holders).every((name) => kept[name] !== undefined)) return kept;
  const secrets = { ...newSecrets(KEY_ID), ...kept };
  writePrivateFile(secretsFile, secrets);
  return secrets;
}

/**
 * The variables for one service or command line: those of `env` without the secrets of others, and its own secrets. A
 * secret in `env`, or in the file that `env` names, takes precedence over the one in `secrets`.
 * @param {string} holder name of a service, or path of a command line
 * @param {NodeJS.ProcessEnv} env
 * @param {Record<string, string>} secrets
 * @returns {NodeJS.ProcessEnv}
 */
export function withOwnSecrets(holder, env, secrets) {
  const rest = Object.entries(env).filter(([name]) => holders[name.replace(/_FILE$/, '')] === undefined);
  const own = Object.keys(holders).filter((name) => holders[name]?.includes(holder));
  const given = own.map((name) => {
    const file = `${name}_FILE`;
    return env[file] ? [file, env[file]] : [name, env[name] || secrets[name]];
  });
  return Object.fromEntries([...rest, ...given]);
}

/** @returns {Record<string, string>} of this checkout; empty before the first start */
export function storedSecrets() {
  return readPrivateFile(secretsFile) ?? {};
}

function newKey() {
  return randomBytes(KEY_BYTES).toString('base64');
}

/** X25519, each half as base64 of its 32 bytes. */
function newKeyPair() {
  const { x, d } = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' });
  const base64 = (/** @type {string | undefined} */ text) => Buffer.from(text ?? '', 'base64url').toString('base64');
  return { publicKey: base64(x), privateKey: base64(d) };
}
