import type { Simulator } from '../src/app';
import { readConfig } from '../src/app';
import type { Client } from './simulator-fixture';
import {
  approvedTransaction,
  bodyOf,
  clientOf,
  connectDatabase,
  CVV,
  dropDatabase,
  HOLDER,
  mongoUri,
  newDatabasePrefix,
  newKey,
  newPayment,
  PAN,
  referenceIn,
  startSimulator,
} from './simulator-fixture';

const prefix = newDatabasePrefix();
const lines: string[] = [];
let simulator: Simulator;
let bank: Client;

beforeAll(async () => {
  simulator = await startSimulator(prefix, {}, lines);
  bank = clientOf(simulator);
});

afterAll(async () => {
  await simulator.stop();
  await dropDatabase(prefix);
});

async function storedText(): Promise<string> {
  const connection = await connectDatabase(prefix);
  const collections = await connection.mongoose.listCollections();
  const documents = await Promise.all(collections.map(({ name }) => connection.collection(name).find().toArray()));
  await connection.close();
  return JSON.stringify(documents);
}

it('keeps no card number, CVV, holder or customer, neither in its database nor in its log', async () => {
  const customer = { firstName: 'Carla', email: 'carla@example.com' };
  const seeded = [PAN, CVV, HOLDER, customer.email];
  for (const amount of ['50', '31.01', '31.24', '31.17', '31.25', '31.18', '31.33']) {
    await bank.perform('sale', newKey(), { amount, customer }).catch(() => undefined);
  }
  const authorization = newPayment();
  await approvedTransaction(bank, 'authorize', referenceIn(authorization), { customer });
  await bank.cancel(newKey());
  // Refusals too: a parser's message quotes what it could not read.
  await bank.post(newKey(), `{"card":{"number":"${PAN}","cvv":${CVV}x`);
  await bank.post(newKey(), bodyOf('sale', newKey(), { mid: { number: PAN }, customer }));
  await bank.post(newKey(), bodyOf('sale', newKey(), { operation: `sale ${PAN}` }));

  const written = (await storedText()) + lines.join('\n');
  expect(written).toContain('"last4":"1111"');
  for (const secret of seeded) {
    for (const encoding of ['utf8', 'base64', 'hex'] as const) {
      const found =
        secret === CVV
          ? new RegExp(`"${CVV}"|\\b${CVV}\\b`).test(written)
          : written.includes(Buffer.from(secret).toString(encoding));
      expect([secret, encoding, found]).toEqual([secret, encoding, false]);
    }
  }
});

it('adds its latency to each answer', async () => {
  const slow = await startSimulator(prefix, { SIMULATOR_LATENCY_MS: '120' });
  const client = clientOf(slow);
  const key = newKey();
  for (const call of [
    () => client.perform('sale', key),
    () => client.inquire(key),
    () => client.cancel(key),
    () => client.ledger(key),
    () => client.perform('sale', newKey(), { amount: '31.25' }),
  ]) {
    const startedAt = performance.now();
    await call();
    // Timers may fire up to a millisecond early.
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(119);
  }
  await slow.stop();
});

it('tells health and figures on its internal port', async () => {
  await bank.perform('sale', newKey());
  const ops = `http://127.0.0.1:${simulator.ports.ops}`;
  const ready = await fetch(`${ops}/health/ready`);
  expect([ready.status, await ready.json()]).toEqual([200, { ready: true, checks: { mongodb: true } }]);
  const figures = await (await fetch(`${ops}/metrics`)).text();
  expect(figures).toMatch(/simulator_acquirer_answers_total\{operation="sale",answer="approved",[^}]*\} [1-9]/);
});

it('refuses to start on a port that is taken, and leaves nothing behind', async () => {
  await expect(startSimulator(prefix, { SIMULATOR_PORT: String(simulator.ports.http) })).rejects.toThrow('EADDRINUSE');
  await expect(startSimulator(prefix, { OPS_PORT: String(simulator.ports.ops) })).rejects.toThrow('EADDRINUSE');
});

it('has a port only while it runs', async () => {
  const brief = await startSimulator(prefix);
  expect(brief.ports.http).toBeGreaterThan(0);
  await brief.stop();
  await brief.stop();
  expect(() => brief.ports).toThrow('not running');
});

it('reports all wrong settings together, and has defaults for what may be left out', () => {
  expect(() => readConfig({ SIMULATOR_PORT: 'x', SIMULATOR_LATENCY_MS: '-1' })).toThrow(
    /MONGODB_URI is not set.*SIMULATOR_PORT.*SIMULATOR_LATENCY_MS|SIMULATOR/,
  );
  expect(readConfig({ MONGODB_URI: mongoUri() })).toMatchObject({
    SIMULATOR_PORT: 8090,
    SIMULATOR_HOST: '127.0.0.1',
    SIMULATOR_LATENCY_MS: 0,
    DATABASE_PREFIX: '',
  });
});
