import type { Composed, TestAccounts } from '../support/composed-system';
import { fromEnvironment } from '../support/composed-system';
import type { Project } from './project';
import { openProject } from './project';

/** Waits for the system that the launcher has brought up, and gives the tests their accounts. */
export default async function globalSetup(): Promise<void> {
  const composed = fromEnvironment<Composed>('COMPOSED');
  if (composed === undefined) throw new Error('COMPOSED is not set: run npm run test:compose.');
  const project = openProject(composed);
  await project.ready();
  const returnHost = ['--return-host', composed.merchant, '--return-host', 'localhost'];
  if (composed.name !== 'production') {
    await merchant(project, 'set', 'demo_merchant', ...returnHost);
    return;
  }
  const payouts = ['--payout-daily-amount', 'XTS:1000000'];
  const limits = ['--rate-limit', '1000', '--concurrency', '1000'];
  const accounts: TestAccounts = {
    merchant: await create(project, 'shop_merchant', ...returnHost, ...payouts, ...limits),
    custom: await create(
      project,
      'shop_custom',
      '--custom',
      'all',
      '--card-hash-beside-digits',
      'on',
      ...returnHost,
      '--payout-fee',
      '0.50+1%',
      ...payouts,
      ...limits,
    ),
  };
  for (const { name } of Object.values(accounts) as { name: string }[])
    await merchant(project, 'set', name, '--payouts', 'on');
  process.env['TEST_ACCOUNTS'] = JSON.stringify(accounts);
}

function merchant(project: Project, ...args: string[]): Promise<string> {
  return project.compose('run', '--rm', '-T', 'operations', 'merchant', ...args, '--json');
}

async function create(project: Project, name: string, ...options: string[]): Promise<TestAccounts['merchant']> {
  const printed = JSON.parse(await merchant(project, 'create', name, ...options)) as Record<string, string>;
  return { name, password: printed['password'] ?? '', payoutSecret: printed['payoutSecret'] ?? '' };
}
