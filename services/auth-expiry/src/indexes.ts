import type { IndexContext } from '@gateway/service-frame';
import { createDeadlines } from './adapters/mongo/deadlines';

/** Makes the indexes of the service's database. At its start, and by `npm run provision`. */
export async function ensureIndexes({ mongo, clock }: IndexContext<unknown>): Promise<void> {
  await createDeadlines(mongo, clock).ensureIndexes();
}
