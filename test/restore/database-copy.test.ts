import { randomBytes } from 'node:crypto';
import type { MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import { testServers } from '@gateway/testing';
import { copyDatabases, restoreDatabases } from './database-copy';

const prefix = `copy-${randomBytes(4).toString('hex')}-`;
const [CARDS, EDGE] = [`${prefix}cards`, `${prefix}edge`] as const;
let mongo: MongoConnection;

const documentsOf = (database: string, collection: string) =>
  mongo.client
    .db(database)
    .collection(collection)
    .find({}, { sort: { name: 1 }, projection: { _id: 0 } })
    .toArray();

/** MongoDB's names of the types of a field, in the order of the documents' names. */
const typesOf = async (database: string, collection: string, field: string) =>
  (
    await mongo.client
      .db(database)
      .collection(collection)
      .aggregate([{ $sort: { name: 1 } }, { $project: { _id: 0, type: { $type: `$${field}` } } }])
      .toArray()
  ).map(({ type }) => type as unknown);

beforeAll(async () => {
  mongo = await connectMongo({ uri: testServers().mongoUri, database: 'admin' });
});

beforeEach(async () => {
  for (const database of [CARDS, EDGE]) await mongo.client.db(database).dropDatabase();
  await mongo.client
    .db(CARDS)
    .command({ insert: 'payments', documents: [{ name: 'a', version: 1 }], writeConcern: { w: 'majority' } });
  await mongo.client.db(EDGE).collection('journal').insertOne({ name: 'b' });
});

afterAll(async () => {
  for (const database of [CARDS, EDGE]) await mongo.client.db(database).dropDatabase();
  await mongo.close();
});

async function loseWindow(): Promise<void> {
  await mongo.client
    .db(CARDS)
    .collection('payments')
    .updateOne({ name: 'a' }, { $set: { version: 2 } });
  await mongo.client.db(CARDS).collection('payments').insertOne({ name: 'c' });
  await mongo.client.db(CARDS).collection('outbox').insertOne({ name: 'd' });
  await mongo.client.db(EDGE).collection('journal').deleteMany({});
}

it('restores changed, new and deleted documents', async () => {
  const copy = await copyDatabases(mongo.client, [CARDS, EDGE]);
  await loseWindow();
  await restoreDatabases(mongo.client, copy);
  expect(await documentsOf(CARDS, 'payments')).toEqual([{ name: 'a', version: 1 }]);
  expect(await documentsOf(CARDS, 'outbox')).toEqual([]);
  expect(await documentsOf(EDGE, 'journal')).toEqual([{ name: 'b' }]);
});

it("restores one service's database and leaves the others", async () => {
  const copy = await copyDatabases(mongo.client, [CARDS, EDGE]);
  await loseWindow();
  await restoreDatabases(mongo.client, copy, [EDGE]);
  expect(await documentsOf(EDGE, 'journal')).toEqual([{ name: 'b' }]);
  expect(await documentsOf(CARDS, 'outbox')).toEqual([{ name: 'd' }]);
});

it('keeps the types of numbers and the indexes', async () => {
  const payments = mongo.client.db(CARDS).collection('payments');
  await payments.insertOne({ name: 'whole double', version: 1.5 });
  await payments.updateOne({ name: 'whole double' }, { $mul: { version: 2 } });
  await payments.createIndex({ name: 1 }, { name: 'byName', unique: true });
  const before = await typesOf(CARDS, 'payments', 'version');
  const copy = await copyDatabases(mongo.client, [CARDS]);
  await restoreDatabases(mongo.client, copy);
  expect(before).toEqual(['int', 'double']);
  expect(await typesOf(CARDS, 'payments', 'version')).toEqual(before);
  expect((await payments.indexes()).map(({ name }) => name)).toContain('byName');
});

it('changes nothing if the copy lacks a database', async () => {
  const copy = await copyDatabases(mongo.client, [CARDS]);
  await loseWindow();
  await expect(restoreDatabases(mongo.client, copy, [CARDS, EDGE])).rejects.toThrow(`the copy has no database ${EDGE}`);
  expect(await documentsOf(CARDS, 'outbox')).toEqual([{ name: 'd' }]);
});
