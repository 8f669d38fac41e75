import type { ClockRecord } from '@gateway/accounts';
import { CLOCKS, createSandboxClocks } from '@gateway/accounts';
import { ensureIndexes as apiEdge } from '@gateway/api-edge/dist/indexes';
import type { StoredEntry } from '@gateway/audit';
import { AUDIT_RETENTION, createAuditLog } from '@gateway/audit';
import { ensureIndexes as authExpiry } from '@gateway/auth-expiry/dist/indexes';
import { ensureIndexes as callbackDispatcher } from '@gateway/callback-dispatcher/dist/indexes';
import { ensureIndexes as cardProcessing } from '@gateway/card-processing/dist/indexes';
import type { ServiceDeclaration } from '@gateway/contracts';
import { services } from '@gateway/contracts';
import type { Collection, Document, MongoConnection } from '@gateway/mongo';
import { clockAt, indexesOf } from '@gateway/mongo';
import { ensureIndexes as payout } from '@gateway/payout/dist/indexes';
import type { IndexContext } from '@gateway/service-frame';
import type { Logger } from '@gateway/service-kit';
import { retentionOf } from '@gateway/service-kit';
import { ensureIndexes as threeds } from '@gateway/threeds/dist/indexes';
import { ensureCardIndexes, ensureCvvIndexes, ensureNumberIndexes } from '@gateway/vault';
import type { DeploymentConfig } from './settings';

export type Service = keyof typeof services;

/** Of each service's own database. The simulator makes its own: no production has it. */
export const INDEXES: Record<
  Exclude<Service, 'simulator'>,
  (context: IndexContext<DeploymentConfig>) => Promise<void>
> = {
  apiEdge,
  cardProcessing,
  threeds,
  payout,
  authExpiry,
  callbackDispatcher,
};

export interface PlannedIndex {
  /** Without prefix. */
  readonly database: string;
  readonly collection: string;
  readonly name: string;
  readonly key: Document;
  readonly options: Document;
}

/**
 * The indexes that services make at their start. They are noted, not made: the services' own functions run on
 * collections that only remember what is asked of them. So there is no second list that could drift.
 */
export async function plannedIndexes({
  config,
  logger,
  now,
}: {
  config: DeploymentConfig;
  logger: Logger;
  now: number;
}): Promise<PlannedIndex[]> {
  const planned: PlannedIndex[] = [];
  const clock = clockAt(() => now);
  for (const [service, ensureIndexes] of Object.entries(INDEXES)) {
    const { database } = services[service as Service] as ServiceDeclaration;
    await ensureIndexes({ config, mongo: remembering(database, planned), clock, logger });
  }
  const vault = remembering('vault', planned);
  await ensureCardIndexes(vault.collection('cards'));
  await ensureCvvIndexes(vault.collection('cvvs'));
  await ensureNumberIndexes(vault.collection('numbers'));
  const clocks = remembering('accounts', planned).collection<ClockRecord>(CLOCKS);
  await createSandboxClocks(clocks, clock.now).ensureIndexes();
  const entries = remembering('audit', planned).collection<StoredEntry>('entries');
  const audit = createAuditLog({ collection: entries, databaseUser: undefined, now: clock.now, logger });
  await audit.ensureIndexes(retentionOf(config.AUDIT_RETENTION_DAYS, AUDIT_RETENTION));
  return planned;
}

/** The indexes that the collection of that one has, by name. */
export async function existingIndexes(
  connection: MongoConnection,
  { collection }: PlannedIndex,
): Promise<Map<string, Document>> {
  const indexes = await indexesOf(connection.collection(collection));
  return new Map(indexes.map((index) => [String(index['name']), index]));
}

/** Collections that note their indexes. All other commands succeed and do nothing. */
const nothing = async (): Promise<object> => ({});

function remembering(database: string, planned: PlannedIndex[]): MongoConnection {
  const collection = (name: string) => {
    const note = (key: Document, { name: index, ...options }: Document): void =>
      void planned.push({ database, collection: name, name: String(index), key, options });
    return {
      collectionName: name,
      createIndex: async (key: Document, options: Document) => note(key, options),
      createIndexes: async (indexes: readonly Document[]) => {
        for (const { key, ...options } of indexes) note(key as Document, options);
      },
      // With this index there, none of the older documents is looked for.
      indexes: async () => [{ name: 'expiry' }],
      updateOne: nothing,
      updateMany: nothing,
    } as unknown as Collection<never>;
  };
  return { collection } as unknown as MongoConnection;
}
