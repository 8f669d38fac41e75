import { createRefusalPace } from './refusal-pace';

const PROMPT = 100;
const CLIENTS = 400;

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

test('the first refusals are prompt, later ones of clients that do not pause wait a second or more', async () => {
  const pace = createRefusalPace({ now: Date.now, random: () => 0 });
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

test('clients that were refused in one moment do not come back in one moment', async () => {
  let sent = 0;
  let waiting = -1;
  // Even numbers in place of random ones.
  const pace = createRefusalPace({ now: Date.now, random: () => (waiting += 1) / CLIENTS });
  await promptOf(pace, PROMPT);
  for (let client = 0; client < CLIENTS; client += 1) void pace().then(() => (sent += 1));
  await jest.advanceTimersByTimeAsync(999);
  const inTenths: number[] = [];
  for (let tenth = 0; tenth < 20; tenth += 1) {
    const before = sent;
    await jest.advanceTimersByTimeAsync(100);
    inTenths.push(sent - before);
  }
  expect(Math.max(...inTenths)).toBeLessThanOrEqual(CLIENTS / 20 + 1);
  expect(sent).toBe(CLIENTS);
});

test('no more than 5,000 wait; the others are answered at once', async () => {
  const pace = createRefusalPace({ now: Date.now });
  expect(await promptOf(pace, 5_200)).toBe(200);
});
