import { ensureAccountIndexes } from '@gateway/accounts';
import { AUDIT_RETENTION, openAudit } from '@gateway/audit';
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
import { retentionOf } from '@gateway/service-kit';
import { ensureVaultIndexes } from '@gateway/vault';
import { keptLonger, keptLongerSentence } from './kept-longer';
import { readPasswords } from './passwords';
import type { Service } from './planned-indexes';
import { existingIndexes, INDEXES, plannedIndexes } from './planned-indexes';
import type { Config, Provisioning } from './settings';

/** Until the indexes of one collection are there: building one of a large collection takes long. */
export const LONGEST_BUILD_MS = 3_600_000;

/** What each user may do, and the indexes of every database. */
export async function provisionMongo(context: Omit<Provisioning, 'env'>): Promise<void> {
  const { config, print } = context;
  if (config.MONGODB_ACCESS === 'apply') print(await access(config));
  const { MONGODB_URI: uri, DATABASE_PREFIX: databasePrefix } = config;
  const database = databasePrefix + services.apiEdge.database;
  const mongo = await connectMongo({ uri, database, longestCallMs: LONGEST_BUILD_MS });
  try {
    print(`indexes: ${(await ensureAllIndexes(mongo, context)).join(', ')}`);
    const longer = await leftLonger(mongo, context);
    if (longer.length > 0) print(keptLongerSentence(longer));
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
    await ensureIndexes({ config, mongo: mongo.database(databasePrefix + database), clock, logger, mayShorten: false });
    return database;
  });
  const shared = [
    ensureVaultIndexes(storage).then(() => 'vault'),
    audit.ensureIndexes(retentionOf(config.AUDIT_RETENTION_DAYS, AUDIT_RETENTION, false)).then(() => 'audit'),
    ensureAccountIndexes(storage).then(() => 'accounts'),
  ];
  return Promise.all([...own, ...shared]);
}

/** The collections whose longer time was left as it is. */
async function leftLonger(
  mongo: MongoConnection,
  { config, logger }: Pick<Provisioning, 'config' | 'logger'>,
): Promise<string[]> {
  const planned = await plannedIndexes({ config, logger, now: await databaseTime(mongo) });
  const left: string[] = [];
  for (const index of planned.filter(({ options }) => options['expireAfterSeconds'] !== undefined)) {
    const existing = await existingIndexes(mongo.database(config.DATABASE_PREFIX + index.database), index);
    left.push(...keptLonger(index, existing.get(index.name)));
  }
  return left;
}

async function access({ MONGODB_URI: uri, DATABASE_PREFIX: prefix, MONGODB_PASSWORDS_DIR }: Config): Promise<string> {
  const roles = neededRoles(prefix);
  const roleOf = new Map(
    roles.flatMap(({ name: role, users }) => users.map((user) => [user.slice(prefix.length), role] as const)),
  );
  const passwords =
    MONGODB_PASSWORDS_DIR === undefined
      ? new Map<string, string>()
      : readPasswords(MONGODB_PASSWORDS_DIR, [...roleOf.keys()]);
  await asAdministrator(uri, async (admin) => {
    for (const role of roles) await applyRole(admin, role);
    for (const [user, password] of passwords) {
      await applyUser(admin, { user: prefix + user, role: roleOf.get(user) ?? '' }, password);
    }
  });
  return `MongoDB access: ${roles.length} roles, ${passwords.size} users`;
}
