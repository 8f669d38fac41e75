import type { IndexContext } from '@gateway/service-frame';
import { createAttempts } from './adapters/mongo/attempts';
import { createDeliveries } from './adapters/mongo/deliveries';
import { createFeed } from './adapters/mongo/feed';
import type { Config } from './config';

/** Makes the indexes of the service's database, or changes their times. At its start, and by `npm run provision`. */
export async function ensureIndexes({
  config: { CALLBACK_RETENTION_DAYS: retentionDays },
  mongo,
  clock,
}: IndexContext<Pick<Config, 'CALLBACK_RETENTION_DAYS'>>): Promise<void> {
  await Promise.all([
    createDeliveries(mongo, clock).ensureIndexes(retentionDays),
    createAttempts(mongo).ensureIndexes(retentionDays),
    createFeed(mongo, clock).ensureIndexes(retentionDays),
  ]);
}
