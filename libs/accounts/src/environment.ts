import { Type } from '@sinclair/typebox';
import { commonSettings, loadConfig } from '@gateway/service-kit';
import type { OpenAccounts } from './open-accounts';
import { openAccounts } from './open-accounts';
import { accountsSettings } from './settings';

const { MONGODB_URI, DATABASE_PREFIX } = commonSettings;
const settings = Type.Object({ MONGODB_URI, DATABASE_PREFIX, ...accountsSettings });

/** Opens the accounts with the settings of the environment. Throws a ConfigurationError that lists what is missing. */
export function openAccountsFrom(env: Record<string, string | undefined>): Promise<OpenAccounts> {
  const config = loadConfig(settings, env);
  const { VAULT_KEYS } = config;
  return openAccounts({ uri: config.MONGODB_URI, databasePrefix: config.DATABASE_PREFIX, VAULT_KEYS });
}
