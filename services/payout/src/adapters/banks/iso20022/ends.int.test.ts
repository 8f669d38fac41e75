import type { MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import type { Space } from '@gateway/testing';
import { openSpace } from '@gateway/testing';
import { endRecords } from './ends';
import type { Batch, Member, Records } from './records';
import { createIndexes, openRecords } from './records';

const NOW = Date.UTC(2026, 0, 15);
const OWNER_SECONDS = 761 * 86_400;

let space: Space;
let mongo: MongoConnection;
let records: Records;

beforeAll(async () => {
  space = await openSpace('iso-ends');
  mongo = await connectMongo({ uri: space.mongoUri, database: `${space.databasePrefix}payouts` });
  records = openRecords(mongo);
});
beforeEach(async () => {
  await Promise.all([records.members.deleteMany({}), records.batches.deleteMany({}), records.reports.deleteMany({})]);
  await mongo.collection<{ _id: string }>('payouts').deleteMany({});
});
afterAll(async () => {
  await mongo.close();
  await space.remove();
});

const addBatch = (fields: Partial<Batch>) =>
  records.batches.insertOne({ _id: 'M1', state: 'emitted', createdAt: NOW, ...fields } as Batch);
const addMember = (fields: Partial<Member>) =>
  records.members.insertOne({ state: 'sent', since: NOW, batch: 'M1', transfer: {}, ...fields } as Member);
const addPayout = (_id: string, fields: object) =>
  mongo.collection<{ _id: string }>('payouts').insertOne({ _id, ...fields });
const endOfBatch = async () => (await records.batches.findOne({ _id: 'M1' }))?.endedAt;

test('records of files and reports are removed some time after their end', async () => {
  await records.reports.insertOne({ _id: 'old', file: 'a.xml', at: NOW, result: 'applied', problems: [] });
  await createIndexes(records);
  for (const collection of [records.members, records.batches, records.reports]) {
    const indexes = await mongo.collection(collection.collectionName).indexes();
    const times = indexes.flatMap(({ expireAfterSeconds }) => expireAfterSeconds ?? []);
    expect([collection.collectionName, times]).toEqual([collection.collectionName, [OWNER_SECONDS]]);
  }
  expect(await records.reports.findOne({ _id: 'old' })).toMatchObject({ endedAt: new Date(NOW) });
});

test('a batch ends when all its members have', async () => {
  await addBatch({ reportedAt: NOW - 2 });
  await addMember({ _id: 'P1', endedAt: new Date(NOW - 1), fate: 'settled' });
  await addMember({ _id: 'P2', fate: 'open' });
  await endRecords(records, NOW);
  expect(await endOfBatch()).toBeUndefined();
  await records.members.updateOne({ _id: 'P2' }, { $set: { fate: 'settled', endedAt: new Date(NOW) } });
  await endRecords(records, NOW + 1);
  expect(await endOfBatch()).toEqual(new Date(NOW + 1));
});

test('a member whose payout is at rest ends and loses its transfer, whatever its fate', async () => {
  await addBatch({ reportedAt: NOW - 2 });
  await addMember({ _id: 'P1', fate: 'open' });
  await addPayout('P1', {});
  await endRecords(records, NOW);
  expect(await records.members.findOne({ _id: 'P1' })).toHaveProperty('transfer');
  await mongo.collection<{ _id: string }>('payouts').updateOne({ _id: 'P1' }, { $set: { endedAt: new Date(NOW) } });
  await endRecords(records, NOW);
  const member = await records.members.findOne({ _id: 'P1' });
  expect(member).toMatchObject({ endedAt: new Date(NOW) });
  expect(member).not.toHaveProperty('transfer');
  expect(await endOfBatch()).toEqual(new Date(NOW));
});

test('a batch without a report keeps its transfers: it may be written again', async () => {
  await addBatch({});
  await addMember({ _id: 'P1', fate: 'open' });
  await addPayout('P1', { endedAt: new Date(NOW) });
  await endRecords(records, NOW);
  expect(await records.members.findOne({ _id: 'P1' })).toHaveProperty('transfer');
  expect(await endOfBatch()).toBeUndefined();
});
