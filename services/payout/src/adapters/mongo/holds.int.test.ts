import { randomBytes } from 'node:crypto';
import type { MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import { testServers } from '@gateway/testing';
import type { Scope } from '../../domain/holds';
import { nameOf } from '../../domain/holds';
import type { HoldsAdapter } from './holds';
import { createHolds } from './holds';

let mongo: MongoConnection;
let holds: HoldsAdapter;
let other: HoldsAdapter;

beforeAll(async () => {
  mongo = await connectMongo({ uri: testServers().mongoUri, database: `holds-${randomBytes(4).toString('hex')}` });
  [holds, other] = [1, 2].map((now) => createHolds(mongo, { now: () => now })) as [HoldsAdapter, HoldsAdapter];
});
beforeEach(async () => {
  await mongo.collection('holds').deleteMany({});
  await Promise.all([holds.ensureDocument(), other.ensureDocument()]);
});
afterAll(async () => {
  await mongo.mongoose.dropDatabase();
  await mongo.close();
});

const SHOP: Scope = { kind: 'account', merchantAccount: 'shop_one' };
const names = async (of = holds) => (await of.read()).map(({ scope }) => nameOf(scope));

it('another replica sees a hold and a release at once', async () => {
  expect(await holds.hold(SHOP, 'alice')).toBe('held');
  expect(await other.read()).toEqual([{ scope: SHOP, since: 1, by: 'alice' }]);
  expect(await other.release(SHOP)).toBe(true);
  expect(await holds.read()).toEqual([]);
});

it('a scope is held once, and each scope by itself', async () => {
  await Promise.all([holds.hold(SHOP, 'alice'), other.hold(SHOP, 'alice'), holds.hold({ kind: 'all' }, 'alice')]);
  expect(await other.hold(SHOP, 'alice')).toBe('known');
  expect((await names()).sort()).toEqual(['account shop_one', 'all']);
  expect(await holds.release({ kind: 'payout', reference: 'R' })).toBe(false);
  expect(await holds.release({ kind: 'all' })).toBe(true);
  expect(await names()).toEqual(['account shop_one']);
});

it('has a bound', async () => {
  const held = Array.from({ length: 999 }, (_, index) => ({ name: `payout R${index}`, scope: SHOP, since: 0 }));
  await mongo.collection('holds').updateOne({}, { $set: { held } });
  expect(await holds.hold({ kind: 'all' }, 'alice')).toBe('held');
  expect(await holds.hold(SHOP, 'alice')).toBe('full');
  expect(await holds.hold({ kind: 'all' }, 'alice')).toBe('known');
});

describe('a departure', () => {
  it('sees what is held, and its writes are atomic', async () => {
    await holds.hold(SHOP, 'alice');
    const things = mongo.collection('things');
    await things.insertOne({ thing: 0 });
    const failing = holds.departing(async (held, session) => {
      await things.insertOne({ thing: held.length }, { session });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await things.countDocuments()).toBe(1);
  });

  it('is over before a hold that begins meanwhile is answered', async () => {
    const steps: string[] = [];
    let holding: Promise<unknown> | undefined;
    await holds.departing(async (held) => {
      holding ??= other.hold(SHOP, 'alice').then(() => steps.push('held'));
      // Long enough for the hold to reach the server, where it has to wait.
      for (let times = 0; times < 20; times += 1) await mongo.mongoose.db?.command({ ping: 1 });
      steps.push(`departed with ${held.length}`);
    });
    await holding;
    expect(steps).toEqual(['departed with 0', 'held']);
  });

  it('of two replicas at once: both happen, one after the other', async () => {
    const counts = mongo.collection<{ _id: string; count: number }>('counts');
    await counts.insertOne({ _id: 'c', count: 0 });
    const count = (by: HoldsAdapter) =>
      by.departing(async (_held, session) => {
        const before = await counts.findOne({ _id: 'c' }, { session });
        await counts.updateOne({ _id: 'c' }, { $set: { count: (before?.count ?? 0) + 1 } }, { session });
      });
    await Promise.all([count(holds), count(other), count(holds), count(other)]);
    expect(await counts.findOne({ _id: 'c' })).toEqual({ _id: 'c', count: 4 });
  });
});
