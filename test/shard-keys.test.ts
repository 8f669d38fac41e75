import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TEST_CARDS } from '@gateway/contracts';
import type { MongoConnection, ShardKey } from '@gateway/mongo';
import { connectMongo, SHARD_KEYS } from '@gateway/mongo';
import { until } from '@gateway/testing';
import type { Merchant } from './support/merchant';
import { startMerchant } from './support/merchant';
import { payoutClient } from './support/payouts';
import type { Body, System } from './support/system';
import { cardRequest, checkOf, CREDENTIALS, followUp, startSystem, tokenRequest } from './support/system';

const PROFILE_BYTES = 64 * 1_048_576;
const DATABASES = [...new Set(Object.keys(SHARD_KEYS).map((name) => name.split('.')[0] ?? ''))];

/** The profiler's record of an operation. Each kind has its filter in a different place. */
interface Profiled {
  op: string;
  ns: string;
  command?: {
    filter?: Body;
    q?: Body;
    query?: Body;
    pipeline?: { $match?: Body }[];
    getMore?: unknown;
    createIndexes?: string;
    listIndexes?: string;
    insert?: string;
  };
}

let merchant: Merchant;
let system: System;
let databases: Map<string, MongoConnection>;
beforeAll(async () => {
  merchant = await startMerchant();
  system = await startSystem('shard-keys', { withPayouts: true, settings: { AUTH_HOLD_SECONDS: '1' } });
  await system.startThreeds();
  await system.startExpiry();
  await system.startDispatcher(merchant.ca);
  // From here on: what a service does once, at its start, is not the hot path.
  databases = new Map();
  for (const name of DATABASES) {
    const database = `${system.space.databasePrefix}${name}`;
    const mongo = await connectMongo({ uri: system.space.mongoUri, database });
    await mongo.mongoose.createCollection('system.profile', { capped: true, size: PROFILE_BYTES });
    await mongo.mongoose.db?.command({ profile: 2 });
    databases.set(name, mongo);
  }
}, 120_000);
afterAll(async () => {
  for (const mongo of databases.values()) {
    await mongo.mongoose.db?.command({ profile: 0 });
    await mongo.close();
  }
  await system.stop();
  await merchant.close();
});

async function send(fields: Body, headers: Record<string, string> = {}): Promise<Body> {
  const { data } = await system.send(fields, headers);
  expect(data).toMatchObject({ code: 0 });
  return data;
}

/** Runs every kind of request to its end. */
async function useEverything(): Promise<void> {
  await useCounters();
  const sold = await send(cardRequest('SALE'), { 'idempotency-key': 'a-key' });
  await send(tokenRequest('SALE', sold['token']));
  await send(followUp('REFUND', sold['reference']));
  const held = await send(cardRequest('AUTH'));
  await system.send(followUp('SETTLE', held['reference']));
  await send(checkOf({ reference: sold['reference'] }));
  const urls = { callback_url: `${merchant.url}/callback`, redirect_url: `${merchant.url}/back` };
  const authenticated = await send(cardRequest('SALE3D', { card_number: TEST_CARDS.frictionless.visa, ...urls }));
  await merchant.callbackOf(authenticated['reference']);
  const expiring = await send(cardRequest('AUTH'));
  await until('the hold is voided', async () => {
    const { data } = await system.send(checkOf({ reference: expiring['reference'] }));
    return (data['transactions'] as unknown[]).length === 2;
  });
  await useCallbackViews(authenticated);
  const paid = await payoutClient(system).pay({ callback_url: `${merchant.url}/callback` });
  await merchant.callbackOf(paid['reference']);
}

/** As a merchant follows its callbacks. */
async function useCallbackViews({ reference, transaction_unique_id: id }: Body): Promise<void> {
  const ask = async (path: string, fields: Body): Promise<Body> => {
    const { data } = await system.http.post<Body>(`/api/pf/${path}`, { ...CREDENTIALS, ...fields });
    expect(data).toMatchObject({ code: 0 });
    return data;
  };
  await ask('callbacks', { limit: 1 });
  await ask('callbacks', { reference });
  const { callbacks } = await ask('callbacks', { transaction_unique_id: id });
  const [{ callback_id: callbackId } = {}] = callbacks as Body[];
  const { cursor } = await ask('callbacks/events', { since: 1, wait: 0 });
  await ask('callbacks/events', { cursor, wait: 0 });
  await ask('callbacks/resend', { callback_id: callbackId });
}

/** An approval, which corrects its counters, and a refusal. */
async function useCounters(): Promise<void> {
  const measure = { by: 'ip', max: 1, windowSeconds: 3_600 } as const;
  const testCardRules = [{ kind: 'declines', ...measure } as const, { kind: 'attempts', ...measure } as const];
  const { administration } = system.accounts;
  const { password } = await administration.create({ merchantAccount: 'counted_shop', settings: { testCardRules } });
  const shop = { merchant_account: 'counted_shop', merchant_password: password.expose() };
  await send(cardRequest('SALE', shop));
  const { data } = await system.send(cardRequest('SALE', shop));
  expect(data).toMatchObject({ status: 'decline' });
}

async function profiled(name: string): Promise<Profiled[]> {
  const found = databases.get(name)?.mongoose.db?.collection<Profiled>('system.profile').find().toArray();
  return (await found) ?? [];
}

function filterOf({ command = {} }: Profiled): Body | undefined {
  const { filter, q, query, pipeline } = command;
  return filter ?? q ?? query ?? pipeline?.[0]?.$match;
}

/** A hashed key needs a value, an unhashed one a value or a range with two ends. */
function namesKey(filter: Body, key: NonNullable<ShardKey['key']>): boolean {
  return Object.entries(key).every(([field, kind]) => {
    const condition = filter[field];
    if (condition === undefined) return false;
    if (typeof condition !== 'object' || condition === null) return true;
    const operators = Object.keys(condition);
    if (operators.length === 1 && operators[0] === '$in') return true;
    const isRange =
      operators.some((name) => name.startsWith('$gt')) && operators.some((name) => name.startsWith('$lt'));
    return kind === 1 && isRange;
  });
}

function isSweep(filter: Body, { sweptBy = [] }: ShardKey): boolean {
  return sweptBy.includes(Object.keys(filter)[0] ?? '') && !('_id' in filter);
}

test('every query of the hot path names the shard key of its collection', async () => {
  await useEverything();
  const untargeted: string[] = [];
  for (const [name, declared] of Object.entries(SHARD_KEYS)) {
    if (declared.key === undefined) continue;
    const [database = '', collection = ''] = name.split('.');
    const namespace = `${system.space.databasePrefix}${database}.${collection}`;
    const operations = (await profiled(database)).filter(({ ns }) => ns === namespace);
    expect([name, operations.length]).not.toEqual([name, 0]);
    for (const operation of operations) {
      if (operation.op === 'insert' || operation.op === 'getmore' || operation.command?.insert !== undefined) continue;
      if (operation.command?.createIndexes !== undefined || operation.command?.listIndexes !== undefined) continue;
      const filter = filterOf(operation);
      if (filter !== undefined && (namesKey(filter, declared.key) || isSweep(filter, declared))) continue;
      untargeted.push(`${name}: ${operation.op} ${JSON.stringify(filter ?? operation.command).slice(0, 300)}`);
    }
  }
  expect([...new Set(untargeted)]).toEqual([]);
}, 120_000);

test('every unique index begins with the shard key of its collection', async () => {
  for (const [name, { key }] of Object.entries(SHARD_KEYS)) {
    if (key === undefined) continue;
    const [database = '', collection = ''] = name.split('.');
    const indexes = (await databases.get(database)?.mongoose.db?.collection(collection).indexes()) ?? [];
    const unique = indexes.filter((index) => index.unique === true).map((index) => Object.keys(index.key));
    const fields = Object.keys(key);
    for (const index of unique) expect([name, index.slice(0, fields.length)]).toEqual([name, fields]);
  }
});

test('every collection of these databases has a declaration', async () => {
  for (const [name, mongo] of databases) {
    const collections = (await mongo.mongoose.db?.listCollections({}, { nameOnly: true }).toArray()) ?? [];
    const own = collections.map((collection) => collection.name).filter((own) => own !== 'system.profile');
    for (const collection of own) expect(Object.keys(SHARD_KEYS)).toContain(`${name}.${collection}`);
  }
});

test('docs/scaling.md lists the same', () => {
  const text = readFileSync(join(__dirname, '..', 'docs', 'scaling.md'), 'utf8');
  const [, section = ''] = text.split('\n## Shard keys\n');
  const [table = ''] = section.split('\n## ');
  const rows = [...table.matchAll(/^\| `(\w+\.\w+)` +\| ([^|]+?) +\|/gm)].map(([, name, key]) => [name, key]);
  const declared = Object.entries(SHARD_KEYS).map(([name, { key }]) => {
    const [field, kind] = Object.entries(key ?? {})[0] ?? [];
    return [name, field === undefined ? 'one shard' : `\`${field}\`${kind === 'hashed' ? ', hashed' : ''}`];
  });
  expect(rows).toEqual(declared);
});
