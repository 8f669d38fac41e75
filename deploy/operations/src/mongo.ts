import { ensureIndexes as apiEdge } from '@gateway/api-edge/dist/indexes';
import { openAudit } from '@gateway/audit';
import { ensureIndexes as authExpiry } from '@gateway/auth-expiry/dist/indexes';
import { ensureIndexes as callbackDispatcher } from '@gateway/callback-dispatcher/dist/indexes';
import { ensureIndexes as cardProcessing } from '@gateway/card-processing/dist/indexes';
import type { ServiceDeclaration } from '@gateway/contracts';
import { services } from '@gateway/contracts';
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
export async function provisionMongo({ config, logger, print }: Omit<Provisioning, 'env'>): Promise<void> {
  if (config.MONGODB_ACCESS === 'apply') print(await access(config));
  const { MONGODB_URI: uri, DATABASE_PREFIX: databasePrefix } = config;
  const own = Object.entries(INDEXES).map(async ([service, ensureIndexes]) => {
    const { database } = services[service as Service] as ServiceDeclaration;
    const mongo = await connectMongo({ uri, database: databasePrefix + database });
    try {
      const now = await databaseTime(mongo);
      await ensureIndexes({ config, mongo, clock: clockAt(() => now), logger });
    } finally {
      await mongo.close();
    }
    return database;
  });
  const shared = [
    ensureVaultIndexes({ uri, databasePrefix, logger }).then(() => 'vault'),
    ensureAuditIndexes({ config, logger }).then(() => 'audit'),
  ];
  print(`indexes: ${(await Promise.all([...own, ...shared])).join(', ')}`);
}

async function ensureAuditIndexes({ config, logger }: Pick<Provisioning, 'config' | 'logger'>): Promise<void> {
  const audit = await openAudit({ uri: config.MONGODB_URI, databasePrefix: config.DATABASE_PREFIX, logger });
  try {
    await audit.ensureIndexes(config.AUDIT_RETENTION_DAYS);
  } finally {
    await audit.close();
  }
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
