import { randomUUID } from 'node:crypto';
import type { Client, Outcome } from '@payment-gateway/client';
import { createClient } from '@payment-gateway/client';
import { until } from '@gateway/testing';
import type { Cut, CuttingProxy } from './support/cutting-proxy';
import { startCuttingProxy } from './support/cutting-proxy';
import type { Storage } from './support/storage';
import { openStorage } from './support/storage';
import type { System } from './support/system';
import { ACCOUNTS, CARD, startSystem } from './support/system';

/** The every-offset proof and the load share one system; each worker has a client and a proxy of its own. */
const WORKERS = 12;
const CUTS_UNDER_LOAD = 1_000;
const SEED = Number(process.env['FAULTS_SEED'] ?? 812_779);

interface Worker {
  proxy: CuttingProxy;
  client: Client;
}

let system: System;
let storage: Storage;
let workers: Worker[];
let token: string;

beforeAll(async () => {
  system = await startSystem('cuts', { withPayouts: true });
  storage = await openStorage(system.space);
  workers = await Promise.all(Array.from({ length: WORKERS }, startWorker));
  const [{ client }] = workers as [Worker];
  const tokenized = await client.tokenize(CARD);
  token = tokenized.kind === 'approved' ? (tokenized.token ?? '') : '';
});
afterAll(async () => {
  for (const { client, proxy } of workers) {
    client.close();
    await proxy.close();
  }
  await storage.close();
  await system.stop();
});

async function startWorker(): Promise<Worker> {
  const proxy = await startCuttingProxy(system.edge.ports.api);
  const { name: account, password } = ACCOUNTS.merchant;
  return { proxy, client: createClient({ baseUrl: proxy.url, account, password }) };
}

const ORDER = {
  currency: 'XTS',
  card_holder: CARD.card_holder,
  first_name: 'A',
  last_name: 'L',
  country: 'DEU',
  user_email: 'ann@example.com',
  user_ip: '192.0.2.1',
};

/** A SALE with an id of the client's own, or of the shop's, which are settled differently. */
function sell(client: Client, amount: string, ownId: boolean): ReturnType<Client['sale']> {
  const named = ownId ? {} : { transaction_unique_id: randomUUID() };
  return client.sale({ ...ORDER, ...named, amount, token });
}

/** Runs the jobs on all workers, in their order. */
async function onWorkers<Job>(jobs: readonly Job[], work: (worker: Worker, job: Job) => Promise<void>): Promise<void> {
  const left = jobs.values();
  await Promise.all(
    workers.map(async (worker) => {
      for (const job of left) await work(worker, job);
    }),
  );
}

/** What the bank's books have, by amount in 1/10000: how often money has moved, and for how many operations. */
async function booked(amountE4: number): Promise<{ effects: number; references: Set<string> }> {
  const filter = { 'record.state': 'approved', 'record.request.amountE4': amountE4 };
  const found = await storage.collection('simulator', 'acquirer_records').find(filter).toArray();
  return { effects: found.length, references: new Set(found.map(({ reference }) => String(reference))) };
}

const referencesOf = (outcomes: readonly Pick<Outcome, 'reference'>[]): Set<string> =>
  new Set(outcomes.map(({ reference }) => String(reference)));

test('a connection that breaks at any byte of request or answer: one effect, and the true outcome', async () => {
  const [{ proxy, client }] = workers as [Worker];
  proxy.arm();
  expect(await sell(client, '10.00', true)).toMatchObject({ kind: 'approved' });
  const { request, answer } = proxy.passed;
  expect([request, answer].every((bytes) => bytes > 500)).toBe(true);
  const cutsOf = (direction: Cut['direction'], length: number): Cut[] =>
    Array.from({ length: length + 1 }, (_, bytes) => ({ direction, bytes, how: bytes % 4 < 2 ? 'fin' : 'rst' }));
  const outcomes: Outcome[] = [];
  const jobs = [...cutsOf('request', request), ...cutsOf('answer', answer)];
  await onWorkers(jobs, async (worker, cut) => {
    worker.proxy.arm(cut);
    outcomes.push(await sell(worker.client, '20.00', cut.bytes % 2 === 0));
  });
  expect(outcomes.filter(({ kind }) => kind !== 'approved')).toEqual([]);
  expect(workers.reduce((sum, { proxy: { cuts } }) => sum + cuts, 0)).toBe(jobs.length);
  const { effects, references } = await booked(200_000);
  expect(effects).toBe(jobs.length);
  expect(references).toEqual(referencesOf(outcomes));
}, 120_000);

/** mulberry32: small, and the same everywhere. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const OUTCOMES = [
  ['30.00', 'approved'],
  ['30.00', 'approved'],
  ['31.01', 'declined'],
] as const;

/** One to three cuts: of the request or its answer, then of the questions and repetitions that follow. */
function someCuts(random: () => number): Cut[] {
  const some = (max: number): number => Math.floor(random() * max);
  return Array.from({ length: 1 + some(3) }, () => ({
    direction: some(2) === 0 ? 'request' : 'answer',
    bytes: some(800),
    how: some(2) === 0 ? 'fin' : 'rst',
  }));
}

test(`${CUTS_UNDER_LOAD} seeded cuts under load, of questions and repetitions too (seed ${SEED})`, async () => {
  const cutsNow = (): number => workers.reduce((sum, { proxy }) => sum + proxy.cuts, 0);
  const before = cutsNow();
  const approved: Outcome[] = [];
  const wrong: unknown[] = [];
  await Promise.all(
    workers.map(async ({ client, proxy }, index) => {
      const random = seeded(SEED + index);
      while (cutsNow() - before < CUTS_UNDER_LOAD) {
        const [amount, expected] = OUTCOMES[Math.floor(random() * OUTCOMES.length)] ?? OUTCOMES[0];
        proxy.arm(...someCuts(random));
        const outcome = await sell(client, amount, random() < 0.5);
        if (outcome.kind !== expected) wrong.push(outcome);
        if (outcome.kind === 'approved') approved.push(outcome);
      }
      proxy.arm();
    }),
  );
  expect(wrong).toEqual([]);
  const { effects, references } = await booked(300_000);
  expect(effects).toBe(approved.length);
  expect(references).toEqual(referencesOf(approved));
  expect((await booked(310_100)).effects).toBe(0);
}, 180_000);

test('a proxy that drops the Idempotency-Key, so that a repetition is a duplicate: no money moves twice', async () => {
  const proxy = await startCuttingProxy(system.edge.ports.api, { dropsKeys: true });
  const { name: account, password } = ACCOUNTS.merchant;
  const client = createClient({ baseUrl: proxy.url, account, password });
  const late: Cut = { direction: 'answer', bytes: 50, how: 'rst' };
  // Its question is lost, too: it sends the sale again, and learns that its own id is used.
  proxy.arm(late, late);
  const own = await sell(client, '40.00', true);
  expect(own).toMatchObject({ kind: 'approved' });
  proxy.arm(late);
  const named = await sell(client, '40.00', false);
  expect(named).toMatchObject({ kind: 'unknown', code: 3001 });
  const found = await client.outcomeOf({ transaction_unique_id: String(named.transaction_unique_id) });
  expect(found).toMatchObject({ kind: 'approved' });
  const { effects, references } = await booked(400_000);
  expect([effects, references]).toEqual([2, referencesOf([own, found])]);
  client.close();
  await proxy.close();
});

test('an unknown outcome, a refund and a payout through a line that breaks', async () => {
  const [{ client, proxy }] = workers as [Worker];
  const breakLate = (): void => proxy.arm({ direction: 'answer', bytes: 50, how: 'rst' });
  breakLate();
  // The bank commits, and answers garbage.
  const sale = await sell(client, '31.17', true);
  expect(sale).toMatchObject({ kind: 'approved' });
  breakLate();
  // It drops the connection before it commits.
  expect(await sell(client, '31.18', true)).toMatchObject({ kind: 'error', code: 3118, advice: 'retry' });
  breakLate();
  const refund = { reference: String(sale.reference), amount: '31.17', currency: 'XTS' };
  const refunded = await client.refund(refund);
  expect(refunded).toMatchObject({ kind: 'approved' });
  expect(await system.ledger(String(refunded.reference))).toMatchObject([{ effect: 'refunded' }]);
  breakLate();
  const payout = await client.payout({
    amount: '12.50',
    currency: 'XTS',
    callback_url: 'https://localhost:65535/callback',
    receiver_iban: 'DE89370400440532013000',
    receiver_name: 'Ann Lee',
    transfer_description: 'Invoice 17',
  });
  const subject = { transaction_unique_id: String(payout.transaction_unique_id) };
  expect(['pending', 'approved']).toContain(payout.kind);
  expect(await client.check(subject)).toEqual({ kind: 'found', transactions: [] });
  const listed = await until('the payout in the listing', async () => {
    const found = await client.payouts({ time_from: 0, time_to: 4_000_000_000 });
    return found.kind === 'found' && found.transactions.length > 0 && found.transactions;
  });
  expect(listed).toMatchObject([{ ...subject, amount: 12.5 }]);
});
