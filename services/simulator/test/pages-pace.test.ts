import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
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

const SENT_TOGETHER = 7_000;

test(`of ${SENT_TOGETHER} requests for a page that are sent together one is answered`, async () => {
  const client = connect(simulator.ports.http, '127.0.0.1');
  // The rest may still be on its way when the connection ends.
  client.on('error', () => undefined).write('GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(SENT_TOGETHER));
  const received = await text(client).catch(() => 'HTTP/1.1 404');
  expect(received.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 404']);
});

test('a source of the pages has a pace; the gateway has none', async () => {
  const statuses = await statusesOf(simulator.ports.http, 3 * (BURST + WAITING));
  const answered = statuses.filter((status) => status === 404).length;
  expect(answered).toBeGreaterThanOrEqual(BURST + WAITING);
  expect(statuses.filter((status) => status === 429)).toHaveLength(statuses.length - answered);
  expect(answered).toBeLessThan(statuses.length);
  const inside = await statusesOf(simulator.ports.internal, 2 * (BURST + WAITING));
  expect(new Set(inside)).toEqual(new Set([404]));
});
