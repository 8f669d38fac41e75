import type { IndexContext } from '@gateway/service-frame';
import { createCounters } from './adapters/mongo/counters';
import { createPayments } from './adapters/mongo/payments';
import type { Config } from './config';

/** Makes the indexes of the service's database, or changes their times. At its start, and by `npm run provision`. */
export async function ensureIndexes({
  config,
  mongo,
  clock,
  logger,
}: IndexContext<Pick<Config, 'RECORD_RETENTION_DAYS'>>): Promise<void> {
  await Promise.all([
    createPayments(mongo, clock).ensureIndexes(config.RECORD_RETENTION_DAYS),
    createCounters(mongo, { now: clock.now, logger }).ensureIndexes(),
  ]);
}
