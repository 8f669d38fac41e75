import { createRequire } from 'node:module';
import os from 'node:os';
import type { MongoClientOptions, TopologyDescription } from 'mongodb';
import { MongoClient } from 'mongodb';
import type * as Mongoose from 'mongoose';
import type { Connection as MongooseConnection } from 'mongoose';
import { sharedLookup } from '@gateway/service-kit';
import type { Collection, Document } from './driver';
import './driver-connection';
import type { Login } from './login';
import { followLogin } from './login';

/** A socket that is silent for this long, beyond the time that a call may take, is dead: its pending calls fail. */
export const SOCKET_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 3_000;
const WAIT_FOR_CONNECTION_TIMEOUT_MS = 5_000;
const MAJORITY_TIMEOUT_MS = 5_000;
const SERVER_SELECTION_TIMEOUT_MS = 3_000;
/**
 * How often the driver's monitors check each server. If an answer is later than the connect time-out, the driver
 * interrupts the calls that wait for that server. So a frozen primary blocks calls for 5 s, not for the socket time-out.
 */
const HEARTBEAT_FREQUENCY_MS = 2_000;
/** Of each process. The server needs a thread for each connection, which Compose limits. */
export const MAX_POOL_SIZE = 64;
/** Idle connections are closed after this time, so that a burst does not keep the server's threads for good. */
const MAX_IDLE_MS = 300_000;

export interface MongoConnection {
  readonly client: MongoClient;
  /** For schemas and models, off the hot path. Loads mongoose, which services do without. */
  readonly mongoose: MongooseConnection;
  /** The driver's own collection, for the hot path: no casting, no hydration. */
  collection<T extends Document>(name: string): Collection<T>;
  /** Another database through the same client: a client of its own would cost monitors, a pool and memory. */
  database(name: string): MongoConnection;
  /** False once the driver has lost the primary. */
  healthy(): boolean;
  readonly login: Login;
  /** Closes the client. Does nothing for a connection that came from `database`. */
  close(): Promise<void>;
}

/** Where a database is. */
export interface DatabaseAddress {
  uri: string;
  /** A connection of this process to the same servers, if there is one: its client is then used. */
  mongo?: MongoConnection | undefined;
}

const SETTINGS: MongoClientOptions & { runtimeAdapters: object } = {
  maxPoolSize: MAX_POOL_SIZE,
  maxIdleTimeMS: MAX_IDLE_MS,
  serverSelectionTimeoutMS: SERVER_SELECTION_TIMEOUT_MS,
  connectTimeoutMS: CONNECT_TIMEOUT_MS,
  heartbeatFrequencyMS: HEARTBEAT_FREQUENCY_MS,
  waitQueueTimeoutMS: WAIT_FOR_CONNECTION_TIMEOUT_MS,
  writeConcern: { w: 'majority', wtimeoutMS: MAJORITY_TIMEOUT_MS },
  readConcern: { level: 'majority' },
  readPreference: 'primary',
  lookup: sharedLookup,
  // Otherwise the driver imports it dynamically, which jest's module system refuses.
  runtimeAdapters: { os },
};

export interface ConnectOptions extends DatabaseAddress {
  database: string;
  /**
   * The longest call of a command line that counts, searches or builds indexes: the driver takes a socket without an
   * answer for dead. Ignored with `mongo`.
   */
  longestCallMs?: number;
}

/**
 * Connects to one database. A majority acknowledges writes and reads see only what a majority has, so that what a
 * client was told survives a failover. Every operation has a time-out.
 */
export async function connectMongo(options: ConnectOptions): Promise<MongoConnection> {
  const { uri, mongo, database, longestCallMs = 0 } = options;
  if (mongo !== undefined) return mongo.database(database);
  const client = new MongoClient(uri, { ...SETTINGS, socketTimeoutMS: SOCKET_TIMEOUT_MS + longestCallMs });
  const login = followLogin(client);
  let healthy = true;
  client.on('topologyDescriptionChanged', ({ newDescription }) => (healthy = hasPrimary(newDescription)));
  try {
    await client.connect();
  } catch (error) {
    await client.close();
    throw error;
  }
  const close = async (): Promise<void> => {
    healthy = false;
    await client.close();
  };
  return openDatabase({ client, login, healthy: () => healthy, close }, database);
}

/** A router counts as a primary while it can be reached. */
function hasPrimary({ type, servers }: TopologyDescription): boolean {
  if (type === 'ReplicaSetWithPrimary' || type === 'LoadBalanced') return true;
  if (type !== 'Single' && type !== 'Sharded') return false;
  return [...servers.values()].some((server) => server.type !== 'Unknown');
}

function openDatabase(
  shared: Pick<MongoConnection, 'client' | 'login' | 'healthy' | 'close'>,
  database: string,
): MongoConnection {
  const { client } = shared;
  const db = client.db(database);
  let models: MongooseConnection | undefined;
  return {
    ...shared,
    get mongoose() {
      return (models ??= openMongoose(client, database));
    },
    collection: <T extends Document>(name: string) => db.collection<T>(name),
    database: (name) => openDatabase({ ...shared, close: async () => undefined }, name),
  };
}

function openMongoose(client: MongoClient, database: string): MongooseConnection {
  const { createConnection } = createRequire(__filename)('mongoose') as typeof Mongoose;
  return createConnection().setClient(client).useDb(database);
}

/** Whom the server has authenticated on this connection, whatever the client says; undefined without authentication. */
export async function databaseUser({ client }: Pick<MongoConnection, 'client'>): Promise<string | undefined> {
  const status = await client.db('admin').command({ connectionStatus: 1 });
  const { authenticatedUsers } = status['authInfo'] as { authenticatedUsers: { user: string }[] };
  return authenticatedUsers[0]?.user;
}

const DUPLICATE_KEY = 11000;

/** The name of the unique index that refused a write; undefined for another error. */
export function duplicateKeyIndex(error: unknown): string | undefined {
  const { code, message } = error as { code?: unknown; message?: string };
  if (code !== DUPLICATE_KEY) return undefined;
  return /index: (\S+)/.exec(message ?? '')?.[1] ?? '';
}
