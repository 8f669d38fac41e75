import type { ClientSession, Clock, MongoConnection } from '@gateway/mongo';
import { createGroupFind } from '@gateway/mongo';
import type { Hold, Holds } from '../../application/hold-ports';
import { HOLDS_MAX } from '../../application/hold-ports';
import { nameOf } from '../../domain/holds';

const COLLECTION = 'holds';
/** All holds are one document, so that a change of them conflicts with a departure. */
const ID = 'holds';

export interface StoredHolds {
  _id: string;
  held: (Hold & { name: string })[];
  /** Counts the transactions in which payouts left for a file. */
  departures: number;
}

export interface HoldsAdapter extends Holds {
  /**
   * Runs `depart` in one transaction, in which it respects these holds. The transaction writes their document, so each
   * hold comes before it or after it, never in between. The driver repeats it after a conflict.
   */
  departing<T>(depart: (held: readonly Hold[], session: ClientSession) => Promise<T>): Promise<T>;
  ensureDocument(): Promise<void>;
}

export function createHolds(mongo: MongoConnection, clock: Pick<Clock, 'now'>): HoldsAdapter {
  const collection = mongo.collection<StoredHolds>(COLLECTION);
  const find = createGroupFind(collection);

  return {
    async read() {
      return holdsIn(await find(ID));
    },
    async hold(scope, by) {
      const name = nameOf(scope);
      const { matchedCount } = await collection.updateOne(
        { _id: ID, 'held.name': { $ne: name }, [`held.${HOLDS_MAX - 1}`]: { $exists: false } },
        { $push: { held: { name, scope, since: clock.now(), by } } },
      );
      if (matchedCount === 1) return 'held';
      return (await collection.countDocuments({ _id: ID, 'held.name': name })) === 1 ? 'known' : 'full';
    },
    async release(scope) {
      const name = nameOf(scope);
      const released = await collection.updateOne({ _id: ID, 'held.name': name }, { $pull: { held: { name } } });
      return released.modifiedCount === 1;
    },
    async releaseAll(scopes) {
      const name = { $in: scopes.map(nameOf) };
      await collection.updateOne({ _id: ID, 'held.name': name }, { $pull: { held: { name } } });
    },
    async departing(depart) {
      const session = mongo.client.startSession();
      try {
        return await session.withTransaction(async () => {
          const counted = { $inc: { departures: 1 } };
          const document = await collection.findOneAndUpdate({ _id: ID }, counted, { session });
          return depart(holdsIn(document), session);
        });
      } finally {
        await session.endSession();
      }
    },
    async ensureDocument() {
      await collection.updateOne({ _id: ID }, { $setOnInsert: { held: [], departures: 0 } }, { upsert: true });
    },
  };
}

/** Throws without the document: nothing may leave while it is not known what is held. */
function holdsIn(document: StoredHolds | null | undefined): Hold[] {
  if (!document) throw new Error(`broken invariant: the document of ${COLLECTION} is missing`);
  return document.held.map(({ scope, since, by }) => ({ scope, since, by }));
}
