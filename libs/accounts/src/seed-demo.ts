import { messageOf, refusedInProduction } from '@gateway/service-kit';
import { seedDemoAccounts } from './demo-accounts';
import { openAuditedAdministration } from './environment';

/** Creates missing demo accounts (decisions.md, section 8). For development only. */
async function seed(): Promise<void> {
  if (process.env['NODE_ENV'] === 'production') {
    throw refusedInProduction(['The password of the demo accounts is public.']);
  }
  const { administration, close } = await openAuditedAdministration(process.env);
  try {
    for (const name of await seedDemoAccounts(administration)) process.stdout.write(`created ${name}\n`);
  } finally {
    await close();
  }
}

seed().catch((error: unknown) => {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
});
