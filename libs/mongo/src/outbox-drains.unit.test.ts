import { createLogger } from '@gateway/service-kit';
import { MongoNetworkError, MongoServerError } from 'mongodb';
import { createDrains } from './outbox-drains';

const logger = createLogger({ service: 'test', level: 'silent' });
const AWAY = new MongoNetworkError('the primary is gone');
const REJECTED = new MongoServerError({ message: 'input to $filter must be an array', code: 28651 });

beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] }));
afterEach(() => jest.useRealTimers());

/** Drains whose updates fail with these errors, first to last. */
function setUp(errors: readonly (Error | undefined)[] = []) {
  const updates: { aggregateIds: string[]; entryIds: string[] }[] = [];
  const remove = async (aggregateIds: string[], entryIds: string[]): Promise<void> => {
    updates.push({ aggregateIds, entryIds });
    const error = errors[updates.length - 1];
    if (error !== undefined) throw error;
  };
  return { drains: createDrains({ remove, logger }), updates };
}

const ids = (name: string, count: number): string[] => Array.from({ length: count }, (_, index) => `${name}${index}`);

test('entries of many aggregates share an update, and of one aggregate too', async () => {
  const { drains, updates } = setUp();
  drains.add('A', ['1', '2']);
  drains.add('B', ['3']);
  drains.add('A', ['2', '4']);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(updates).toEqual([{ aggregateIds: ['A', 'B'], entryIds: ['1', '2', '4', '3'] }]);
});

test('an update gathers entries for a tenth of a second', async () => {
  const { drains, updates } = setUp();
  drains.add('A', ['1']);
  await jest.advanceTimersByTimeAsync(90);
  expect(updates).toEqual([]);
  drains.add('B', ['2']);
  await jest.advanceTimersByTimeAsync(10);
  expect(updates).toEqual([{ aggregateIds: ['A', 'B'], entryIds: ['1', '2'] }]);
});

test('an update has at most 100 aggregates', async () => {
  const { drains, updates } = setUp();
  for (const id of ids('A', 250)) drains.add(id, [`${id}/1`]);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(updates.map(({ aggregateIds }) => aggregateIds.length)).toEqual([100, 100, 50]);
});

test('without a primary the same entries are tried again, with those that came meanwhile', async () => {
  const { drains, updates } = setUp([AWAY]);
  for (const id of ids('A', 150)) drains.add(id, [`${id}/1`]);
  await jest.advanceTimersByTimeAsync(100);
  expect(updates).toHaveLength(1);
  drains.add('B', ['1']);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(updates.slice(1).flatMap(({ aggregateIds }) => aggregateIds)).toEqual([...ids('A', 150), 'B']);
});

test('what `flush` could not remove is tried again without another call', async () => {
  const { drains, updates } = setUp([AWAY, AWAY]);
  drains.add('A', ['1']);
  await expect(drains.flush()).rejects.toThrow(AWAY);
  await jest.advanceTimersByTimeAsync(3_000);
  expect(updates).toEqual(Array(3).fill({ aggregateIds: ['A'], entryIds: ['1'] }));
});

test('an update that the server rejects does not hold up the others', async () => {
  const { drains, updates } = setUp([REJECTED]);
  for (const id of ids('A', 150)) drains.add(id, [`${id}/1`]);
  await jest.advanceTimersByTimeAsync(3_000);
  expect(updates.map(({ aggregateIds }) => aggregateIds)).toEqual([ids('A', 100), ids('A', 150).slice(100)]);
});

test('`stop` removes what waits, once more if that is under way and fails, and leaves no timer', async () => {
  const { drains, updates } = setUp([AWAY, AWAY]);
  drains.add('A', ['1']);
  jest.advanceTimersByTime(100);
  await drains.stop();
  expect(updates).toHaveLength(2);
  expect(jest.getTimerCount()).toBe(0);
});

test('10,000 acknowledged entries are remembered, also after they have left', async () => {
  const { drains } = setUp();
  drains.add('A', ['first']);
  await drains.flush();
  drains.add('A', ids('entry', 4_999));
  expect(drains.isAcknowledged('first')).toBe(true);
  drains.add('A', ids('later', 5_000));
  expect(drains.isAcknowledged('first')).toBe(true);
  drains.add('A', ['one more']);
  expect(drains.isAcknowledged('first')).toBe(false);
  expect(drains.isAcknowledged('later0')).toBe(true);
});
