import { Type } from '@sinclair/typebox';
import { noSimulatedMoney, simulatedMoneySettings } from '@gateway/contracts';
import { commonSettings, loadConfig } from '@gateway/service-kit';
import type { OpenAccounts } from './open-accounts';
import { openAccounts } from './open-accounts';
import { accountsProductionRules, accountsSettings } from './settings';

const { NODE_ENV, MONGODB_URI, DATABASE_PREFIX } = commonSettings;
const settings = Type.Object({
  NODE_ENV,
  MONGODB_URI,
  DATABASE_PREFIX,
  ...accountsSettings,
  ...simulatedMoneySettings,
});

/** Opens the accounts with the settings of the environment. Throws a ConfigurationError that lists what is missing. */
export function openAccountsFrom(env: Record<string, string | undefined>): Promise<OpenAccounts> {
  const config = loadConfig(settings, env, [...accountsProductionRules, noSimulatedMoney]);
  return openAccounts({ uri: config.MONGODB_URI, databasePrefix: config.DATABASE_PREFIX, ...config });
}
