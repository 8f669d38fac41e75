import type { IndexContext } from '@gateway/service-frame';
import { retentionOf } from '@gateway/service-kit';
import { createAttempts } from './adapters/mongo/attempts';
import { createDeliveries } from './adapters/mongo/deliveries';
import { createFeed } from './adapters/mongo/feed';
import { createIncompletes } from './adapters/mongo/incompletes';
import { CALLBACK_RETENTION } from './adapters/mongo/retention';
import type { Config } from './config';

/** Makes the indexes of the service's database, or changes their times. At its start, and by `npm run provision`. */
export async function ensureIndexes(context: IndexContext<Pick<Config, 'CALLBACK_RETENTION_DAYS'>>): Promise<void> {
  const { config, mongo, clock } = context;
  const retention = retentionOf(config.CALLBACK_RETENTION_DAYS, CALLBACK_RETENTION, context.mayShorten);
  await Promise.all([
    createDeliveries(mongo, clock).ensureIndexes(retention),
    createAttempts(mongo).ensureIndexes(retention),
    createFeed(mongo, clock).ensureIndexes(retention),
    createIncompletes(mongo, clock).ensureIndexes(),
  ]);
}
