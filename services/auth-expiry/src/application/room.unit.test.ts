import { createRoom } from './room';

/** A card-processing that commits once a second. */
function bench() {
  const queue = { done: 1_000_000, waiting: 0 };
  let clock = Date.UTC(2026, 0, 15);
  const room = createRoom(
    async () => ({ ...queue }),
    () => clock,
  );
  return {
    queue,
    room,
    pass(seconds: number, done: number) {
      clock += seconds * 1_000;
      queue.done += done;
    },
  };
}

test('without a recent measurement there is room to measure the pace', async () => {
  const { queue, room, pass } = bench();
  expect(await room()).toBe(250);
  queue.waiting = 100;
  expect(await room()).toBe(150);
  pass(60, 60_000);
  expect(await room()).toBe(150);
});

test('two seconds of work may wait, merchants’ and ours together', async () => {
  const { queue, room, pass } = bench();
  await room();
  pass(1, 700);
  expect(await room()).toBe(1_400);
  queue.waiting = 1_000;
  pass(1, 500);
  expect(await room()).toBe(200);
  queue.waiting = 5_000;
  expect(await room()).toBeLessThan(0);
});

test('a pace measured more than four seconds ago is forgotten', async () => {
  const { room, pass } = bench();
  await room();
  pass(2, 2_000);
  expect(await room()).toBe(2_000);
  pass(3, 0);
  expect(await room()).toBe(250);
});

test('there is little room when it is slow, stuck or was reset', async () => {
  const { queue, room, pass } = bench();
  await room();
  pass(2, 50);
  queue.waiting = 240;
  expect(await room()).toBe(10);
  pass(2, -10_000);
  expect(await room()).toBe(10);
});
