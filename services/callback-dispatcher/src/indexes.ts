import type { IndexContext } from '@gateway/service-frame';
import { retentionOf, sandboxRetentionOf } from '@gateway/service-kit';
import { createAttempts } from './adapters/mongo/attempts';
import { createDeliveries } from './adapters/mongo/deliveries';
import { createFeed } from './adapters/mongo/feed';
import { createIncompletes } from './adapters/mongo/incompletes';
import { CALLBACK_RETENTION } from './adapters/mongo/retention';
import type { Config } from './config';

/** Makes the indexes of the service's database, or changes their times. At its start, and by `npm run provision`. */
export async function ensureIndexes(
  context: IndexContext<Pick<Config, 'CALLBACK_RETENTION_DAYS' | 'SANDBOX_RETENTION_DAYS'>>,
): Promise<void> {
  const { config, mongo, clock } = context;
  const real = retentionOf(config.CALLBACK_RETENTION_DAYS, CALLBACK_RETENTION.real, context.mayShorten);
  const test = sandboxRetentionOf(config, context.mayShorten);
  await Promise.all([
    createDeliveries(mongo, clock).ensureIndexes({ real, test }),
    createAttempts(mongo).ensureIndexes(real),
    createFeed(mongo, clock).ensureIndexes(real),
    createIncompletes(mongo, clock).ensureIndexes(),
  ]);
}
