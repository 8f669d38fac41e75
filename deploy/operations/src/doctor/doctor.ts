import { createKafka, kafkaConnection } from '@gateway/messaging';
import type { MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import type { Environment, Print } from '@gateway/service-kit';
import { ConfigurationError, createLogger, explanationOf, runCommandLine } from '@gateway/service-kit';
import type { Check, Deployment, Diagnosis } from './check';
import { accessCheck } from './checks/access';
import { certificatesCheck } from './checks/certificates';
import { clocksCheck } from './checks/clocks';
import { groupsCheck } from './checks/groups';
import { identitiesCheck } from './checks/identities';
import { indexesCheck } from './checks/indexes';
import { COUNT_TIMEOUT_MS, keysCheck } from './checks/keys';
import { proxyCheck } from './checks/proxy';
import { recoveryCheck } from './checks/recovery';
import { servicesCheck } from './checks/services';
import { topicsCheck } from './checks/topics';
import { versionsCheck } from './checks/versions';
import { askReplicas } from './replicas';
import type { Config } from './settings';
import { readConfig } from './settings';

const USAGE = `usage: npm run doctor [-- --json]
Looks at a deployment from outside, and says what to fix. Changes nothing. Exits 0 if all is well, else 1.
Uses the settings of the last npm start, or those of npm run provision, OPS_URLS, IDENTITY_TOKEN, CALLERS_FILE,
INTERNAL_TLS_CA_FILE, SIGNING_PUBLIC_KEY, PUBLIC_BASE_URL and THREEDS_PUBLIC_URL.`;

const CHECKS: readonly Check[] = [
  ...[servicesCheck, recoveryCheck, versionsCheck, clocksCheck, groupsCheck, topicsCheck, accessCheck, indexesCheck],
  ...[keysCheck, certificatesCheck, identitiesCheck, proxyCheck],
];

/** Runs all checks. @returns the exit code: 0, 1 if there is something to fix, 2 for wrong usage or settings */
export async function runDoctor(args: readonly string[], env: Environment, print: Print): Promise<number> {
  const [option, ...rest] = args;
  if (rest.length > 0 || (option !== undefined && option !== '--json')) {
    print(USAGE);
    return option === 'help' ? 0 : 2;
  }
  try {
    const results = await examine(readConfig(env), env);
    if (option === '--json') print(JSON.stringify(Object.fromEntries(results), undefined, 2));
    else for (const line of report(results)) print(line);
    return results.some(([, { faults }]) => faults.length > 0) ? 1 : 0;
  } catch (error) {
    print(`doctor failed: ${explanationOf(error)}`);
    return error instanceof ConfigurationError ? 2 : 1;
  }
}

/** By check, in order. Each check looks even if an earlier one could not. */
async function examine(config: Config, env: Environment): Promise<[name: string, Diagnosis][]> {
  const opened = new Map<string, Promise<MongoConnection>>();
  const { MONGODB_URI: uri, DATABASE_PREFIX: prefix, OPS_URLS: urls } = config;
  const trust = { identityToken: config.IDENTITY_TOKEN, caFile: config.INTERNAL_TLS_CA_FILE };
  const database = (name: string): Promise<MongoConnection> => {
    const at = { uri, database: prefix + name, longestCallMs: COUNT_TIMEOUT_MS };
    const connection = opened.get(name) ?? connectMongo(at);
    opened.set(name, connection);
    return connection;
  };
  const logger = createLogger({ service: 'doctor', level: 'silent' });
  const deployment: Deployment = {
    config,
    env,
    kafka: createKafka({ ...kafkaConnection(config), clientId: 'doctor', logger }),
    database,
    replicas: urls === undefined ? [] : await askReplicas(urls, trust),
    logger,
    now: Date.now(),
  };
  const results: [string, Diagnosis][] = [];
  try {
    for (const check of CHECKS) results.push([check.name, await examineOne(check, deployment)]);
  } finally {
    for (const connection of opened.values()) await connection.then((one) => one.close()).catch(() => undefined);
  }
  return results;
}

async function examineOne(check: Check, deployment: Deployment): Promise<Diagnosis> {
  try {
    return await check.examine(deployment);
  } catch (error) {
    return { faults: [`This could not be checked: ${explanationOf(error)}`], fine: '' };
  }
}

function report(results: readonly (readonly [string, Diagnosis])[]): string[] {
  const width = Math.max(...results.map(([name]) => name.length));
  return results.flatMap(([name, { faults, fine }]) =>
    faults.length === 0
      ? [`ok    ${name.padEnd(width)}  ${fine}`]
      : faults.map((fault) => `FIX   ${name.padEnd(width)}  ${fault}`),
  );
}

if (require.main === module) runCommandLine(runDoctor);
