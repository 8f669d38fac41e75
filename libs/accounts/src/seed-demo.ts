import { messageOf, refusedInProduction } from '@gateway/service-kit';
import { seedDemoAccounts } from './demo-accounts';
import { openAccountsFrom } from './environment';

/** Creates missing demo accounts (decisions.md, section 8). For development only. */
async function seed(): Promise<void> {
  if (process.env['NODE_ENV'] === 'production') {
    throw refusedInProduction(['The password of the demo accounts is public.']);
  }
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
