import type { Account } from '@gateway/accounts';
import type { MongoConnection } from '@gateway/mongo';
import { clockAt } from '@gateway/mongo';
import type { Iso20022Connector } from '@gateway/payout/dist/adapters/banks/iso20022/connector';
import { createIso20022Connector } from '@gateway/payout/dist/adapters/banks/iso20022/connector';
import { createIndexes, openRecords } from '@gateway/payout/dist/adapters/banks/iso20022/records';
import { createHolds } from '@gateway/payout/dist/adapters/mongo/holds';
import { createLogger, createMetrics } from '@gateway/service-kit';

export const DEBTOR = 'DE89370400440532013000';

/** As far as a cut looks at it. */
const ACCOUNT = {
  state: 'active',
  transactionTypes: ['PAYOUT'],
  payoutRules: [{ kind: 'daily-amount', currency: 'EUR', maxE4: 1 }],
  payoutDebtor: DEBTOR,
} as unknown as Account;

/** The connector, with one account that may pay out. */
export async function openConnector(
  mongo: MongoConnection,
  env: Record<string, string | undefined>,
): Promise<Iso20022Connector> {
  const clock = clockAt(Date.now);
  const holds = createHolds(mongo, clock);
  await Promise.all([holds.ensureDocument(), createIndexes(openRecords(mongo))]);
  return createIso20022Connector({
    mongo,
    env,
    logger: createLogger({ service: 'bench', level: 'warn' }),
    metrics: createMetrics('bench', { processFigures: false }),
    clock,
    holds,
    accounts: { findLatest: () => Promise.resolve(ACCOUNT) },
  });
}
