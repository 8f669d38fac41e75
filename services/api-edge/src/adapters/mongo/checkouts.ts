import { TEST_CURRENCY } from '@gateway/contracts';
import type { Clock, Collection, MongoConnection } from '@gateway/mongo';
import { createDueByAccount, dueByAccountIndexOn, duplicateKeyIndex, retryableWhenTransient } from '@gateway/mongo';
import type { Checkout, Checkouts, EndedCheckout, OpenCheckout } from '../../application/ports';

type Kept<C extends Checkout> = Omit<C, 'id'> & { _id: string };
/** `sweepAt` (epoch ms) while it is open, `removeAt` once it has ended. */
export type StoredCheckout = (Kept<OpenCheckout> | Kept<EndedCheckout>) & { sweepAt?: number; removeAt?: Date };

const IS_OPEN_SANDBOX = { 'request.currency': TEST_CURRENCY, sweepAt: { $exists: true } } as const;
const dueIndex = dueByAccountIndexOn('sweepAt', 'due_by_account');
/** Only what a sandbox account's clock can move. */
const openSandboxIndex = {
  key: { merchantAccount: 1 },
  name: 'sandbox_open',
  partialFilterExpression: IS_OPEN_SANDBOX,
} as const;

export interface CheckoutsAdapter extends Checkouts {
  ensureIndexes(): Promise<void>;
}

/** One document per card-entry page. Its attempts are in the journal. */
export function createCheckouts(mongo: MongoConnection, clock: Clock): CheckoutsAdapter {
  const collection: Collection<StoredCheckout> = mongo.collection<StoredCheckout>('checkouts');
  const due = createDueByAccount(collection, clock, {}, 'sweepAt');

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

    accountsWithExpired: (after, limit) => due.accounts(clock.now(), after, limit),

    async claimExpired(merchantAccount, leaseMs) {
      const document = await due.claim(merchantAccount, leaseMs);
      // Only open pages have a time for sweepers.
      return document === null ? undefined : (toCheckout(document) as OpenCheckout);
    },

    close: (id, at) =>
      retryableWhenTransient(async () => {
        const open = { _id: id, closedAt: { $exists: false }, sweepAt: { $exists: true } };
        await collection.updateOne(open, { $set: { closedAt: at, sweepAt: at }, $min: { expiresAt: at } });
      }),

    async sweepAgain(id, sweepAt) {
      await collection.updateOne({ _id: id, sweepAt: { $exists: true } }, { $set: { sweepAt } });
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

    async behind({ merchantAccount, aheadMs }, limit) {
      const behind = { merchantAccount, ...IS_OPEN_SANDBOX, clockMs: { $not: { $gte: aheadMs } } };
      const found = await collection.find(behind, { hint: openSandboxIndex.name }).limit(limit).toArray();
      // Only open pages have a time for sweepers.
      return found.map((document) => toCheckout(document) as OpenCheckout);
    },

    async follow({ id, expiresAt, clockMs: known }, { byMs, ...clock }) {
      // A page that has not ended is not leased by a sweeper.
      const sooner = byMs === 0 ? {} : { $inc: { expiresAt: -byMs, sweepAt: -byMs } };
      const unchanged = { _id: id, expiresAt, clockMs: known ?? { $exists: false }, sweepAt: { $exists: true } };
      return (await collection.updateOne(unchanged, { $set: clock, ...sooner })).matchedCount === 1;
    },

    async ensureIndexes() {
      await collection.createIndexes([
        openSandboxIndex,
        dueIndex,
        { key: { removeAt: 1 }, name: 'remove_at', expireAfterSeconds: 0 },
      ]);
    },
  };
}

function toCheckout({ _id, sweepAt: _sweepAt, removeAt: _removeAt, ...checkout }: StoredCheckout): Checkout {
  return { id: _id, ...checkout };
}
