import type { Simulator } from '../src/app';
import { dropDatabase, newDatabasePrefix, startSimulator } from './simulator-fixture';

/** What a source may send at once, and while a request waits for its turn. ADR 0073. */
const BURST = 200;
const WAITING = 100;

const prefix = newDatabasePrefix();
let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator(prefix, { SIMULATOR_INTERNAL_PORT: '0' });
});
afterAll(async () => {
  await simulator.stop();
  await dropDatabase(prefix);
});

const statusesOf = (port: number, count: number): Promise<number[]> =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const response = await fetch(`http://127.0.0.1:${port}/nowhere`);
      await response.text();
      return response.status;
    }),
  );

test('a source of the pages has a pace; the gateway has none', async () => {
  const statuses = await statusesOf(simulator.ports.http, 3 * (BURST + WAITING));
  const answered = statuses.filter((status) => status === 404).length;
  expect(answered).toBeGreaterThanOrEqual(BURST + WAITING);
  expect(statuses.filter((status) => status === 429)).toHaveLength(statuses.length - answered);
  expect(answered).toBeLessThan(statuses.length);
  const inside = await statusesOf(simulator.ports.internal, 2 * (BURST + WAITING));
  expect(new Set(inside)).toEqual(new Set([404]));
});
