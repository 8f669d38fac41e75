import { ensureAccountIndexes } from '@gateway/accounts';
import { ensureIndexes as apiEdge } from '@gateway/api-edge/dist/indexes';
import { openAudit } from '@gateway/audit';
import { ensureIndexes as authExpiry } from '@gateway/auth-expiry/dist/indexes';
import { ensureIndexes as callbackDispatcher } from '@gateway/callback-dispatcher/dist/indexes';
import { ensureIndexes as cardProcessing } from '@gateway/card-processing/dist/indexes';
import { services } from '@gateway/contracts';
import type { MongoConnection } from '@gateway/mongo';
import {
  applyRole,
  applyUser,
  asAdministrator,
  clockAt,
  connectMongo,
  databaseTime,
  neededRoles,
} from '@gateway/mongo';
import { ensureIndexes as payout } from '@gateway/payout/dist/indexes';
import type { IndexContext } from '@gateway/service-frame';
import { ensureIndexes as threeds } from '@gateway/threeds/dist/indexes';
import { ensureVaultIndexes } from '@gateway/vault';
import { readPasswords } from './passwords';
import type { Config, Provisioning } from './settings';

export type Service = keyof typeof services;

/** Until the indexes of one collection are there: building one of a large collection takes long. */
export const LONGEST_BUILD_MS = 3_600_000;

/** Of each service's own database. The simulator makes its own: no production has it. */
export const INDEXES: Record<Exclude<Service, 'simulator'>, (context: IndexContext<Config>) => Promise<void>> = {
  apiEdge,
  cardProcessing,
  threeds,
  payout,
  authExpiry,
  callbackDispatcher,
};

/** What each user may do, and the indexes of every database. */
export async function provisionMongo(context: Omit<Provisioning, 'env'>): Promise<void> {
  const { config, print } = context;
  if (config.MONGODB_ACCESS === 'apply') print(await access(config));
  const { MONGODB_URI: uri, DATABASE_PREFIX: databasePrefix } = config;
  const database = databasePrefix + services.apiEdge.database;
  const mongo = await connectMongo({ uri, database, longestCallMs: LONGEST_BUILD_MS });
  try {
    print(`indexes: ${(await ensureAllIndexes(mongo, context)).join(', ')}`);
  } finally {
    await mongo.close();
  }
}

/** @returns the databases, without prefix */
async function ensureAllIndexes(
  mongo: MongoConnection,
  { config, logger }: Pick<Provisioning, 'config' | 'logger'>,
): Promise<string[]> {
  const { MONGODB_URI: uri, DATABASE_PREFIX: databasePrefix } = config;
  const now = await databaseTime(mongo);
  const clock = clockAt(() => now);
  const storage = { uri, databasePrefix, mongo, logger };
  const audit = await openAudit(storage);
  const own = Object.entries(INDEXES).map(async ([service, ensureIndexes]) => {
    const { database } = services[service as Service];
    await ensureIndexes({ config, mongo: mongo.database(databasePrefix + database), clock, logger });
    return database;
  });
  const shared = [
    ensureVaultIndexes(storage).then(() => 'vault'),
    audit.ensureIndexes(config.AUDIT_RETENTION_DAYS).then(() => 'audit'),
    ensureAccountIndexes(storage).then(() => 'accounts'),
  ];
  return Promise.all([...own, ...shared]);
}

async function access({ MONGODB_URI: uri, DATABASE_PREFIX: prefix, MONGODB_PASSWORDS_DIR }: Config): Promise<string> {
  const roles = neededRoles(prefix);
  const users = roles.map(({ name }) => name.slice(prefix.length));
  const passwords =
    MONGODB_PASSWORDS_DIR === undefined ? new Map<string, string>() : readPasswords(MONGODB_PASSWORDS_DIR, users);
  await asAdministrator(uri, async (admin) => {
    for (const role of roles) await applyRole(admin, role);
    for (const [user, password] of passwords) await applyUser(admin, prefix + user, password);
  });
  return `MongoDB access: ${roles.length} roles, ${passwords.size} users`;
}
