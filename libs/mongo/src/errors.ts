import { isLimitedRetry, isRetryable, LimitedRetryError, RetryableError } from '@gateway/service-kit';
import { mongo } from 'mongoose';

/** Server errors that say that nobody can write or read at the moment. Names as in the server's error_codes.yml. */
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

/**
 * True when the fault says nothing about the command: the database is away, changes its primary, has no majority or no
 * disk space left. The same command may succeed later, however long that takes.
 */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof mongo.MongoError)) return false;
  if (UNREACHABLE_ERRORS.some((kind) => error instanceof kind) || POOL_ERRORS.has(error.name)) return true;
  if (UNREACHABLE_LABELS.some((label) => error.hasErrorLabel(label))) return true;
  // A bulk write that found no server says so without the kind and the labels of that error, which it keeps beside.
  if (error instanceof mongo.MongoBulkWriteError && isUnreachable(error.errorResponse)) return true;
  // Without a majority the fate of every write is open, whatever the server said about single ones.
  if (error instanceof mongo.MongoBulkWriteError && error.result.getWriteConcernError() !== undefined) return true;
  return UNREACHABLE_CODES.has(Number(error.code));
}

const OUT_OF_DISK_SPACE = 14031;

/** True when the server refused a write because its disk is full: nothing was written. Looks through causes. */
export function isOutOfDiskSpace(error: unknown): boolean {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  return code === OUT_OF_DISK_SPACE || (cause !== undefined && isOutOfDiskSpace(cause));
}

/**
 * Runs `work` and says how often to try again when the database fails.
 *
 * @throws RetryableError while the database cannot be reached; LimitedRetryError when it refuses the command for any
 * other reason; other errors as they are.
 */
export async function retryableWhenTransient<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isRetryable(error) || isLimitedRetry(error) || !(error instanceof mongo.MongoError)) throw error;
    const Fault = isUnreachable(error) ? RetryableError : LimitedRetryError;
    throw new Fault(`database: ${error.message}`, { cause: error });
  }
}
