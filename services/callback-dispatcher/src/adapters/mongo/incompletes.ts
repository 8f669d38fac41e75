import type { Clock, MongoConnection } from '@gateway/mongo';
import { createDueByAccount, createGroupInsert, dueByAccountIndex, FIGURE_BOUNDS } from '@gateway/mongo';
import { currentTrace } from '@gateway/service-kit';
import type { IncompleteCallback, Incompletes } from '../../application/ports';

const COLLECTION = 'incomplete';
const arrivalIndex = { key: { arrivedAt: 1 }, name: 'by_arrival' } as const;

export interface IncompletesAdapter extends Incompletes {
  ensureIndexes(): Promise<void>;
  /** How many arrived before that time, at most 10,000, and when the first of all did (epoch ms). */
  waiting(before: number): Promise<{ count: number; oldestAt?: number }>;
}

/** Beside the deliveries, so that whoever reads a delivery finds all that its merchant gets. */
export function createIncompletes(mongo: MongoConnection, clock: Clock): IncompletesAdapter {
  const collection = mongo.collection<IncompleteCallback>(COLLECTION);
  const insert = createGroupInsert(collection);
  return {
    due: createDueByAccount(collection, clock),
    async keep({ eventId, callback, ...more }) {
      const { correlationId = callback.paymentId, traceparent } = currentTrace() ?? {};
      const now = clock.now();
      // A redelivered event finds its own.
      await insert({
        _id: eventId,
        merchantAccount: callback.merchantAccount,
        callback,
        ...more,
        correlationId,
        ...(traceparent === undefined ? {} : { traceparent }),
        arrivedAt: now,
        resolveAt: now,
      });
    },
    async remove(eventId) {
      await collection.deleteOne({ _id: eventId });
    },
    async waiting(before) {
      const hint = arrivalIndex.name;
      const { maxTimeMS } = FIGURE_BOUNDS;
      const count = await collection.countDocuments({ arrivedAt: { $lt: before } }, { hint, ...FIGURE_BOUNDS });
      const oldest = await collection.findOne({}, { sort: arrivalIndex.key, hint, maxTimeMS });
      return { count, ...(oldest === null ? {} : { oldestAt: oldest.arrivedAt }) };
    },
    async ensureIndexes() {
      await collection.createIndexes([dueByAccountIndex, arrivalIndex]);
    },
  };
}
