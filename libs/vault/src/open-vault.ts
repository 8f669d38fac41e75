import { connectMongo } from '@gateway/mongo';
import type { Logger } from '@gateway/service-kit';
import type { CardVault, StoredCard, StoredCvv } from './card-vault';
import { createCardVault } from './card-vault';
import { readVaultKeys } from './settings';

export interface OpenVault {
  readonly vault: CardVault;
  /** False once the primary is lost; for a service's readiness. */
  healthy(): boolean;
  close(): Promise<void>;
}

export interface OpenVaultOptions {
  uri: string;
  databasePrefix: string;
  VAULT_KEYS: string;
  VAULT_TOKEN_KEY: string;
  /** Epoch ms; the system's clock by default. */
  now?: () => number;
  logger?: Logger;
}

/**
 * Opens the vault in the database `${databasePrefix}vault` and creates its indexes. Throws a ConfigurationError before
 * connecting if a key is invalid.
 */
export async function openVault(options: OpenVaultOptions): Promise<OpenVault> {
  const keys = readVaultKeys(options);
  const connection = await connectMongo({ uri: options.uri, database: `${options.databasePrefix}vault` });
  const vault = createCardVault({
    ...keys,
    cards: connection.collection<StoredCard>('cards'),
    cvvs: connection.collection<StoredCvv>('cvvs'),
    now: options.now ?? Date.now,
    ...(options.logger === undefined ? {} : { logger: options.logger }),
  });
  try {
    await vault.ensureIndexes();
  } catch (error) {
    await connection.close();
    throw error;
  }
  return {
    vault,
    healthy: () => connection.healthy(),
    async close() {
      await vault.drain();
      await connection.close();
    },
  };
}
