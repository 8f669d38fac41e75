import { seedDemo } from '@gateway/accounts';
import { openAudit, provisioner } from '@gateway/audit';
import type { Environment, Print } from '@gateway/service-kit';
import { ConfigurationError, createLogger, explanationOf, runCommandLine } from '@gateway/service-kit';
import { provisionKafka } from './kafka';
import { provisionMongo } from './mongo';
import { provisionSchemas } from './schema-registry';
import type { Provisioning } from './settings';
import { readConfig } from './settings';

const USAGE = `usage: npm run provision
Prepares Kafka and MongoDB for a deployment: topics, access, indexes; and the schema registry, if one is named. What is there already stays, so it can be repeated.
Run it before the services start, and before every update with the command of the new version.
docs/settings.md lists its settings.`;

/**
 * `npm run provision`: makes everything that the services need to find.
 *
 * @returns the exit code: 0, 1 if it failed, 2 for wrong usage or settings
 */
export async function runProvision(args: readonly string[], env: Environment, print: Print): Promise<number> {
  if (args.length > 0) {
    print(USAGE);
    return args[0] === 'help' ? 0 : 2;
  }
  try {
    const config = readConfig(env);
    const logger = createLogger({ service: 'provision', level: 'silent' });
    await provisionAudited({ config, env, logger, print });
    return 0;
  } catch (error) {
    print(`provision failed: ${explanationOf(error)}`);
    return error instanceof ConfigurationError ? 2 : 1;
  }
}

/** Topics, rights, users and indexes decide who may do what, so their making is on record. */
async function provisionAudited(context: Provisioning): Promise<void> {
  const { config, env, logger, print } = context;
  const { MONGODB_URI: uri, DATABASE_PREFIX: databasePrefix } = config;
  const did: string[] = [];
  const audit = await openAudit({ uri, databasePrefix, logger });
  try {
    const telling = (line: string): void => {
      did.push(line);
      print(line);
    };
    await audit.record(
      { operator: provisioner(env), action: 'installation.provision', subject: databasePrefix || 'no prefix' },
      () => provision({ ...context, print: telling }),
      () => ({ did }),
    );
  } finally {
    await audit.close();
  }
}

async function provision(context: Provisioning): Promise<void> {
  const parts = [
    provisionKafka(context),
    // After the roles and indexes: what creates the accounts may be one of the users.
    provisionMongo(context).then(() => provisionDemoAccounts(context)),
    provisionSchemas(context),
  ];
  // One does not end in the middle because the other has failed.
  await Promise.allSettled(parts);
  await Promise.all(parts);
}

async function provisionDemoAccounts({ config, env, print }: Provisioning): Promise<void> {
  if (config.DEMO_ACCOUNTS === 'no') return;
  const created = await seedDemo(env);
  print(`demo accounts: ${created.length === 0 ? 'all there' : `${created.join(', ')} created`}`);
}

if (require.main === module) runCommandLine(runProvision);
