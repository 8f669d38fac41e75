import { createRefusalPace } from './refusal-pace';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** The number of `count` refusals that are sent at once. */
async function promptOf(pace: () => Promise<void>, count: number): Promise<number> {
  let sent = 0;
  for (let index = 0; index < count; index += 1) void pace().then(() => (sent += 1));
  await Promise.resolve();
  await Promise.resolve();
  return sent;
}

test('the first refusals are prompt, later ones of clients that do not pause wait a second', async () => {
  const pace = createRefusalPace({ now: Date.now });
  expect(await promptOf(pace, 300)).toBe(100);
  const delayed = pace();
  let isSent = false;
  void delayed.then(() => (isSent = true));
  await jest.advanceTimersByTimeAsync(999);
  expect(isSent).toBe(false);
  await jest.advanceTimersByTimeAsync(1);
  expect(isSent).toBe(true);
  expect(await promptOf(pace, 300)).toBe(50);
});

test('no more than 5,000 wait; the others are answered at once', async () => {
  const pace = createRefusalPace({ now: Date.now });
  expect(await promptOf(pace, 5_200)).toBe(200);
});
