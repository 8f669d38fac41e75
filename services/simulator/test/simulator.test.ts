import { TEST_CARDS } from '@gateway/contracts';
import type { Simulator } from '../src/app';
import { readConfig } from '../src/app';
import type { Client } from './simulator-fixture';
import { authenticationRequest, bankClientOf, press } from './threeds-server-fixture';
import {
  approvedTransaction,
  bodyOf,
  clientOf,
  connectDatabase,
  CREDITOR,
  CVV,
  DESCRIPTION,
  DS_MESSAGE_KEY,
  dropDatabase,
  HOLDER,
  IBAN,
  mongoUri,
  newDatabasePrefix,
  newKey,
  newPayment,
  PAN,
  payoutBodyOf,
  payoutClientOf,
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

it('keeps no card number, CVV, holder, customer, IBAN or creditor, neither in its database nor in its log', async () => {
  const payouts = payoutClientOf(simulator);
  const customer = { firstName: 'Carla', email: 'carla@example.com' };
  const browserIP = '203.0.113.7';
  const testCards = [TEST_CARDS.challenged.visa, TEST_CARDS.frictionless.visa, TEST_CARDS.unavailable.visa];
  const creditor = [IBAN, IBAN.slice(2), CREDITOR, DESCRIPTION];
  const seeded = [...creditor, PAN, CVV, HOLDER, customer.email, browserIP, DS_MESSAGE_KEY, ...testCards];
  for (const amount of ['50', '31.01', '31.24', '31.17', '31.25', '31.18', '31.33']) {
    await bank.perform('sale', newKey(), { amount, customer }).catch(() => undefined);
    await payouts.pay(newKey(), { amount }).catch(() => undefined);
  }
  await payouts.post(newKey(), `{"creditor":{"name":"${CREDITOR}","iban":"${IBAN}"x`);
  const broken = newKey();
  await payouts.post(broken, payoutBodyOf(broken, { creditor: { name: CREDITOR, iban: `${IBAN} ` } }));
  const authorization = newPayment();
  await approvedTransaction(bank, 'authorize', referenceIn(authorization), { customer });
  await bank.cancel(newKey());
  // Refused requests too: a parser's message quotes its input.
  await bank.post(newKey(), `{"card":{"number":"${PAN}","cvv":${CVV}x`);
  await bank.post(newKey(), bodyOf('sale', newKey(), { mid: { number: PAN }, customer }));
  await bank.post(newKey(), bodyOf('sale', newKey(), { operation: `sale ${PAN}` }));
  const directory = bankClientOf(simulator);
  const nobody = { url: 'http://127.0.0.1:9' };
  for (const acctNumber of [PAN, ...testCards]) {
    const fields = { acctNumber, email: customer.email, cardholderName: HOLDER, browserIP };
    const { body: ares } = await directory.send(authenticationRequest(nobody, fields));
    if (ares['transStatus'] === 'C') await press(await directory.open(ares), 'success');
    await directory.send(authenticationRequest(nobody, { ...fields, acctNumber: `${acctNumber}x` }));
    await directory.send(`{"acctNumber":"${acctNumber}"`);
  }

  const written = (await storedText()) + lines.join('\n');
  expect(written).toContain('"last4":"1111"');
  expect(written).toContain('"last4":"1003"');
  expect(written).toContain('"last4":"3000"');
  expect(written).toContain('result message was not taken');
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
  const payouts = payoutClientOf(slow);
  const key = newKey();
  for (const call of [
    () => client.perform('sale', key),
    () => client.inquire(key),
    () => client.cancel(key),
    () => client.ledger(key),
    () => client.perform('sale', newKey(), { amount: '31.25' }),
    () => payouts.pay(key),
    () => payouts.acknowledge(key),
  ]) {
    const startedAt = performance.now();
    await call();
    // Timers may fire a little early.
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(115);
  }
  await slow.stop();
});

it('tells health and figures on its internal port', async () => {
  await bank.perform('sale', newKey());
  await payoutClientOf(simulator).pay(newKey());
  const ops = `http://127.0.0.1:${simulator.ports.ops}`;
  const ready = await fetch(`${ops}/health/ready`);
  expect([ready.status, await ready.json()]).toEqual([
    200,
    { ready: true, checks: { started: true, database: true }, mode: 'ordinary' },
  ]);
  const figures = await (await fetch(`${ops}/metrics`)).text();
  expect(figures).toMatch(/simulator_directory_answers_total\{answer="C",[^}]*\} [1-9]/);
  expect(figures).toMatch(/simulator_directory_answers_total\{answer="unavailable",[^}]*\} [1-9]/);
  expect(figures).toMatch(/simulator_directory_answers_total\{answer="error",[^}]*\} [1-9]/);
  expect(figures).toMatch(/simulator_result_attempts_total\{end="not-taken",[^}]*\} [1-9]/);
  expect(figures).toMatch(/simulator_acquirer_answers_total\{operation="sale",answer="approved",[^}]*\} [1-9]/);
  expect(figures).toMatch(/simulator_bank_answers_total\{operation="payout",answer="settled",[^}]*\} [1-9]/);
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
  const wrong = { SIMULATOR_PORT: 'x', SIMULATOR_LATENCY_MS: '-1', SIMULATOR_PUBLIC_URL: 'bank.example' };
  const report = (): unknown => readConfig(wrong);
  for (const name of ['MONGODB_URI is not set', 'DS_MESSAGE_KEY is not set', ...Object.keys(wrong)]) {
    expect(report).toThrow(name);
  }
  const config = readConfig({ MONGODB_URI: mongoUri(), DS_MESSAGE_KEY });
  expect(config.SIMULATOR_PUBLIC_URL).toBeUndefined();
  expect(config).toMatchObject({
    SIMULATOR_PORT: 8090,
    SIMULATOR_HOST: '127.0.0.1',
    SIMULATOR_LATENCY_MS: 0,
    DATABASE_PREFIX: '',
  });
});

it.each([32, 33, 34, 35, 64])('takes a message key of %i bytes', (bytes) => {
  const DS_MESSAGE_KEY = Buffer.alloc(bytes, 0xfb).toString('base64');
  expect(readConfig({ MONGODB_URI: mongoUri(), DS_MESSAGE_KEY })).toMatchObject({ DS_MESSAGE_KEY });
});

it.each([
  ['31 bytes', Buffer.alloc(31).toString('base64')],
  ['base64url', Buffer.alloc(33, 0xfb).toString('base64url')],
  ['no padding', Buffer.alloc(32).toString('base64').replace('=', '')],
  ['a pass phrase', 'correct horse battery staple correct horse battery staple'],
])('takes no message key of %s, and does not repeat it', (_name, DS_MESSAGE_KEY) => {
  const read = (): unknown => readConfig({ MONGODB_URI: mongoUri(), DS_MESSAGE_KEY });
  expect(read).toThrow('DS_MESSAGE_KEY');
  expect(read).not.toThrow(DS_MESSAGE_KEY);
});
