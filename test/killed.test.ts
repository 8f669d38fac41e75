import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@gateway/testing';
import type { Merchant } from './support/merchant';
import { isSigned, startMerchant } from './support/merchant';
import { payoutClient } from './support/payouts';
import type { ServiceProcess } from './support/processes';
import { build, startProcess } from './support/processes';
import type { Storage } from './support/storage';
import { openStorage } from './support/storage';
import type { System } from './support/system';
import { cardRequest, checkOf, recordsOf, startSystem } from './support/system';

const COUNT = 60;
const HOLD_SECONDS = 3;
/** 12 s for all of them, so that a signal hits in the middle: on a busy machine a look at all payments takes seconds. */
const EXPIRIES_PER_SECOND = 5;
const PATIENCE_MS = 90_000;

let system: System;
let storage: Storage;
let merchant: Merchant;
const directory = mkdtempSync(join(tmpdir(), 'killed-'));
const processes: ServiceProcess[] = [];

beforeAll(async () => {
  await build();
  merchant = await startMerchant();
  const ca = join(directory, 'ca.pem');
  writeFileSync(ca, merchant.ca);
  system = await startSystem('killed', {
    withPayouts: true,
    settings: {
      AUTH_HOLD_SECONDS: String(HOLD_SECONDS),
      EXPIRY_RATE_PER_SECOND: String(EXPIRIES_PER_SECOND),
      NODE_EXTRA_CA_CERTS: ca,
    },
  });
  storage = await openStorage(system.space);
}, 180_000);

afterAll(async () => {
  for (const one of processes) await one.end('SIGKILL');
  await storage.close();
  await system.stop();
  await merchant.close();
  rmSync(directory, { recursive: true });
});

async function start(service: string): Promise<ServiceProcess> {
  const started = await startProcess(service, system.env);
  processes.push(started);
  return started;
}

const atOnce = <T>(work: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: COUNT }, work));

test('kill -9 of auth-expiry while holds end: each is voided once', async () => {
  const expiry = await start('auth-expiry');
  const authorized = (await atOnce(() => system.send(cardRequest('AUTH')))).map(({ data }) => data);
  const voided = async () => {
    const checks = authorized.map(({ reference }) =>
      system.send(checkOf({ transaction_unique_id: `expiry-${String(reference)}` })),
    );
    const last = (await Promise.all(checks)).map(({ data }) => recordsOf(data).at(-1)?.status);
    return last.filter((status) => status === 'SUCCESS').length;
  };
  await until('the first end', async () => (await voided()) > 0, PATIENCE_MS);
  expect(await expiry.end('SIGKILL')).toBe('SIGKILL');
  expect(await voided()).toBeLessThan(COUNT);
  await start('auth-expiry');
  await until('the end of all', async () => (await voided()) === COUNT, PATIENCE_MS);
  for (const { reference } of authorized) {
    const records = recordsOf((await system.send(checkOf({ reference }))).data);
    expect(records.map(({ transaction_type, status }) => [transaction_type, status])).toEqual([
      ['AUTH', 'SUCCESS'],
      ['VOID', 'SUCCESS'],
    ]);
    expect(await system.ledger(String(records[1]?.reference))).toHaveLength(1);
  }
  await until('nothing more to look after', async () => (await openDeadlines()) === 0, PATIENCE_MS);
}, 240_000);

const openDeadlines = () => storage.collection('expiry', 'deadlines').countDocuments({ dueAt: { $exists: true } });

/** As if a minute had passed: until then nobody else may send what the killed process was sending. */
async function endLeases(): Promise<void> {
  const leased = { 'progress.claimableAt': { $gt: Date.now() } };
  const ended = { $set: { 'progress.claimableAt': Date.now() } };
  const { modifiedCount } = await storage.collection('callbacks', 'deliveries').updateMany(leased, ended);
  expect(modifiedCount).toBeGreaterThan(0);
}

test('kill -9 of callback-dispatcher during callbacks: none is lost', async () => {
  const dispatcher = await start('callback-dispatcher');
  const client = payoutClient(system);
  const release = merchant.hold();
  const paid = await atOnce(() => client.pay({ callback_url: `${merchant.url}/callback` }));
  await until('callbacks under way', async () => merchant.callbacks.length > 0, PATIENCE_MS);
  expect(await dispatcher.end('SIGKILL')).toBe('SIGKILL');
  expect(merchant.callbacks.length).toBeLessThan(COUNT);
  const begun = merchant.callbacks.splice(0).map((callback) => callback.get('reference'));
  release();
  await endLeases();
  await start('callback-dispatcher');
  const delivered = () => new Set(merchant.callbacks.map((callback) => callback.get('reference')));
  await until('all callbacks', async () => delivered().size === COUNT, PATIENCE_MS);
  expect(delivered()).toEqual(new Set(paid.map(({ reference }) => reference)));
  expect([...delivered()]).toEqual(expect.arrayContaining(begun));
  for (const callback of merchant.callbacks) expect(isSigned(callback, 'demo_payout_secret')).toBe(true);
}, 240_000);
