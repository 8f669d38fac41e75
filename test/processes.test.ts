import { createHttpClient } from '@gateway/service-kit';
import { until } from '@gateway/testing';
import { freePort } from './support/free-port';
import type { ServiceProcess } from './support/processes';
import { build, startProcess } from './support/processes';
import type { Storage } from './support/storage';
import { openStorage } from './support/storage';
import type { Body, LedgerEntry, Surroundings } from './support/system';
import { cardRequest, checkOf, clientOf, openSurroundings, post, recordsOf } from './support/system';

/** Long enough that a signal finds requests in the middle of everything. */
const ACQUIRER_LATENCY_MS = 1_000;

let surroundings: Surroundings;
let storage: Storage;
let env: Record<string, string>;
let http: ReturnType<typeof clientOf>;
const running = new Map<string, ServiceProcess>();

async function start(service: string): Promise<ServiceProcess> {
  const started = await startProcess(service, env);
  running.set(service, started);
  return started;
}

beforeAll(async () => {
  await build();
  surroundings = await openSurroundings('proc');
  storage = await openStorage(surroundings.space);
  const [edge, query, payoutQuery, simulator] = (await Promise.all(Array.from({ length: 4 }, freePort))).map(String);
  env = {
    ...surroundings.env,
    LOG_LEVEL: 'info',
    PORT: edge ?? '',
    CARD_QUERY_PORT: query ?? '',
    CARD_QUERY_URL: `http://127.0.0.1:${query}`,
    PAYOUT_QUERY_PORT: payoutQuery ?? '',
    PAYOUT_QUERY_URL: `http://127.0.0.1:${payoutQuery}`,
    SIMULATOR_PORT: simulator ?? '',
    SIMULATOR_URL: `http://127.0.0.1:${simulator}`,
    SIMULATOR_LATENCY_MS: String(ACQUIRER_LATENCY_MS),
    CONCURRENCY: '30',
  };
  await Promise.all(['simulator', 'card-processing', 'api-edge'].map(start));
  http = clientOf(Number(edge));
  expect((await post(http, cardRequest('SALE'))).data).toMatchObject({ code: 0 });
}, 180_000);

afterAll(async () => {
  await Promise.all([...running.values()].map((one) => one.end('SIGKILL')));
  await storage.close();
  await surroundings.close();
});

const startedCount = () => storage.collection('edge', 'journal').countDocuments();

/** Sends SALEs at once and resolves when all of them are in the journal. */
async function underWay(count: number): Promise<Promise<Body>[]> {
  const before = await startedCount();
  const answers = Array.from({ length: count }, async () => (await post(http, cardRequest('SALE'))).data);
  for (const answer of answers) answer.catch(() => undefined);
  await until(`${count} requests under way`, async () => (await startedCount()) >= before + count);
  return answers;
}

async function ledger(reference: unknown): Promise<string[]> {
  const simulator = createHttpClient({ baseUrl: env['SIMULATOR_URL'] ?? '', timeoutMs: 5_000 });
  const { data } = await simulator.get<{ entries: LedgerEntry[] }>('/ledger', { params: { reference } });
  return data.entries.map(({ effect }) => effect);
}

/** The final status of a request, which must agree with the bank's ledger and the sender's answer. */
async function endOf({ reference, status }: Body): Promise<string> {
  expect(reference).toMatch(/^[0-9A-Z]{20}$/);
  const record = await until(
    `the end of ${String(reference)}`,
    async () => {
      const [found] = recordsOf((await post(http, checkOf({ reference }))).data);
      return found?.status === 'PENDING' ? undefined : found;
    },
    60_000,
  );
  expect(['SUCCESS', 'ERROR']).toContain(record.status);
  const sold = (await ledger(reference)).filter((effect) => effect === 'sold');
  expect([reference, sold]).toEqual([reference, record.status === 'SUCCESS' ? ['sold'] : []]);
  if (status === 'success') expect(record.status).toBe('SUCCESS');
  return record.status;
}

test('kill -9 of card-processing during 100 requests: none is lost or executed twice', async () => {
  const payments = storage.collection('cards', 'payments');
  const callsUnderWay = () => payments.countDocuments({ pending: { $exists: true } });
  const first = await underWay(50);
  await Promise.any(first);
  const answers = [...first, ...(await underWay(50))];
  await until('calls to the acquirer', async () => (await callsUnderWay()) > 0);
  expect(await running.get('card-processing')?.end('SIGKILL')).toBe('SIGKILL');
  expect(await callsUnderWay()).toBeGreaterThan(0);
  await start('card-processing');

  const ends = await Promise.all(answers.map(async (answer) => endOf(await answer)));
  expect(ends.filter((status) => status === 'SUCCESS').length).toBeGreaterThan(50);
  expect(await payments.countDocuments()).toBe(101);
}, 180_000);

test('SIGTERM lets card-processing finish running work; the next replica does the rest', async () => {
  const answers = await underWay(80);
  expect(await running.get('card-processing')?.end('SIGTERM')).toBe(0);
  await start('card-processing');
  const all = await Promise.all(answers);
  for (const answer of all) expect(answer).toMatchObject({ status: 'success', code: 0 });
  expect(await Promise.all(all.map(endOf))).toEqual(all.map(() => 'SUCCESS'));
}, 120_000);

test('on SIGTERM the edge answers accepted requests and accepts no new ones', async () => {
  const answers = await underWay(40);
  const ended = running.get('api-edge')?.end('SIGTERM');
  for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ status: 'success', code: 0 });
  expect(await ended).toBe(0);
  await expect(post(http, cardRequest('SALE'))).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await start('api-edge');
  expect((await post(http, cardRequest('SALE'))).data).toMatchObject({ code: 0 });
}, 120_000);

test('SIGTERM ends every service with 0, even the simulator during an answer', async () => {
  const [answer] = await underWay(1);
  expect(await running.get('simulator')?.end('SIGTERM')).toBe(0);
  expect(['success', 'error']).toContain((await answer)?.['status']);
  for (const service of ['card-processing', 'api-edge']) expect(await running.get(service)?.end('SIGTERM')).toBe(0);
}, 120_000);
