import { randomBytes } from 'node:crypto';
import type { MongoConnection } from '@gateway/mongo';
import { clockAt, connectMongo } from '@gateway/mongo';
import { testServers } from '@gateway/testing';
import { createWorkLease } from './lease';
import { openRecords } from './records';

let mongo: MongoConnection;
beforeAll(async () => {
  const database = `iso20022-${randomBytes(4).toString('hex')}`;
  mongo = await connectMongo({ uri: testServers().mongoUri, database });
});
afterAll(async () => {
  await mongo.mongoose.dropDatabase();
  await mongo.close();
});

describe('a lease', () => {
  it('belongs to one replica until it is released or expires', async () => {
    const clock = { now: 1_700_000_000_000 };
    const leaseOf = (owner: string) =>
      createWorkLease({ leases: openRecords(mongo).leases, work: 'inbox', owner, clock: clockAt(() => clock.now) });
    const [one, other] = [leaseOf('one'), leaseOf('other')];
    expect([await one.take(), await other.take(), await one.take()]).toEqual([true, false, true]);
    await other.release();
    expect(await other.take()).toBe(false);
    await one.release();
    expect([await other.take(), await one.take()]).toEqual([true, false]);
    clock.now += 29_999;
    expect(await one.take()).toBe(false);
    clock.now += 1;
    expect([await one.take(), await other.take()]).toEqual([true, false]);
  });

  it('goes to one replica when all try at once', async () => {
    const replicas = Array.from({ length: 8 }, (_, owner) =>
      createWorkLease({
        leases: openRecords(mongo).leases,
        work: 'race',
        owner: String(owner),
        clock: clockAt(() => 1),
      }),
    );
    const taken = await Promise.all(replicas.map((lease) => lease.take()));
    expect(taken.filter(Boolean)).toHaveLength(1);
  });
});
