import type { Collection, Document } from './driver';
import os from 'node:os';
import type { Connection, ConnectOptions } from 'mongoose';
import mongoose from 'mongoose';
import './driver-connection';

/** A socket that is silent for this long is dead: its pending calls fail. */
const SOCKET_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 3_000;
const WAIT_FOR_CONNECTION_TIMEOUT_MS = 5_000;
const MAJORITY_TIMEOUT_MS = 5_000;
const SERVER_SELECTION_TIMEOUT_MS = 3_000;
/**
 * How often the driver's monitors check each server. If an answer is later than the connect time-out, the driver
 * interrupts the calls that wait for that server. So a frozen primary blocks calls for 5 s, not for the socket time-out.
 */
const HEARTBEAT_FREQUENCY_MS = 2_000;
const MAX_POOL_SIZE = 64;

export interface MongoConnection {
  /** For schemas and models, off the hot path. */
  readonly mongoose: Connection;
  /** The driver's own collection, for the hot path: no casting, no hydration. */
  collection<T extends Document>(name: string): Collection<T>;
  /** False once the driver has lost the primary. */
  healthy(): boolean;
  close(): Promise<void>;
}

const SETTINGS: ConnectOptions & { runtimeAdapters: object } = {
  autoIndex: false,
  // The server creates a collection with its first document; a service may not do more.
  autoCreate: false,
  maxPoolSize: MAX_POOL_SIZE,
  serverSelectionTimeoutMS: SERVER_SELECTION_TIMEOUT_MS,
  connectTimeoutMS: CONNECT_TIMEOUT_MS,
  socketTimeoutMS: SOCKET_TIMEOUT_MS,
  heartbeatFrequencyMS: HEARTBEAT_FREQUENCY_MS,
  waitQueueTimeoutMS: WAIT_FOR_CONNECTION_TIMEOUT_MS,
  writeConcern: { w: 'majority', wtimeoutMS: MAJORITY_TIMEOUT_MS },
  readConcern: { level: 'majority' },
  readPreference: 'primary',
  // Otherwise the driver imports it dynamically, which jest's module system refuses.
  runtimeAdapters: { os },
};

/**
 * Connects to one database. A majority acknowledges writes and reads see only what a majority has, so that what a
 * client was told survives a failover. Every operation has a time-out.
 */
export async function connectMongo(options: { uri: string; database: string }): Promise<MongoConnection> {
  const connection = await mongoose
    .createConnection(options.uri, { ...SETTINGS, dbName: options.database })
    .asPromise();
  return {
    mongoose: connection,
    collection: <T extends Document>(name: string) => connection.getClient().db(options.database).collection<T>(name),
    healthy: () => connection.readyState === mongoose.ConnectionStates.connected,
    close: () => connection.close(),
  };
}

/** Whom the server has authenticated on this connection, whatever the client says; undefined without authentication. */
export async function databaseUser(connection: Pick<MongoConnection, 'mongoose'>): Promise<string | undefined> {
  const status = await connection.mongoose.getClient().db('admin').command({ connectionStatus: 1 });
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
