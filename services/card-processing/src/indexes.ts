import type { IndexContext } from '@gateway/service-frame';
import { recordRetentionOf } from '@gateway/service-kit';
import { createCounters } from './adapters/mongo/counters';
import { createPayments } from './adapters/mongo/payments';
import type { Config } from './config';

/** Makes the indexes of the service's database, or changes their times. At its start, and by `npm run provision`. */
export async function ensureIndexes(
  context: IndexContext<Pick<Config, 'RECORD_RETENTION_DAYS' | 'SANDBOX_RETENTION_DAYS'>>,
): Promise<void> {
  const { config, mongo, clock, logger } = context;
  const retention = recordRetentionOf(config, context.mayShorten);
  await Promise.all([
    createPayments(mongo, clock).ensureIndexes(retention),
    createCounters(mongo, { now: clock.now, logger }).ensureIndexes(),
  ]);
}
