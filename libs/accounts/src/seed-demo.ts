import { messageOf } from '@gateway/service-kit';
import { seedDemoAccounts } from './demo-accounts';
import { openAccountsFrom } from './environment';

/** Creates missing demo accounts (decisions.md, section 8). For development only. */
async function seed(): Promise<void> {
  const accounts = await openAccountsFrom(process.env);
  try {
    for (const name of await seedDemoAccounts(accounts.administration)) process.stdout.write(`created ${name}\n`);
  } finally {
    await accounts.close();
  }
}

seed().catch((error: unknown) => {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
});
