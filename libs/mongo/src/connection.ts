import type { Collection, Document } from './driver';
import type { Connection } from 'mongoose';
import mongoose from 'mongoose';

const OPERATION_TIMEOUT_MS = 5_000;
const SERVER_SELECTION_TIMEOUT_MS = 3_000;
const MAX_POOL_SIZE = 64;

export interface MongoConnection {
  /** For schemas and models, where comfort counts. */
  readonly mongoose: Connection;
  /** The driver's own collection, for the hot path: no casting, no hydration. */
  collection<T extends Document>(name: string): Collection<T>;
  /** False once the driver has lost the primary. */
  healthy(): boolean;
  close(): Promise<void>;
}

/**
 * Connects to one database. Writes are acknowledged by a majority and reads see only what a majority has, so that what
 * was told to anyone survives a failover. Every operation has a time-out.
 */
export async function connectMongo(options: { uri: string; database: string }): Promise<MongoConnection> {
  const connection = await mongoose
    .createConnection(options.uri, {
      dbName: options.database,
      autoIndex: false,
      maxPoolSize: MAX_POOL_SIZE,
      serverSelectionTimeoutMS: SERVER_SELECTION_TIMEOUT_MS,
      timeoutMS: OPERATION_TIMEOUT_MS,
      writeConcern: { w: 'majority' },
      readConcern: { level: 'majority' },
      readPreference: 'primary',
    })
    .asPromise();
  return {
    mongoose: connection,
    collection: <T extends Document>(name: string) => connection.getClient().db(options.database).collection<T>(name),
    healthy: () => connection.readyState === mongoose.ConnectionStates.connected,
    close: () => connection.close(),
  };
}

const DUPLICATE_KEY = 11000;

/** The unique index that refused a write: its name, or undefined when the error is another one. */
export function duplicateKeyIndex(error: unknown): string | undefined {
  const { code, message } = error as { code?: unknown; message?: string };
  if (code !== DUPLICATE_KEY) return undefined;
  return /index: (\S+)/.exec(message ?? '')?.[1] ?? '';
}
