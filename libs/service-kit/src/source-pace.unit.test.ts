import { createSourcePace, PACE_WAIT_MAX_MS, STRANGERS } from './source-pace';

const WAITING_MAX = (PACE_WAIT_MAX_MS / 1_000) * STRANGERS.perSecond;

let now = 0;
beforeEach(() => {
  now = 1_000_000;
  jest.useFakeTimers();
});
afterEach(() => void jest.useRealTimers());

async function pass(ms: number): Promise<void> {
  now += ms;
  await jest.advanceTimersByTimeAsync(ms);
}

/** What has come of each piece of work so far. */
function taking(pace: ReturnType<typeof createSourcePace>, address: string, count: number) {
  const results: boolean[] = [];
  for (let index = 0; index < count; index += 1) void pace.take(address).then((result) => results.push(result));
  return results;
}

test('a burst is let through at once, then as much as the pace allows; what would wait too long is refused', async () => {
  const pace = createSourcePace({ now: () => now });
  const results = taking(pace, '192.0.2.1', 1_000);
  await pass(0);
  expect(results).toEqual(Array<boolean>(STRANGERS.burst).fill(true));
  await pass(1_000);
  expect(results).toHaveLength(STRANGERS.burst + STRANGERS.perSecond);
  expect(results).not.toContain(false);
  await pass(PACE_WAIT_MAX_MS);
  expect(results.filter(Boolean)).toHaveLength(STRANGERS.burst + WAITING_MAX);
  expect(results).toHaveLength(1_000);
});

test('a source is an IPv4 address or an IPv6 /64, and does not wait for another one', async () => {
  const pace = createSourcePace({ now: () => now });
  taking(pace, '192.0.2.1', 1_000);
  taking(pace, '2001:db8::1', 1_000);
  const others = [taking(pace, '192.0.2.2', 1), taking(pace, '2001:db8:0:1::1', 1)];
  const same = [taking(pace, '::ffff:192.0.2.1', 1), taking(pace, '2001:db8::ffff', 1)];
  await pass(0);
  expect([others, same]).toEqual([
    [[true], [true]],
    [[], []],
  ]);
});

test('after a pause there is a burst again', async () => {
  const pace = createSourcePace({ now: () => now });
  taking(pace, '192.0.2.1', 1_000);
  await pass(PACE_WAIT_MAX_MS + (1_000 * STRANGERS.burst) / STRANGERS.perSecond);
  const results = taking(pace, '192.0.2.1', STRANGERS.burst);
  await pass(0);
  expect(results).toEqual(Array<boolean>(STRANGERS.burst).fill(true));
});
