import { RetryableError } from '@gateway/service-kit';
import { silentLogger } from '@gateway/testing';
import { createLateEntries } from './late-entries';
import type { Insertion, JournalEntry } from './ports';

const HOUR_MS = 3_600_000;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

function open() {
  const inserted: string[] = [];
  const journal = { away: true, insertion: 'inserted' as Insertion };
  const late = createLateEntries({
    journal: {
      async insertAgain({ reference }) {
        if (journal.away) throw new RetryableError('away');
        inserted.push(reference);
        return journal.insertion;
      },
    },
    now: Date.now,
    logger: silentLogger,
  });
  const entry = (reference: string) => ({ entry: { reference, acceptedAt: Date.now() } as JournalEntry });
  late.start();
  return { late, journal, inserted, entry };
}

test('an entry is inserted once, as soon as the journal accepts it', async () => {
  const { late, journal, inserted, entry } = open();
  late.add(entry('A'));
  await jest.advanceTimersByTimeAsync(60_000);
  late.add(entry('B'));
  expect(inserted).toEqual([]);
  journal.away = false;
  await jest.advanceTimersByTimeAsync(1_000);
  expect(inserted).toEqual(['A', 'B']);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(inserted).toEqual(['A', 'B']);
  await late.stop();
});

test('the action after an insert is retried with it, and skipped if the id has been used meanwhile', async () => {
  const { late, journal, inserted, entry } = open();
  journal.away = false;
  const afterwards = jest.fn(async () => undefined).mockRejectedValueOnce(new RetryableError('away'));
  late.add({ ...entry('A'), afterwards });
  await jest.advanceTimersByTimeAsync(60_000);
  expect([inserted, afterwards.mock.calls.length]).toEqual([['A', 'A'], 2]);
  journal.insertion = 'id-used';
  late.add({ ...entry('B'), afterwards });
  await jest.advanceTimersByTimeAsync(60_000);
  expect([inserted, afterwards.mock.calls.length]).toEqual([['A', 'A', 'B'], 2]);
  await late.stop();
});

test('an entry whose id has been used meanwhile is dropped', async () => {
  const { late, journal, inserted, entry } = open();
  Object.assign(journal, { away: false, insertion: 'id-used' });
  late.add(entry('A'));
  await jest.advanceTimersByTimeAsync(60_000);
  expect(inserted).toEqual(['A']);
  await late.stop();
});

test('an entry is given up after an hour', async () => {
  const { late, journal, inserted, entry } = open();
  late.add(entry('A'));
  await jest.advanceTimersByTimeAsync(HOUR_MS + 1_000);
  journal.away = false;
  await jest.advanceTimersByTimeAsync(60_000);
  expect(inserted).toEqual([]);
  await late.stop();
});

test('a stop tries once more', async () => {
  const { late, journal, inserted, entry } = open();
  late.add(entry('A'));
  journal.away = false;
  await late.stop();
  expect(inserted).toEqual(['A']);
});
