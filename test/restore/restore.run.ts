import type { MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import type { Service } from '@gateway/service-kit';
import type { TestCallers } from '@gateway/testing';
import { createCallers, until } from '@gateway/testing';
import { runRecovery } from '../../deploy/operations/src/recovery';
import { freePort } from '../support/free-port';
import { payout, PAYOUT_PATH, STATUS_PATH } from '../support/payouts';
import type { Body, System } from '../support/system';
import { cardRequest, checkOf, clientOf, followUp, post, recordsOf, startSystem } from '../support/system';
import type { DatabaseCopy } from './database-copy';
import { copyDatabases, restoreDatabases } from './database-copy';

/** Not the simulator's: that is the acquirers' and the banks' own book. */
const OF_SERVICES = ['edge', 'cards', 'expiry', 'payouts', 'callbacks', 'vault'];
const TIMEOUT_MS = 120_000;

let system: System;
let mongo: MongoConnection;
let running: Service<{ ops: number }>[];
let edgePort: number;
let callers: TestCallers;

const named = (database: string): string => system.space.databasePrefix + database;

async function startAll(): Promise<void> {
  const [processor, payouts, expiry] = [
    await system.startProcessor(),
    await system.startPayouts(),
    await system.startExpiry(),
  ];
  const edge = await system.startEdge();
  edgePort = edge.ports.api;
  running = [edge, expiry, payouts, processor];
}

async function stopAll(): Promise<void> {
  for (const service of running) await service.stop();
}

const http = () => clientOf(edgePort);
const send = async (fields: Body): Promise<Body> => (await post(http(), fields)).data;

async function ended(by: Body): Promise<Body> {
  return until(
    `the end of ${JSON.stringify(by)}`,
    async () => {
      const [record] = recordsOf(await send(checkOf(by))) ?? [];
      return record !== undefined && record.status !== 'PENDING' ? record : undefined;
    },
    60_000,
  );
}

async function payOut(request: Body): Promise<Body> {
  return (await http().post<Body>(PAYOUT_PATH, request)).data;
}

async function payoutEnded(id: unknown): Promise<Body> {
  const by = { ...payout(), transaction_type: 'CHECK', transaction_unique_id: id };
  return until(
    'the end of the payout',
    async () => {
      const [record] = recordsOf((await http().post<Body>(STATUS_PATH, by)).data) ?? [];
      return record !== undefined && record.status !== 'PENDING' ? record : undefined;
    },
    60_000,
  );
}

async function recovery(...args: string[]): Promise<{ code: number; lines: string[] }> {
  const lines: string[] = [];
  const operator = { CALLERS_FILE: callers.file, IDENTITY_TOKEN: callers.token('operator') };
  const env = { ...system.env, ...operator };
  const code = await runRecovery(args, env, (line) => void lines.push(line));
  return { code, lines };
}

async function effectsOf(reference: unknown): Promise<string[]> {
  return (await system.ledger(String(reference))).map(({ operation }) => operation);
}

beforeAll(async () => {
  const [cards, payouts] = [String(await freePort()), String(await freePort())];
  const settings = {
    CARD_QUERY_PORT: cards,
    PAYOUT_QUERY_PORT: payouts,
    CARD_QUERY_URL: `http://127.0.0.1:${cards}`,
    PAYOUT_QUERY_URL: `http://127.0.0.1:${payouts}`,
  };
  system = await startSystem('restore', { settings, withoutProcessor: true });
  callers = createCallers();
  // Started again with all others.
  await system.edge.stop();
  mongo = await connectMongo({ uri: system.space.mongoUri, database: 'admin' });
  await startAll();
}, TIMEOUT_MS);

afterAll(async () => {
  await mongo.close();
  await system.stop();
}, TIMEOUT_MS);

it.each([
  ['all databases', OF_SERVICES, ['api-edge', 'card-processing', 'payout']],
  ["card-processing's database", ['cards'], ['card-processing']],
  ["api-edge's database", ['edge'], ['api-edge']],
  ["payout's database", ['payouts'], ['payout']],
])(
  'charges and pays nobody twice after %s came from a backup',
  async (_name, restored, recovering) => {
    const auth = await send(cardRequest('AUTH'));
    const before = await send(cardRequest('SALE'));
    await stopAll();
    const copy: DatabaseCopy = await copyDatabases(mongo.client, OF_SERVICES.map(named));
    await startAll();

    const saleRequest = cardRequest('SALE');
    const sale = await send(saleRequest);
    const settleRequest = followUp('SETTLE', auth['reference']);
    const settle = await send(settleRequest);
    const refund = await send(followUp('REFUND', before['reference']));
    const payoutRequest = payout();
    const paid = await payOut(payoutRequest);
    expect([sale, settle, refund].map(({ status }) => status)).toEqual(['success', 'success', 'success']);
    expect(await payoutEnded(payoutRequest['transaction_unique_id'])).toMatchObject({ status: 'SUCCESS' });

    await stopAll();
    await restoreDatabases(mongo.client, copy, restored.map(named));
    await startAll();

    // An edge in recovery begins nothing new; any other knows the ids.
    const refusal = { code: recovering.includes('api-edge') ? 10 : 3001 };
    expect(await send(saleRequest)).toMatchObject(refusal);
    expect(await payOut(payoutRequest)).toMatchObject(refusal);
    expect(await ended({ reference: sale['reference'] })).toMatchObject({ status: 'SUCCESS' });
    expect(await ended({ reference: settle['reference'] })).toMatchObject({ status: 'SUCCESS' });
    expect(await ended({ reference: refund['reference'] })).toMatchObject({ status: 'SUCCESS' });
    expect(await payoutEnded(payoutRequest['transaction_unique_id'])).toMatchObject({ status: 'SUCCESS' });

    const { lines } = await recovery('status');
    expect(lines.map((line) => line.split(':')[0])).toEqual(expect.arrayContaining(recovering));
    await until('all is read again', async () => (await recovery('end', '--reason', 'restored')).code === 0, 60_000);
    expect(await recovery('status')).toEqual({ code: 0, lines: ['No service is in recovery.'] });

    const again = await until('new work begins', async () => {
      const answer = await send(saleRequest);
      return answer['code'] === 10 ? undefined : answer;
    });
    expect(again).toMatchObject({ code: 3001 });
    expect(await payOut(payoutRequest)).toMatchObject({ code: 3001 });
    // Each service looks once a second whether its recovery has ended.
    await until('a new payment succeeds', async () => (await send(cardRequest('SALE')))['status'] === 'success');

    const books = [sale, settle, refund, paid].map(({ reference }) => effectsOf(reference));
    expect(await Promise.all(books)).toEqual([['sale'], ['capture'], ['refund'], ['payout']]);
  },
  TIMEOUT_MS,
);
