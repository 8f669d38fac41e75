import { parseAmountE4, Secret } from '@gateway/contracts';
import type { AccountSettings, PayoutRule } from './account';
import { ACCOUNT_TRANSACTION_TYPES } from './account';
import type { AccountAdministration, NewAccount } from './administration';
import { AccountError } from './account-error';
import { CUSTOM_PARAMETERS, TEST_CURRENCY } from '@gateway/contracts';
import { mayPayOut } from './payout-permission';
import { MAX_DAILY_AMOUNT_E4 } from './payout-rules';

const RETURN_HOSTS = ['127.0.0.1', 'localhost'];
/** Higher than for other sandbox accounts, for load tests. */
const REQUEST_LIMITS = { rateLimitPerSecond: 1_000, maxConcurrentRequests: 1_000 };
const ONE_PERCENT_E4 = 10_000;
/** Of both accounts, as public as their passwords: the base64 of `demo webhook secret of 32 bytes!`. */
export const DEMO_WEBHOOK_SECRET = new Secret('whsec_ZGVtbyB3ZWJob29rIHNlY3JldCBvZiAzMiBieXRlcyE=');
const XTS_A_DAY: PayoutRule = { kind: 'daily-amount', currency: TEST_CURRENCY, maxE4: MAX_DAILY_AMOUNT_E4 };

/** Payouts in the test currency, for accounts that test them. Its bank pays no one, so the daily amount is the highest. */
export const SANDBOX_PAYOUTS = {
  transactionTypes: ACCOUNT_TRANSACTION_TYPES,
  payoutRules: [XTS_A_DAY],
} as const satisfies Partial<AccountSettings>;

/** decisions.md, section 8. Their passwords are public: only for machines that handle no real money. */
export const DEMO_ACCOUNTS: readonly NewAccount[] = [
  {
    merchantAccount: 'demo_merchant',
    password: new Secret('demo_password'),
    payoutSecret: new Secret('demo_payout_secret'),
    webhookSecret: DEMO_WEBHOOK_SECRET,
    settings: { ...REQUEST_LIMITS, ...SANDBOX_PAYOUTS, returnHosts: RETURN_HOSTS },
  },
  {
    merchantAccount: 'demo_custom',
    password: new Secret('demo_password'),
    payoutSecret: new Secret('demo_payout_secret'),
    webhookSecret: DEMO_WEBHOOK_SECRET,
    settings: {
      ...REQUEST_LIMITS,
      ...SANDBOX_PAYOUTS,
      returnHosts: RETURN_HOSTS,
      customParameters: CUSTOM_PARAMETERS,
      // To see every parameter, with test cards alone.
      cardHashBesideDigits: true,
      payoutFee: { fixedE4: parseAmountE4('0.50') ?? 0, percentE4: ONE_PERCENT_E4 },
    },
  },
];

/**
 * Creates missing demo accounts and returns their names. Changes existing ones in three things: those from before
 * payouts needed a daily amount get it, those from before there were webhook secrets get one, and one that shows hashes
 * of cards from before that needed a permission gets it.
 */
export async function seedDemoAccounts(administration: AccountAdministration): Promise<string[]> {
  const created: string[] = [];
  for (const account of DEMO_ACCOUNTS) {
    if (await exists(administration, account.merchantAccount)) {
      await bringUpToDate(administration, account);
      continue;
    }
    try {
      await administration.create(account);
      created.push(account.merchantAccount);
    } catch (error) {
      if (!(error instanceof AccountError && error.reason === 'exists')) throw error;
    }
  }
  return created;
}

async function bringUpToDate(
  administration: AccountAdministration,
  { merchantAccount, settings }: NewAccount,
): Promise<void> {
  const known = await administration.get(merchantAccount);
  if (known.state === 'closed') return;
  if (known.transactionTypes.includes('PAYOUT') && !mayPayOut(known, TEST_CURRENCY)) {
    await administration.change(merchantAccount, { payoutRulesByKind: { 'daily-amount': [XTS_A_DAY] } });
  }
  if (settings?.cardHashBesideDigits === true && known.cardHashBesideDigits === undefined) {
    await administration.change(merchantAccount, { cardHashBesideDigits: true });
  }
  if ((await administration.countWebhookSecrets(merchantAccount)) === 0) {
    await administration.ensureWebhookSecret(merchantAccount, DEMO_WEBHOOK_SECRET);
  }
}

/** Looks first: a refused creation would be in the audit log of every start. */
async function exists(administration: AccountAdministration, merchantAccount: string): Promise<boolean> {
  try {
    await administration.get(merchantAccount);
    return true;
  } catch (error) {
    if (error instanceof AccountError && error.reason === 'unknown') return false;
    throw error;
  }
}
