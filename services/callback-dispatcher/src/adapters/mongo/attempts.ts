import type { MongoConnection, Stamped } from '@gateway/mongo';
import { createGroupInsert, createGroupUpdate } from '@gateway/mongo';
import { randomUUID } from 'node:crypto';
import type { Attempt, Attempts } from '../../application/ports';
import { attemptId, ATTEMPTS_LISTED_MAX } from '../../application/ports';

const COLLECTION = 'attempts';
const BEGUN = 1;
const ENDED = 2;
/** Sorts after every digit. */
const AFTER_TIMES = '~';

type StoredAttempt = Attempt & Stamped;

/** A collection of its own: an attempt is written when it begins, and once more when it ends. */
export function createAttempts(mongo: MongoConnection): Attempts {
  const collection = mongo.collection<StoredAttempt>(COLLECTION);
  const insert = createGroupInsert(collection);
  const update = createGroupUpdate(collection, randomUUID);
  return {
    async begin(attempt) {
      await insert({ ...attempt, version: BEGUN });
    },
    async end({ _id, ...ended }) {
      await update({ id: _id, version: BEGUN, update: { $set: { ...ended, version: ENDED } } });
    },
    async list(deliveryId) {
      const ofDelivery = { _id: { $gte: attemptId(deliveryId, ''), $lt: attemptId(deliveryId, AFTER_TIMES) } };
      const found = collection.find(ofDelivery).sort({ _id: -1 }).limit(ATTEMPTS_LISTED_MAX);
      const latest = await found.toArray();
      return latest.reverse().map(({ version: _version, stamp: _stamp, ...attempt }) => attempt);
    },
  };
}
