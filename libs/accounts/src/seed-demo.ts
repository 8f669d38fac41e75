import { seedDemoAccounts } from './demo-accounts';
import { openAuditedAdministration } from './environment';

/**
 * Creates missing demo accounts (decisions.md, section 8) with the settings and the operator of the environment, and
 * returns their names. Their passwords are public: for development only. Throws a ConfigurationError.
 */
export async function seedDemo(env: Record<string, string | undefined>): Promise<string[]> {
  const { administration, close } = await openAuditedAdministration(env);
  try {
    return await seedDemoAccounts(administration);
  } finally {
    await close();
  }
}
