import type { SimulatedMoney } from '@gateway/contracts';
import { TEST_CURRENCY } from '@gateway/contracts';
import type { Collection } from '@gateway/mongo';
import { ConfigurationError, refusedInProduction } from '@gateway/service-kit';
import type { AccountRecord } from './account-record';
import { SANDBOX_ACQUIRER } from './acquirers';
import { DEMO_ACCOUNTS } from './demo-accounts';

/** Accounts that one sentence names. */
const MAX_NAMED = 10;

export interface SafetyOptions {
  NODE_ENV: 'development' | 'test' | 'production';
  /** Only of a service that sends payments to the acquirers of terminals. */
  ALLOW_SIMULATED_MONEY?: SimulatedMoney;
}

/**
 * Throws a ConfigurationError that names the stored accounts with which no service should start: open demo accounts in
 * production, and terminals of real currencies on the simulator.
 */
export async function requireSafeAccounts(accounts: Collection<AccountRecord>, options: SafetyOptions): Promise<void> {
  const demo = options.NODE_ENV === 'production' ? await openDemoAccounts(accounts) : undefined;
  const simulated = options.ALLOW_SIMULATED_MONEY === 'no' ? await simulatedTerminals(accounts) : undefined;
  const sentences = [demo, simulated].filter((sentence) => sentence !== undefined);
  if (sentences.length === 0) return;
  throw options.NODE_ENV === 'production'
    ? refusedInProduction(sentences)
    : new ConfigurationError(sentences.join(' '));
}

async function openDemoAccounts(accounts: Collection<AccountRecord>): Promise<string | undefined> {
  const names = DEMO_ACCOUNTS.map(({ merchantAccount }) => merchantAccount);
  const found = await accounts
    .find({ _id: { $in: names }, state: { $ne: 'closed' } })
    .project<Pick<AccountRecord, '_id'>>({ _id: 1 })
    .toArray();
  if (found.length === 0) return undefined;
  const list = found.map(({ _id }) => _id).join(', ');
  return `The password of the demo accounts is public: close ${list} (npm run merchant -- close ACCOUNT).`;
}

async function simulatedTerminals(accounts: Collection<AccountRecord>): Promise<string | undefined> {
  const terminal = { active: true, acquirer: SANDBOX_ACQUIRER, currency: { $ne: TEST_CURRENCY } };
  const found = await accounts
    .find({ state: { $ne: 'closed' }, terminals: { $elemMatch: terminal } })
    .project<Pick<AccountRecord, '_id'>>({ _id: 1 })
    .sort({ _id: 1 })
    .limit(MAX_NAMED + 1)
    .toArray();
  if (found.length === 0) return undefined;
  const names = found.slice(0, MAX_NAMED).map(({ _id }) => _id);
  const list = [...names, ...(found.length > MAX_NAMED ? ['others'] : [])].join(', ');
  return (
    `The simulator takes ${TEST_CURRENCY} alone, but it is the acquirer of terminals of ${list} in other currencies: ` +
    'deactivate them (npm run merchant -- set ACCOUNT --deactivate-terminal MID), ' +
    'or set ALLOW_SIMULATED_MONEY=yes where no money is real.'
  );
}
