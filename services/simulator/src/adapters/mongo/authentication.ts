import type { Collection, Filter, MongoConnection } from '@gateway/mongo';
import { duplicateKeyIndex } from '@gateway/mongo';
import type { Authentications, Stored } from '../../application/authentication';
import type { Authentication } from '../../domain/authentication';

const COLLECTION = 'authentications';
const KEPT_MS = 24 * 60 * 60 * 1000;
/** Maximum number of result messages per sweep. */
const DUE_MAX = 50;

/** One document per authentication. */
interface AuthenticationDocument {
  /** The acsTransID. */
  _id: string;
  version: number;
  threeDSServerTransID: string;
  /** Set only while a result message is due: epoch ms of its next attempt. */
  deliverAt?: number;
  expiresAt: Date;
  /** Counts reads through a write since the last replacement; see `findLatest`. */
  lookups?: number;
  authentication: Authentication;
}

export async function createAuthentications(connection: MongoConnection): Promise<Authentications> {
  const collection = connection.collection<AuthenticationDocument>(COLLECTION);
  await createIndexes(collection);

  async function latest(filter: Filter<AuthenticationDocument>): Promise<Stored | undefined> {
    return stored(await collection.findOneAndUpdate(filter, { $inc: { lookups: 1 } }, { returnDocument: 'after' }));
  }

  return {
    insert: async (authentication) => {
      try {
        await collection.insertOne(documentOf(authentication, 1));
        return true;
      } catch (error) {
        if (duplicateKeyIndex(error) === undefined) throw error;
        return false;
      }
    },
    replace: async (previous, authentication) => {
      const version = previous.version + 1;
      const { matchedCount } = await collection.replaceOne(
        { _id: authentication.acsTransID, version: previous.version },
        documentOf(authentication, version),
      );
      return matchedCount === 1 ? { authentication, version } : undefined;
    },
    find: async (acsTransID) => stored(await collection.findOne({ _id: acsTransID })),
    findLatest: (acsTransID) => latest({ _id: acsTransID }),
    findLatestOf: (threeDSServerTransID) => latest({ threeDSServerTransID }),
    findDue: async (now) => {
      const due = collection.find({ deliverAt: { $lte: now } }).sort({ deliverAt: 1 });
      return (await due.limit(DUE_MAX).toArray()).map(({ authentication, version }) => ({ authentication, version }));
    },
  };
}

async function createIndexes(collection: Collection<AuthenticationDocument>): Promise<void> {
  await collection.createIndexes([
    { key: { threeDSServerTransID: 1 }, name: 'three_ds_server_trans_id_once', unique: true },
    { key: { deliverAt: 1 }, name: 'deliver_at', sparse: true },
    { key: { expiresAt: 1 }, name: 'expires_at', expireAfterSeconds: 0 },
  ]);
}

function documentOf(authentication: Authentication, version: number): AuthenticationDocument {
  const delivery = authentication.state === 'decided' ? authentication.delivery : undefined;
  return {
    _id: authentication.acsTransID,
    version,
    threeDSServerTransID: authentication.request.threeDSServerTransID,
    ...(delivery?.state === 'due' ? { deliverAt: delivery.nextAt } : {}),
    expiresAt: new Date(authentication.at + KEPT_MS),
    authentication,
  };
}

function stored(document: AuthenticationDocument | null): Stored | undefined {
  return document === null ? undefined : { authentication: document.authentication, version: document.version };
}
