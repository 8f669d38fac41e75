import { environmentFile } from '../checkout.mjs';
import { Failure } from '../failure.mjs';
import { missingServers } from '../servers/provide-servers.mjs';
import { readPrivateFile } from './private-file.mjs';

/**
 * @returns {NodeJS.ProcessEnv} the environment of the system that `npm start` runs, without secrets; a variable
 *   that is set wins
 * @throws {Failure} before the first start, unless the servers are set
 */
export function systemEnvironment() {
  const environment = readPrivateFile(environmentFile);
  if (environment === undefined && missingServers(process.env).length > 0) {
    throw new Failure(
      'The system has never been started in this checkout: run npm start first, or set NODE_ENV, KAFKA_BROKERS, MONGODB_URI and the secrets of the system that is meant.',
    );
  }
  const set = Object.entries(process.env).filter(([, value]) => value !== undefined && value !== '');
  // A secret is given as NAME or in NAME_FILE. Whichever is set replaces both.
  const replaced = new Set(set.flatMap(([name]) => [name, `${name}_FILE`, name.replace(/_FILE$/, '')]));
  const kept = Object.entries(environment ?? {}).filter(([name]) => !replaced.has(name));
  return Object.fromEntries([...kept, ...set]);
}
