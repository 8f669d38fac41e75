import type { IndexContext } from '@gateway/service-frame';
import { recordRetentionOf } from '@gateway/service-kit';
import { createIndexes, openRecords } from './adapters/banks/iso20022/records';
import { createHolds } from './adapters/mongo/holds';
import { createPayouts } from './adapters/mongo/payouts';
import { createReservations } from './adapters/mongo/reservations';
import type { Config } from './config';

/** Makes the indexes of the service's database, or changes their times. At its start, and by `npm run provision`. */
export async function ensureIndexes(
  context: IndexContext<Pick<Config, 'RECORD_RETENTION_DAYS' | 'SANDBOX_RETENTION_DAYS'>>,
): Promise<void> {
  const { config, mongo, clock } = context;
  const retention = recordRetentionOf(config, context.mayShorten);
  await Promise.all([
    createPayouts(mongo, clock).ensureIndexes(retention),
    createReservations(mongo, clock).ensureIndexes(),
    createHolds(mongo, clock).ensureDocument(),
    createIndexes(openRecords(mongo), retention),
  ]);
}
