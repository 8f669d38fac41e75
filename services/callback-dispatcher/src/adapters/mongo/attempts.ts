import type { MongoConnection } from '@gateway/mongo';
import { createGroupInsert, createGroupSet, ensureTtlIndex } from '@gateway/mongo';
import type { Retention } from '@gateway/service-kit';
import type { Attempt, Attempts } from '../../application/ports';
import { attemptId } from '../../application/ports';
import { CALLBACK_RETENTION } from './retention';

const COLLECTION = 'attempts';
/** Sorts after every digit. */
const AFTER_TIMES = '~';

/** A date, as the TTL index requires. */
export type StoredAttempt = Omit<Attempt, 'startedAt'> & { startedAt: Date };

const expiryIndex = { key: { startedAt: 1 }, name: 'expiry' } as const;

export interface AttemptsAdapter extends Attempts {
  ensureIndexes(retention?: Retention): Promise<void>;
}

/** A collection of its own, because an attempt is written when it begins and when it ends, and a callback may have many. */
export function createAttempts(mongo: MongoConnection): AttemptsAdapter {
  const collection = mongo.collection<StoredAttempt>(COLLECTION);
  const insert = createGroupInsert(collection);
  const set = createGroupSet(collection);
  return {
    async begin(attempt) {
      await insert({ ...attempt, startedAt: new Date(attempt.startedAt) });
    },
    end: ({ _id, deliveryId: _deliveryId, startedAt: _startedAt, ...ended }) => set(_id, ended),
    async list(deliveryId, limit) {
      const ofDelivery = { _id: { $gte: attemptId(deliveryId, ''), $lt: attemptId(deliveryId, AFTER_TIMES) } };
      const found = collection.find(ofDelivery).sort({ _id: -1 }).limit(limit);
      const latest = await found.toArray();
      return latest.reverse().map(({ _id: _attemptId, deliveryId: _deliveryId, startedAt, ...attempt }) => ({
        startedAt: startedAt.getTime(),
        ...attempt,
      }));
    },
    async ensureIndexes(retention = CALLBACK_RETENTION.real) {
      await ensureTtlIndex(collection, expiryIndex, retention);
    },
  };
}
