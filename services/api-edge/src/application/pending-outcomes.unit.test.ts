import type { OperationOutcome } from '@gateway/contracts';
import { silentLogger } from '@gateway/testing';
import { createPendingOutcomes } from './pending-outcomes';

const REFERENCE = 'ABCDEFGHIJKLMNOP0001';
const SUCCESS = { reference: REFERENCE, status: 'success', code: 0 } as OperationOutcome;
const FIRST_QUESTION_AFTER_MS = 1_000;
const TIMEOUT_MS = 30_000;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** Queries that the test answers. */
function open() {
  const asked: ((outcome: OperationOutcome | undefined) => void)[] = [];
  const pending = createPendingOutcomes({
    ask: () => new Promise((resolve) => asked.push(resolve)),
    repliesExpected: () => true,
    timeoutMs: TIMEOUT_MS,
    now: Date.now,
    logger: silentLogger,
  });
  return { pending, asked, wait: () => pending.wait('merchant', REFERENCE) };
}

const answered = (): Promise<void> => jest.advanceTimersByTimeAsync(0).then(() => undefined);

test('a reply is the outcome, without a query', async () => {
  const { pending, asked, wait } = open();
  const outcome = wait();
  pending.deliver(SUCCESS);
  expect(await outcome).toBe(SUCCESS);
  await jest.advanceTimersByTimeAsync(TIMEOUT_MS);
  expect([asked.length, pending.size]).toEqual([0, 0]);
});

test('without a reply the owner is asked repeatedly until the time-out', async () => {
  const { asked, pending, wait } = open();
  const outcome = wait();
  for (let questions = 1; questions <= 9; questions += 1) {
    await jest.advanceTimersByTimeAsync(questions === 1 ? FIRST_QUESTION_AFTER_MS : 4_000);
    expect(asked).toHaveLength(questions);
    asked.at(-1)?.(undefined);
    await answered();
  }
  expect(await outcome).toBeUndefined();
  expect(pending.size).toBe(0);
});

test('at most one query per request runs at a time', async () => {
  const { asked, pending, wait } = open();
  void wait();
  pending.askForAll();
  pending.askForAll();
  expect(asked).toHaveLength(1);
  asked[0]?.(undefined);
  await answered();
  expect(jest.getTimerCount()).toBe(1);
  pending.askForAll();
  expect(asked).toHaveLength(2);
  expect(jest.getTimerCount()).toBe(0);
});

test('an answer after the reply does not affect later waiters', async () => {
  const { asked, pending, wait } = open();
  const first = wait();
  pending.askForAll();
  pending.deliver(SUCCESS);
  expect(await first).toBe(SUCCESS);
  const second = wait();
  asked[0]?.(SUCCESS);
  await answered();
  expect(pending.size).toBe(1);
  pending.deliver(SUCCESS);
  expect(await second).toBe(SUCCESS);
});
