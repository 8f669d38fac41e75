import type { Clock, Collection, MongoConnection } from '@gateway/mongo';
import { claimOne, dueIndexOn, duplicateKeyIndex, retryableWhenTransient } from '@gateway/mongo';
import type { Checkout, Checkouts, EndedCheckout, OpenCheckout } from '../../application/ports';

type Kept<C extends Checkout> = Omit<C, 'id'> & { _id: string };
/** `sweepAt` (epoch ms) while it is open, `removeAt` once it has ended. */
export type StoredCheckout = (Kept<OpenCheckout> | Kept<EndedCheckout>) & { sweepAt?: number; removeAt?: Date };

export interface CheckoutsAdapter extends Checkouts {
  ensureIndexes(): Promise<void>;
}

/** One document per card-entry page. Its attempts are in the journal. */
export function createCheckouts(mongo: MongoConnection, clock: Clock): CheckoutsAdapter {
  const collection: Collection<StoredCheckout> = mongo.collection<StoredCheckout>('checkouts');

  return {
    insert: ({ id, ...checkout }, sweepAt) =>
      retryableWhenTransient(async () => {
        try {
          await collection.insertOne({ _id: id, ...checkout, sweepAt });
        } catch (error) {
          // Ids are never drawn twice: an earlier insert succeeded without an answer.
          if (duplicateKeyIndex(error) === undefined) throw error;
        }
      }),

    async find(id) {
      const document = await collection.findOne({ _id: id });
      return document === null ? undefined : toCheckout(document);
    },

    async claimExpired(leaseMs) {
      const document = await claimOne(collection, { field: 'sweepAt', clock, leaseMs });
      // Only open pages have a time for sweepers.
      return document === null ? undefined : (toCheckout(document) as OpenCheckout);
    },

    async end(id, removeAt) {
      await collection.updateOne(
        { _id: id },
        {
          $set: { state: 'ended', removeAt: new Date(removeAt) },
          $unset: { sweepAt: '', 'request.customer': '', 'request.notes': '' },
        },
      );
    },

    async ensureIndexes() {
      await collection.createIndexes([
        dueIndexOn('sweepAt', 'sweep_at'),
        { key: { removeAt: 1 }, name: 'remove_at', expireAfterSeconds: 0 },
      ]);
    },
  };
}

function toCheckout({ _id, sweepAt: _sweepAt, removeAt: _removeAt, ...checkout }: StoredCheckout): Checkout {
  return { id: _id, ...checkout };
}
