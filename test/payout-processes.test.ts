import { createHttpClient } from '@gateway/service-kit';
import { until } from '@gateway/testing';
import { freePort } from './support/free-port';
import { PAYOUT_PATH, STATUS_PATH, payout } from './support/payouts';
import type { ServiceProcess } from './support/processes';
import { build, startProcess } from './support/processes';
import type { Storage } from './support/storage';
import { openStorage } from './support/storage';
import type { Body, LedgerEntry, Surroundings } from './support/system';
import { CREDENTIALS, clientOf, openSurroundings, recordsOf } from './support/system';

/** Long enough that a signal finds payouts in the middle of everything. */
const BANK_LATENCY_MS = 400;
const COUNT = 100;

let surroundings: Surroundings;
let storage: Storage;
let env: Record<string, string>;
let http: ReturnType<typeof clientOf>;
const running = new Map<string, ServiceProcess>();

async function start(service: string): Promise<void> {
  running.set(service, await startProcess(service, env));
}

const endOf = (service: string, signal: 'SIGTERM' | 'SIGKILL') => running.get(service)?.end(signal);

beforeAll(async () => {
  await build();
  surroundings = await openSurroundings('payoutproc');
  storage = await openStorage(surroundings.space);
  const [edge, cardQuery, payoutQuery, simulator] = (await Promise.all(Array.from({ length: 4 }, freePort))).map(
    String,
  );
  env = {
    ...surroundings.env,
    PORT: edge ?? '',
    CARD_QUERY_URL: `http://127.0.0.1:${cardQuery}`,
    PAYOUT_QUERY_PORT: payoutQuery ?? '',
    PAYOUT_QUERY_URL: `http://127.0.0.1:${payoutQuery}`,
    SIMULATOR_PORT: simulator ?? '',
    SIMULATOR_URL: `http://127.0.0.1:${simulator}`,
    SIMULATOR_LATENCY_MS: String(BANK_LATENCY_MS),
    CONCURRENCY: '30',
  };
  await Promise.all(['simulator', 'payout', 'api-edge'].map(start));
  http = clientOf(Number(edge));
}, 180_000);

afterAll(async () => {
  await Promise.all([...running.values()].map((one) => one.end('SIGKILL')));
  await storage.close();
  await surroundings.close();
});

async function payMany(count: number): Promise<Body[]> {
  const sent = Array.from({ length: count }, async () => (await http.post<Body>(PAYOUT_PATH, payout())).data);
  const answers = await Promise.all(sent);
  for (const answer of answers) expect(answer).toMatchObject({ status: 'pending', code: 0 });
  return answers;
}

async function statusOf(reference: unknown): Promise<string> {
  const { data } = await http.post<Body>(STATUS_PATH, { ...CREDENTIALS, transaction_type: 'CHECK', reference });
  expect(data).toMatchObject({ status: 'success', code: 0 });
  return recordsOf(data)[0]?.status ?? 'nothing';
}

/** The final status of a payout, which must agree with the bank's ledger. */
async function borneOut({ reference }: Body): Promise<string> {
  const status = await until(
    `the end of ${String(reference)}`,
    async () => {
      const found = await statusOf(reference);
      return found === 'PENDING' ? undefined : found;
    },
    90_000,
  );
  const simulator = createHttpClient({ baseUrl: env['SIMULATOR_URL'] ?? '', timeoutMs: 5_000 });
  const { data } = await simulator.get<{ entries: LedgerEntry[] }>('/ledger', { params: { reference } });
  expect([reference, data.entries.length]).toEqual([reference, status === 'SUCCESS' ? 1 : 0]);
  return status;
}

const payouts = () => storage.collection('payouts', 'payouts');

test('kill -9 of the payout service during payouts: none is lost, none is paid twice', async () => {
  const answers = await payMany(COUNT);
  await until('calls under way', async () => (await payouts().countDocuments({ 'state.kind': 'submitting' })) > 0);
  expect(await endOf('payout', 'SIGKILL')).toBe('SIGKILL');
  for (const { reference } of answers.slice(0, 3))
    expect(['PENDING', 'nothing']).toContain(await safeStatus(reference));
  await start('payout');
  const ends = await Promise.all(answers.map(borneOut));
  expect(ends.every((status) => status === 'SUCCESS' || status === 'ERROR')).toBe(true);
  expect(ends.filter((status) => status === 'SUCCESS').length).toBeGreaterThan(COUNT / 2);
  expect(await payouts().countDocuments()).toBe(COUNT);
}, 240_000);

/** While its owner is dead, CHECK never denies an accepted payout. */
async function safeStatus(reference: unknown): Promise<string> {
  const { data } = await http.post<Body>(STATUS_PATH, { ...CREDENTIALS, transaction_type: 'CHECK', reference });
  expect(data['code']).not.toBe(3014);
  return recordsOf(data)[0]?.status ?? 'nothing';
}

test('payouts accepted while their service was down are paid when it is back', async () => {
  expect(await endOf('payout', 'SIGTERM')).toBe(0);
  const answers = await payMany(10);
  await start('payout');
  expect(await Promise.all(answers.map(borneOut))).toEqual(answers.map(() => 'SUCCESS'));
}, 120_000);

test('SIGTERM of everything ends with 0', async () => {
  for (const service of ['payout', 'api-edge', 'simulator']) expect(await endOf(service, 'SIGTERM')).toBe(0);
});
