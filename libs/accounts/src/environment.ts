import { Type } from '@sinclair/typebox';
import { commandLineOperator, openAuditFrom } from '@gateway/audit';
import { noSimulatedMoney, simulatedMoneySettings } from '@gateway/contracts';
import { commonSettings, loadConfig, mongoProductionRules } from '@gateway/service-kit';
import type { AuditedAdministration } from './audited-administration';
import { auditedAdministration } from './audited-administration';
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

function openAccountsFrom(env: Record<string, string | undefined>): Promise<OpenAccounts> {
  const config = loadConfig(settings, env, [...accountsProductionRules, ...mongoProductionRules, noSimulatedMoney]);
  return openAccounts({ uri: config.MONGODB_URI, databasePrefix: config.DATABASE_PREFIX, ...config });
}

/**
 * Opens the accounts for the operator and with the settings of the environment; every change is audited. Throws a
 * ConfigurationError that lists what is missing.
 */
export async function openAuditedAdministration(
  env: Record<string, string | undefined>,
): Promise<{ administration: AuditedAdministration; close(): Promise<void> }> {
  const accounts = await openAccountsFrom(env);
  try {
    const operator = commandLineOperator(env);
    const audit = await openAuditFrom(env);
    return {
      administration: auditedAdministration({ administration: accounts.administration, audit, operator }),
      async close() {
        await accounts.close();
        await audit.close();
      },
    };
  } catch (error) {
    await accounts.close();
    throw error;
  }
}
