import type { IndexContext } from '@gateway/service-frame';
import { createAuthentications } from './adapters/mongo/authentications';
import type { Config } from './config';

/** Makes the indexes of the service's database, or changes their times. At its start, and by `npm run provision`. */
export async function ensureIndexes({
  config,
  mongo,
  clock,
}: IndexContext<Pick<Config, 'RECORD_RETENTION_DAYS'>>): Promise<void> {
  await createAuthentications(mongo, clock).ensureIndexes(config.RECORD_RETENTION_DAYS);
}
