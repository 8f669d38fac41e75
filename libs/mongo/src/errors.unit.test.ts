import { isLimitedRetry, isRetryable } from '@gateway/service-kit';
import * as mongo from 'mongodb';
import { isOutOfDiskSpace, retryableWhenTransient } from './errors';

const server = (code: number, errorLabels: string[] = []): Error =>
  new mongo.MongoServerError({ message: `code ${code}`, code, errorLabels });

/** An unordered bulk write with one rejected document and, optionally, a write concern error. */
function bulk(code: number, concern?: number): Error {
  const result = { getWriteConcernError: () => (concern === undefined ? undefined : { code: concern }) };
  const error = { message: `code ${code}`, code, writeErrors: [] };
  return new mongo.MongoBulkWriteError(error, result as never);
}

/** The driver's wrapper of an error that kept a bulk write from reaching a server. */
function unsent(error: Error): Error {
  const result = { getWriteConcernError: () => undefined };
  return new mongo.MongoBulkWriteError(error, result as never);
}

class MongoWaitQueueTimeoutError extends mongo.MongoDriverError {
  override get name(): string {
    return 'MongoWaitQueueTimeoutError';
  }
}

async function retryOf(error: Error): Promise<'unlimited' | 'limited' | 'none'> {
  const thrown: unknown = await retryableWhenTransient(() => Promise.reject(error)).catch((fault: unknown) => fault);
  if (isRetryable(thrown)) return 'unlimited';
  return isLimitedRetry(thrown) ? 'limited' : 'none';
}

test.each<[string, Error]>([
  ['a broken connection', new mongo.MongoNetworkError('reset')],
  ['a socket that the server has closed', Object.assign(new Error('ended by the other party'), { code: 'EPIPE' })],
  ['a silent connection', new mongo.MongoNetworkTimeoutError('silent')],
  ['no primary', new mongo.MongoServerSelectionError('no primary', {} as never)],
  ['an exhausted pool', new MongoWaitQueueTimeoutError('too many')],
  ['a closed client', new mongo.MongoNotConnectedError('closed')],
  ['no primary any more', server(10107)],
  ['a primary that stepped down', server(189)],
  ['a node that shuts down', server(91)],
  ['a full disk', server(14031)],
  ['an error with a retryable label', server(1, ['RetryableWriteError'])],
  ['no majority in time', new mongo.MongoWriteConcernError({ writeConcernError: { code: 64, errmsg: 'x' }, ok: 1 })],
  ['a rejected document in a bulk write without a majority', bulk(121, 64)],
  ['a bulk write that found no primary', unsent(new mongo.MongoServerSelectionError('no primary', {} as never))],
  ['a bulk write on a broken connection', unsent(new mongo.MongoNetworkError('reset'))],
])('%s is retried without limit', async (_name, error) => {
  expect(await retryOf(error)).toBe('unlimited');
});

test.each<[string, Error]>([
  ['a document that fails its validation', server(121)],
  ['a document within a bulk write that fails its validation', bulk(121)],
  ['a document that is too large', server(10334)],
  ['a document that grows too large', server(17419)],
  ['a document that the driver finds too large', new mongo.MongoInvalidArgumentError('too large')],
  ['a command that cannot be parsed', server(9)],
  ['a command that is not allowed', server(13)],
  ['a duplicate key', server(11000)],
  ['an unknown code', server(987_654)],
])('%s gets a limited number of attempts', async (_name, error) => {
  expect(await retryOf(error)).toBe('limited');
});

test('other errors are not changed', async () => {
  expect(await retryOf(new Error('broken invariant'))).toBe('none');
});

test.each([
  ['a server error', server(14031), true],
  ['a bulk write', bulk(14031), true],
  ['another code', server(11602), false],
])('recognizes a full disk in %s, wrapped or not', async (_what, error, expected) => {
  const wrapped: unknown = await retryableWhenTransient(() => Promise.reject(error)).catch((fault: unknown) => fault);
  expect([isOutOfDiskSpace(error), isOutOfDiskSpace(wrapped)]).toEqual([expected, expected]);
});
