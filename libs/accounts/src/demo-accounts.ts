import { parseAmountE4, Secret } from '@gateway/contracts';
import type { AccountAdministration, NewAccount } from './administration';
import { AccountError } from './administration';
import { CUSTOM_PARAMETERS } from '@gateway/contracts';

const RETURN_HOSTS = ['127.0.0.1', 'localhost'];
/** Higher than for other sandbox accounts, for load tests. */
const REQUEST_LIMITS = { rateLimitPerSecond: 1_000, maxConcurrentRequests: 1_000 };
const ONE_PERCENT_E4 = 10_000;

/** decisions.md, section 8. Their passwords are public: only for machines that handle no real money. */
export const DEMO_ACCOUNTS: readonly NewAccount[] = [
  {
    merchantAccount: 'demo_merchant',
    password: new Secret('demo_password'),
    payoutSecret: new Secret('demo_payout_secret'),
    settings: { ...REQUEST_LIMITS, returnHosts: RETURN_HOSTS },
  },
  {
    merchantAccount: 'demo_custom',
    password: new Secret('demo_password'),
    payoutSecret: new Secret('demo_payout_secret'),
    settings: {
      ...REQUEST_LIMITS,
      returnHosts: RETURN_HOSTS,
      customParameters: CUSTOM_PARAMETERS,
      payoutFee: { fixedE4: parseAmountE4('0.50') ?? 0, percentE4: ONE_PERCENT_E4 },
    },
  },
];

/** Creates missing demo accounts and returns their names. Does not change existing ones. */
export async function seedDemoAccounts(administration: AccountAdministration): Promise<string[]> {
  const created: string[] = [];
  for (const account of DEMO_ACCOUNTS) {
    try {
      await administration.create(account);
      created.push(account.merchantAccount);
    } catch (error) {
      if (!(error instanceof AccountError && error.reason === 'exists')) throw error;
    }
  }
  return created;
}
