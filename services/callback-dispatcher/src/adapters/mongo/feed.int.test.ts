import type { MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import type { Space } from '@gateway/testing';
import { openSpace } from '@gateway/testing';
import type { FeedPlace } from '../../application/ports';
import type { FeedAdapter } from './feed';
import { createFeed } from './feed';

const NOW = Date.UTC(2026, 0, 15);
const REPLICAS = 4;
const ENTRIES_OF_EACH = 40;

let space: Space;
let mongo: MongoConnection;
let now = NOW;
const open = (): FeedAdapter => createFeed(mongo, { now: () => now });

beforeAll(async () => {
  space = await openSpace('feed');
  mongo = await connectMongo({ uri: space.mongoUri, database: `${space.databasePrefix}callbacks` });
  await open().ensureIndexes();
});
afterAll(async () => {
  await mongo.close();
  await space.remove();
});

let accounts = 0;
const newAccount = (): string => `sandbox_${(accounts += 1)}`;
const entry = (merchantAccount: string, id: string) => ({ id, merchantAccount, deliveryId: `delivery of ${id}` });
const START: FeedPlace = { seq: 0 };

async function idsAfter(feed: FeedAdapter, account: string, place = START): Promise<string[] | undefined> {
  return (await feed.after(account, place, 1_000))?.entries.map(({ id }) => id);
}

test('a reader that follows several replicas misses nothing, and gets nothing twice', async () => {
  const account = newAccount();
  const all = Array.from({ length: REPLICAS }, (_, replica) =>
    Array.from(
      { length: ENTRIES_OF_EACH },
      (_unused, index) => `${account}-${replica}-${String(index).padStart(3, '0')}`,
    ),
  );
  let writing = true;
  const written = Promise.all(
    all.map(async (ids) => {
      const feed = open();
      // Two at a time: some go alone, some in groups.
      for (let first = 0; first < ids.length; first += 2) {
        await Promise.all(ids.slice(first, first + 2).map((id) => feed.append(entry(account, id))));
      }
    }),
  ).finally(() => (writing = false));
  const reader = open();
  const followed: string[] = [];
  let place = START;
  const readOn = async (): Promise<void> => {
    const page = await reader.after(account, place, 7);
    if (page === undefined) throw new Error('the place is gone');
    followed.push(...page.entries.map(({ id }) => id));
    for (const { place: own } of page.entries) expect(own.seq).toBe((place = own).seq);
    place = page.next;
  };
  while (writing) await readOn();
  await written;
  while (place.seq < REPLICAS * ENTRIES_OF_EACH) await readOn();

  expect(followed).toHaveLength(REPLICAS * ENTRIES_OF_EACH);
  expect(followed.toSorted()).toEqual(all.flat().toSorted());
  // Of one replica, in the order in which it added them.
  for (const ids of all) expect(pairsOf(followed.filter((id) => ids.includes(id)))).toEqual(pairsOf(ids));
  const stored = await mongo
    .collection<{ _id: string; seq: number }>('feed')
    .find({ merchantAccount: account })
    .toArray();
  expect(stored.map(({ seq }) => seq).toSorted((a, b) => a - b)).toEqual(stored.map((_, index) => index + 1));
});

/** Each pair was added at once, so its order is open. */
function pairsOf(ids: readonly string[]): string[] {
  return ids.flatMap((id, index) => (index % 2 === 0 ? [[id, ids[index + 1]].toSorted().join()] : []));
}

test('an entry that comes again stays where it is', async () => {
  const account = newAccount();
  const feed = open();
  for (const id of ['a', 'b', 'a', 'c']) await feed.append(entry(account, `${account}-${id}`));
  const again = ['b', 'd', 'a', 'e'].map((id) => feed.append(entry(account, `${account}-${id}`)));
  await Promise.all(again);
  expect(await idsAfter(feed, account)).toEqual(['a', 'b', 'c', 'd', 'e'].map((id) => `${account}-${id}`));
});

test('accounts have feeds of their own, also within one group', async () => {
  const [one, other] = [newAccount(), newAccount()];
  const feed = open();
  const both = [one, other, one, other].map((account, index) => feed.append(entry(account, `${account}-${index}`)));
  await Promise.all(both);
  expect(await idsAfter(feed, one)).toEqual([`${one}-0`, `${one}-2`]);
  expect(await idsAfter(feed, other)).toEqual([`${other}-1`, `${other}-3`]);
});

test('a place is where it was, and unknown in another feed', async () => {
  const account = newAccount();
  const feed = open();
  expect(await feed.end(account)).toEqual(START);
  for (const id of ['a', 'b', 'c']) await feed.append(entry(account, `${account}-${id}`));
  const page = await feed.after(account, START, 2);
  expect(page?.entries.map(({ id }) => id)).toEqual([`${account}-a`, `${account}-b`]);
  expect(page?.next).toEqual({ seq: 2, id: `${account}-b` });
  expect(await idsAfter(feed, account, page?.next)).toEqual([`${account}-c`]);
  const end = await feed.end(account);
  expect(await feed.after(account, end, 10)).toEqual({ entries: [], next: end });
  expect(await feed.after(account, { seq: 2, id: 'of another feed' }, 10)).toBeUndefined();
  expect(await feed.after(account, { seq: 9, id: `${account}-b` }, 10)).toBeUndefined();
  expect(await feed.after(newAccount(), end, 10)).toBeUndefined();
});

test('a time is found, and never runs backwards', async () => {
  const account = newAccount();
  const feed = open();
  // A replica's clock may be some ms behind another's.
  for (const [id, offset] of [
    ['a', 0],
    ['b', 1_000],
    ['c', 400],
    ['d', 2_000],
  ] as const) {
    now = NOW + offset;
    await feed.append(entry(account, `${account}-${id}`));
  }
  now = NOW;
  const since = async (offset: number) => (await feed.since(account, NOW + offset, 10)).entries.map(({ id }) => id);
  expect(await since(-1)).toHaveLength(4);
  expect(await since(1)).toEqual(['b', 'c', 'd'].map((id) => `${account}-${id}`));
  expect(await since(1_001)).toEqual([`${account}-d`]);
  expect(await feed.since(account, NOW + 2_001, 10)).toEqual({ entries: [], next: await feed.end(account) });
});

test('reading on reads no more than what it returns', async () => {
  const account = newAccount();
  const feed = open();
  await Promise.all(Array.from({ length: 100 }, (_, index) => feed.append(entry(account, `${account}-${index}`))));
  const plan = await mongo
    .collection('feed')
    .find({ merchantAccount: account, seq: { $gte: 50 } })
    .sort({ seq: 1 })
    .limit(5)
    .explain('executionStats');
  expect(plan).toMatchObject({ executionStats: { totalKeysExamined: 5, totalDocsExamined: 5 } });
});
