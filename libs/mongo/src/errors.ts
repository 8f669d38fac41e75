import { isLimitedRetry, isRetryable, LimitedRetryError, RetryableError } from '@gateway/service-kit';
import * as mongo from 'mongodb';

/** Server errors that mean no client can read or write now. Names from the server's error_codes.yml. */
const UNREACHABLE_CODES = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  18, // AuthenticationFailed: no connection can be opened
  63, // StaleShardVersion
  64, // WriteConcernTimeout
  89, // NetworkTimeout
  91, // ShutdownInProgress
  94, // NotYetInitialized
  100, // UnsatisfiableWriteConcern: too few members for a majority
  133, // FailedToSatisfyReadPreference
  134, // ReadConcernMajorityNotAvailableYet
  150, // StaleEpoch
  189, // PrimarySteppedDown
  262, // ExceededTimeLimit
  9001, // SocketException
  10058, // LegacyNotPrimary
  10107, // NotWritablePrimary
  11600, // InterruptedAtShutdown
  11602, // InterruptedDueToReplStateChange
  13388, // StaleConfig
  13435, // NotPrimaryNoSecondaryOk
  13436, // NotPrimaryOrSecondary
  14031, // OutOfDiskSpace
]);

const UNREACHABLE_LABELS = ['RetryableWriteError', 'PoolRequestedRetry', 'SystemOverloadedError'];

const UNREACHABLE_ERRORS = [
  mongo.MongoNetworkError,
  mongo.MongoServerSelectionError,
  mongo.MongoNotConnectedError,
  mongo.MongoTopologyClosedError,
  mongo.MongoServerClosedError,
  mongo.MongoClientClosedError,
  mongo.MongoStalePrimaryError,
  mongo.MongoOperationTimeoutError,
  mongo.MongoWriteConcernError,
];

/** The driver does not export these two. */
const POOL_ERRORS = new Set(['MongoPoolClosedError', 'MongoWaitQueueTimeoutError']);

/** Socket errors. The driver does not wrap those of `Connection.writeCommand`, such as EPIPE. */
const SOCKET_CODES = new Set(['EPIPE', 'ECONNRESET', 'ECONNREFUSED', 'ECONNABORTED', 'ETIMEDOUT', 'EHOSTUNREACH']);

/**
 * True if the fault does not depend on the command: the database is away, elects a primary, or has no majority or disk
 * space. The same command may succeed later.
 */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof mongo.MongoError))
    return error instanceof Error && SOCKET_CODES.has(String((error as { code?: unknown }).code));
  if (UNREACHABLE_ERRORS.some((kind) => error instanceof kind) || POOL_ERRORS.has(error.name)) return true;
  if (UNREACHABLE_LABELS.some((label) => error.hasErrorLabel(label))) return true;
  // A bulk write that found no server has the original error, with its kind and labels, in `errorResponse`.
  if (error instanceof mongo.MongoBulkWriteError && isUnreachable(error.errorResponse)) return true;
  // Without a majority the outcome of every write is unknown, even of those the server rejected.
  if (error instanceof mongo.MongoBulkWriteError && error.result.getWriteConcernError() !== undefined) return true;
  return UNREACHABLE_CODES.has(Number(error.code));
}

const OUT_OF_DISK_SPACE = 14031;

/** True if the server rejected a write because its disk is full, so nothing was written. Follows `cause`. */
export function isOutOfDiskSpace(error: unknown): boolean {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  return code === OUT_OF_DISK_SPACE || (cause !== undefined && isOutOfDiskSpace(cause));
}

/**
 * Runs `work` and classifies database errors by how often to retry.
 *
 * @throws RetryableError if the database cannot be reached; LimitedRetryError for any other database error; other errors
 * unchanged.
 */
export async function retryableWhenTransient<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isRetryable(error) || isLimitedRetry(error) || !(error instanceof Error)) throw error;
    if (isUnreachable(error)) throw new RetryableError(`database: ${error.message}`, { cause: error });
    if (error instanceof mongo.MongoError) throw new LimitedRetryError(`database: ${error.message}`, { cause: error });
    throw error;
  }
}
