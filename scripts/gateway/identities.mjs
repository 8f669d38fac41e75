import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stateDirectory } from '../checkout.mjs';
import { writePrivateFile, writePrivateText } from './private-file.mjs';

const TOKEN_BYTES = 32;
const directory = join(stateDirectory, 'identities');

/**
 * Those who call internal ports: services, the operator at the command lines, and a Prometheus beside the gateway. Each
 * is the only one of its kind.
 */
const callers = ['operator', 'api-edge', 'callback-dispatcher', 'metrics'];

/**
 * The identities of this checkout, created once: a token for each caller, and the list of their hashes.
 * @returns {{ callersFile: string, of: (name: string) => Record<string, string> }} `of`: the settings that give a
 *   process this identity; none for a name that calls nobody
 */
export function developmentIdentities() {
  const callersFile = join(directory, 'callers.json');
  const list = callers.map((name) => ({ name, kind: name, tokenSha256: sha256(tokenOf(name)) }));
  writePrivateFile(callersFile, list);
  return {
    callersFile,
    // A token from the environment would be a second one.
    of: (name) => (callers.includes(name) ? { IDENTITY_TOKEN: '', IDENTITY_TOKEN_FILE: fileOf(name) } : {}),
  };
}

/** @param {string} name */
function fileOf(name) {
  return join(directory, `${name}.token`);
}

/** @param {string} name */
function tokenOf(name) {
  const path = fileOf(name);
  if (!existsSync(path)) writePrivateText(path, randomBytes(TOKEN_BYTES).toString('base64url'));
  return readFileSync(path, 'utf8');
}

/** @param {string} text */
function sha256(text) {
  return createHash('sha256').update(text).digest('hex');
}
