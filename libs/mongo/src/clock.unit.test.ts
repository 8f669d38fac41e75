import { createMeasuredClock } from './clock';

const START = 1_800_000_000_000;

/** A database, a machine with a wrong clock, and a network between them. Times are in ms. */
function world(offMs: number) {
  const state = {
    trueMs: 0,
    wallOffMs: offMs,
    suspendedMs: 0,
    serverOffMs: 0,
    server: 'a',
    there: 1,
    back: 1,
    jumps: 0,
  };
  const clock = createMeasuredClock({
    async ask() {
      state.trueMs += state.there;
      const answer = { server: state.server, ms: START + state.trueMs + state.serverOffMs };
      state.trueMs += state.back;
      return answer;
    },
    wallClock: () => START + state.trueMs + state.wallOffMs,
    monotonicClock: () => 77 + state.trueMs - state.suspendedMs,
    onJump: () => (state.jumps += 1),
  });
  /** How far the clock is ahead of the true time. */
  const errorMs = (): number => clock.now() - START - state.trueMs;
  return { state, clock, errorMs };
}

test.each([30_000, -30_000])("a machine that is %p ms off uses the database's time", async (offMs) => {
  const { state, clock, errorMs } = world(offMs);
  await clock.measure();
  expect(errorMs()).toBe(0);
  state.trueMs += 60_000;
  expect(errorMs()).toBe(0);
  expect(clock.skewMs()).toBe(offMs);
});

test('the sample with the shortest round trip counts', async () => {
  const { state, clock, errorMs } = world(0);
  await clock.measure();
  Object.assign(state, { there: 300, back: 0 });
  await clock.measure();
  expect(errorMs()).toBe(0);
});

test('samples age: a new one with a longer round trip corrects a drifting clock', async () => {
  const { state, clock, errorMs } = world(0);
  await clock.measure();
  Object.assign(state, { trueMs: 120_000, serverOffMs: 12, there: 4, back: 4 });
  await clock.measure();
  expect(errorMs()).toBe(12);
});

test('the clock pauses instead of running back a little', async () => {
  const { state, clock } = world(0);
  Object.assign(state, { there: 0, back: 40 });
  await clock.measure();
  const before = clock.now();
  Object.assign(state, { there: 1, back: 1 });
  await clock.measure();
  expect(clock.now()).toBeGreaterThanOrEqual(before);
});

test("the clock follows a new primary's time at once", async () => {
  const { state, clock, errorMs } = world(0);
  await clock.measure();
  Object.assign(state, { server: 'b', serverOffMs: -5_000, there: 50, back: 50 });
  await clock.measure();
  expect(errorMs()).toBe(-5_000);
});

test("the clock follows at once when the database's clock is set", async () => {
  const { state, clock, errorMs } = world(0);
  await clock.measure();
  Object.assign(state, { serverOffMs: 5_000, there: 50, back: 50 });
  await clock.measure();
  expect(errorMs()).toBe(5_000);
});

test('a suspended machine is not in the past when it wakes up', async () => {
  const { state, clock, errorMs } = world(0);
  await clock.measure();
  Object.assign(state, { trueMs: state.trueMs + 600_000, suspendedMs: 600_000 });
  expect(errorMs()).toBe(0);
  expect(state.jumps).toBe(1);
});

test("setting the machine's clock back changes nothing, and a measurement corrects setting it forward", async () => {
  const { state, clock, errorMs } = world(0);
  await clock.measure();
  state.wallOffMs = -3_600_000;
  expect([errorMs(), state.jumps]).toEqual([0, 1]);
  state.wallOffMs = 3_600_000;
  expect(errorMs()).toBe(3_600_000);
  await clock.measure();
  expect(errorMs()).toBe(0);
  expect(clock.skewMs()).toBe(3_600_000);
});

test('reading a clock before its first sample throws', () => {
  expect(() => world(0).clock.now()).toThrow('before it was set');
});
