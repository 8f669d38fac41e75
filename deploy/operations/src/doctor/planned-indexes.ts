import type { ClockRecord } from '@gateway/accounts';
import { CLOCKS, createSandboxClocks } from '@gateway/accounts';
import type { StoredEntry } from '@gateway/audit';
import { createAuditLog } from '@gateway/audit';
import type { ServiceDeclaration } from '@gateway/contracts';
import { services } from '@gateway/contracts';
import type { Collection, Document, MongoConnection } from '@gateway/mongo';
import { clockAt } from '@gateway/mongo';
import { ensureCardIndexes, ensureCvvIndexes } from '@gateway/vault';
import type { Service } from '../mongo';
import { INDEXES } from '../mongo';
import type { Deployment } from './check';

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
export async function plannedIndexes({ config, logger, now }: Deployment): Promise<PlannedIndex[]> {
  const planned: PlannedIndex[] = [];
  const clock = clockAt(() => now);
  for (const [service, ensureIndexes] of Object.entries(INDEXES)) {
    const { database } = services[service as Service] as ServiceDeclaration;
    await ensureIndexes({ config, mongo: remembering(database, planned), clock, logger });
  }
  const vault = remembering('vault', planned);
  await ensureCardIndexes(vault.collection('cards'));
  await ensureCvvIndexes(vault.collection('cvvs'));
  const clocks = remembering('accounts', planned).collection<ClockRecord>(CLOCKS);
  await createSandboxClocks(clocks, clock.now).ensureIndexes();
  const entries = remembering('audit', planned).collection<StoredEntry>('entries');
  const audit = createAuditLog({ collection: entries, databaseUser: undefined, now: clock.now, logger });
  await audit.ensureIndexes(config.AUDIT_RETENTION_DAYS);
  return planned;
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
