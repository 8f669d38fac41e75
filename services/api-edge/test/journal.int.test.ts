import type { MongoConnection } from '@gateway/mongo';
import { clockAt, connectMongo } from '@gateway/mongo';
import type { Space } from '@gateway/testing';
import { openSpace } from '@gateway/testing';
import type { CheckoutsAdapter } from '../src/adapters/mongo/checkouts';
import { createCheckouts } from '../src/adapters/mongo/checkouts';
import type { JournalAdapter } from '../src/adapters/mongo/journal';
import { createJournal } from '../src/adapters/mongo/journal';
import type { OpenCheckout, OperationEntry, PayoutCommand, PayoutEntry } from '../src/application/ports';

const LONG = { days: 24_000, mayShorten: false };
const A_LIFETIME = { real: LONG, test: LONG };
let space: Space;
let mongo: MongoConnection;
let journal: JournalAdapter;
let checkouts: CheckoutsAdapter;
/** By the database's clock. */
let now = 0;
beforeAll(async () => {
  space = await openSpace('edge-journal');
  mongo = await connectMongo({ uri: space.mongoUri, database: `${space.databasePrefix}edge` });
  journal = createJournal(
    mongo,
    clockAt(() => now),
  );
  checkouts = createCheckouts(
    mongo,
    clockAt(() => now),
  );
  // Twice, like each start of a replica.
  for (let starts = 0; starts < 2; starts += 1) {
    // The entries here are from 1970.
    await Promise.all([journal.ensureIndexes(A_LIFETIME), checkouts.ensureIndexes()]);
  }
});
afterAll(async () => {
  await mongo.close();
  await space.remove();
});

let count = 0;
const newNumber = (): string => String((count += 1)).padStart(4, '0');
function entry(transactionUniqueId: string, more: Partial<OperationEntry> = {}): OperationEntry {
  return {
    reference: `ABCDEFGHIJKLMNOP${newNumber()}`,
    paymentId: 'ABCDEFGHIJKLMNOP',
    merchantAccount: 'demo_merchant',
    space: 'card',
    transactionUniqueId,
    operationType: 'SALE',
    acceptedAt: count,
    deadline: 1_000,
    ...more,
  };
}
const COMMAND = { type: 'VoidAuthorization', data: {} } as unknown as NonNullable<OperationEntry['command']>;

test('an id has one entry, plus one per attempt on its page', async () => {
  const session = entry('order-1', { checkoutId: 'page' });
  expect(await journal.insert(session)).toBe('inserted');
  const attempts = [1, 2, 3].map((attempt) => entry('order-1', { attempt, command: COMMAND }));
  for (const attempt of attempts) expect(await journal.insert(attempt)).toBe('inserted');
  expect(await journal.insert(entry('order-1'))).toBe('id-used');
  expect(await journal.insert(entry('order-1', { checkoutId: 'other' }))).toBe('id-used');
  expect(await journal.insert(entry('order-1', { attempt: 2 }))).toBe('id-used');
  expect(await journal.insert(entry('order-1', { merchantAccount: 'another_one' }))).toBe('inserted');
  expect(await journal.insert({ ...entry('order-2'), reference: session.reference })).toBe('reference-taken');
  expect(await journal.findByUniqueId('demo_merchant', 'card', 'order-1')).toEqual(session);
  const found = await journal.findByPayment('demo_merchant', 'ABCDEFGHIJKLMNOP');
  expect(found.map(({ attempt }) => attempt)).toEqual([undefined, 1, 2, 3]);
});

test("a payment's entries are listed without their commands and responses, which can be megabytes", async () => {
  const listed = entry('order-listed', { paymentId: 'LISTED0000000000', reference: 'LISTED0000000000AAAA' });
  const idempotency = { endpoint: '/e', key: 'key-listed', bodyHash: 'hash' };
  await journal.insert({ ...listed, idempotency, command: COMMAND, response: { code: 0 } });
  expect(await journal.findByPayment('demo_merchant', listed.paymentId)).toEqual([{ ...listed, idempotency }]);
  await journal.close([listed]);
});

test('of concurrent inserts of one attempt one succeeds', async () => {
  const insertions = await Promise.all(
    Array.from({ length: 20 }, () => journal.insert(entry('order-3', { attempt: 1, command: COMMAND }))),
  );
  expect(insertions.filter((insertion) => insertion === 'inserted')).toHaveLength(1);
  expect(insertions.filter((insertion) => insertion === 'id-used')).toHaveLength(19);
  // It is not a request of the merchant.
  expect(await journal.findByUniqueId('demo_merchant', 'card', 'order-3')).toBeUndefined();
});

describe('an insert that is repeated', () => {
  test('finds the entry of an earlier attempt, whatever happened to it since', async () => {
    const open = entry('order-again', { command: COMMAND });
    expect(await journal.insertAgain(open)).toBe('inserted');
    expect(await journal.insertAgain(open)).toBe('inserted');
    await journal.close([open]);
    expect(await journal.insertAgain(open)).toBe('inserted');
    const { command: _, ...closed } = open;
    expect(await journal.findByReference('demo_merchant', 'card', open.reference)).toEqual(closed);
    const attempt = entry('order-again', { attempt: 1 });
    expect(await journal.insert(attempt)).toBe('inserted');
    expect(await journal.insertAgain(attempt)).toBe('inserted');
  });

  test("is refused for another request's id, key and reference, like the first attempt", async () => {
    const idempotency = { endpoint: '/e', key: 'key-again', bodyHash: 'hash' };
    const first = entry('order-again-2', { idempotency });
    expect(await journal.insert(first)).toBe('inserted');
    expect(await journal.insertAgain(entry('order-again-2'))).toBe('id-used');
    expect(await journal.insertAgain(entry('order-again-3', { idempotency }))).toBe('key-used');
    expect(await journal.insertAgain({ ...entry('order-again-4'), reference: first.reference })).toBe(
      'reference-taken',
    );
    expect(await journal.insertAgain({ ...first, acceptedAt: first.acceptedAt + 1 })).not.toBe('inserted');
  });
});

test('the sweeper skips entries without a command', async () => {
  const { paymentId } = entry('');
  await journal.close(await journal.findByPayment('demo_merchant', paymentId));
  await journal.insert(entry('order-4', { checkoutId: 'page' }));
  const claimAt = (ms: number) => {
    now = ms;
    return journal.claimOverdue(1_000_000);
  };
  expect(await claimAt(1_000_000)).toEqual([]);
  const open = entry('order-5', { command: COMMAND });
  await journal.insert(open);
  expect(await claimAt(5_999)).toEqual([]);
  expect(await claimAt(6_000)).toEqual([open]);
});

test('a due page is swept by one replica at a time until it has ended', async () => {
  const checkout: OpenCheckout = {
    id: 'page-1',
    merchantAccount: 'demo_merchant',
    paymentId: 'ABCDEFGHIJKLMNOP',
    request: {
      transactionType: 'SALE',
      transactionUniqueId: 'order-1',
      amountE4: 1,
      currency: 'XTS',
      customer: { firstName: 'A', lastName: 'B', country: 'DEU', email: 'a@b.example', ip: '192.0.2.1' },
      notes: { userId: 'u' },
      redirectUrl: 'https://shop.example/',
    },
    acceptedAt: 0,
    expiresAt: 100,
    state: 'open',
  };
  await checkouts.insert(checkout, 200);
  await checkouts.insert(checkout, 200);
  expect(await checkouts.find('page-1')).toEqual(checkout);
  expect(await checkouts.find('page-2')).toBeUndefined();
  const claimAt = (ms: number) => {
    now = ms;
    return checkouts.claimExpired('demo_merchant', 100);
  };
  expect(await claimAt(199)).toBeUndefined();
  expect(await checkouts.accountsWithExpired('', 10)).toEqual([]);
  now = 200;
  expect(await checkouts.claimExpired('another_account', 100)).toBeUndefined();
  expect(await checkouts.accountsWithExpired('', 10)).toEqual(['demo_merchant']);
  expect(await checkouts.accountsWithExpired('demo_merchant', 10)).toEqual([]);
  const claims = await Promise.all([claimAt(200), claimAt(200)]);
  expect(claims.filter((claim) => claim !== undefined)).toEqual([checkout]);
  expect(await claimAt(299)).toBeUndefined();
  expect(await claimAt(300)).toEqual(checkout);
  await checkouts.sweepAgain('page-1', 350);
  expect(await claimAt(349)).toBeUndefined();
  expect(await claimAt(350)).toEqual(checkout);
  const removeAt = Date.UTC(2030, 0, 1);
  await checkouts.end('page-1', removeAt);
  expect(await claimAt(removeAt)).toBeUndefined();
  const { customer: _customer, notes: _notes, ...request } = checkout.request;
  expect(await checkouts.find('page-1')).toEqual({ ...checkout, request, state: 'ended' });
  const document = await mongo.collection<{ _id: string; removeAt: Date }>('checkouts').findOne({ _id: 'page-1' });
  expect(document?.removeAt).toEqual(new Date(removeAt));
  const ttl = (await mongo.collection('checkouts').indexes()).find(({ key }) => 'removeAt' in key);
  expect(ttl?.['expireAfterSeconds']).toBe(0);
});

describe('payouts and card operations', () => {
  const ofPayout = (transactionUniqueId: string, acceptedAt: number): PayoutEntry => ({
    reference: `PPPPPPPPPPPPPPPP${newNumber()}`,
    paymentId: 'PPPPPPPPPPPPPPPP',
    merchantAccount: 'demo_merchant',
    space: 'payout',
    transactionUniqueId,
    token: 'token',
    acceptedAt,
    deadline: acceptedAt + 1_000,
    command: { type: 'InitiatePayout', data: {} } as unknown as PayoutCommand,
  });

  test('have separate ids and do not find each other', async () => {
    const operation = entry('order-6');
    const payout = ofPayout('order-6', 1);
    expect(await journal.insert(operation)).toBe('inserted');
    expect(await journal.insert(payout)).toBe('inserted');
    expect(await journal.insert(ofPayout('order-6', 2))).toBe('id-used');
    expect(await journal.findByUniqueId('demo_merchant', 'card', 'order-6')).toEqual(operation);
    expect(await journal.findByUniqueId('demo_merchant', 'payout', 'order-6')).toEqual(payout);
    expect(await journal.findByReference('demo_merchant', 'payout', payout.reference)).toEqual(payout);
    expect(await journal.findByReference('demo_merchant', 'card', payout.reference)).toBeUndefined();
    expect(await journal.findByReference('demo_merchant', 'payout', operation.reference)).toBeUndefined();
    expect(await journal.findByReference('another_one', 'payout', payout.reference)).toBeUndefined();
    expect(await journal.findByPayment('demo_merchant', payout.paymentId)).toEqual([]);
    expect(await journal.paymentOf('demo_merchant', operation.reference)).toEqual({});
    expect(await journal.paymentOf('demo_merchant', payout.reference)).toBeUndefined();
    // Not recorded itself, but of the same payment.
    expect(await journal.paymentOf('demo_merchant', `${operation.paymentId}ZZZZ`)).toEqual({});
    expect(await journal.paymentOf('demo_merchant', `${payout.paymentId}ZZZZ`)).toBeUndefined();
    await journal.close([payout]);
  });

  test('that stay open are claimed again after the lease, however old they are, with the time they were sent', async () => {
    const HOUR = 3_600_000;
    const open = ofPayout('order-7', HOUR);
    await mongo.collection('journal').deleteMany({});
    await journal.insert(open);
    const claimAt = (ms: number) => {
      now = ms;
      return journal.claimOverdue(30_000);
    };
    for (const at of [2 * HOUR, 2 * HOUR + 30_000, 50 * HOUR, 50 * HOUR + 30_000]) {
      expect(await claimAt(at)).toEqual([open]);
      expect(await claimAt(at + 29_999)).toEqual([]);
    }
    await journal.keepSentAgain([open], 51 * HOUR);
    expect(await claimAt(51 * HOUR)).toEqual([{ ...open, sentAgainAt: 51 * HOUR }]);
    await journal.close([open]);
    await journal.keepSentAgain([open], 52 * HOUR);
    expect(await claimAt(60 * HOUR)).toEqual([]);
    const { command: _command, ...closed } = open;
    expect(await journal.findByReference('demo_merchant', 'payout', open.reference)).toEqual(closed);
  });

  describe('that a replica gives up', () => {
    interface Stored {
      _id: string;
      state: string;
      unconfirmed?: true;
    }
    const stored = ({ reference }: PayoutEntry) => mongo.collection<Stored>('journal').findOne({ _id: reference });
    const givenUp = ({ command: _c, unconfirmed: _u, ...payout }: PayoutEntry): PayoutEntry => ({
      ...payout,
      abandoned: true,
    });
    async function landed(transactionUniqueId: string, more: Partial<PayoutEntry> = {}): Promise<PayoutEntry> {
      const payout: PayoutEntry = { ...ofPayout(transactionUniqueId, 1), unconfirmed: true, ...more };
      await journal.insert(payout);
      return payout;
    }
    beforeEach(() => mongo.collection('journal').deleteMany({}));

    test('are withdrawn where they landed, with the answer that their merchant got', async () => {
      const idempotency = { endpoint: '/p', key: 'key-withdrawn', bodyHash: 'hash' };
      const payout = await landed('withdrawn', { idempotency, response: { code: 0 } });
      const told = { ...givenUp(payout), response: { code: 11 } };
      expect(await journal.insertAgain(told)).toBe('inserted');
      expect(await journal.findByReference('demo_merchant', 'payout', payout.reference)).toEqual(told);
      expect(await stored(payout)).toMatchObject({ state: 'closed', endedAt: new Date(payout.acceptedAt) });
      expect(await journal.insertAgain(told)).toBe('inserted');
      expect(await journal.confirm(payout)).toBe(false);
      now = 10_000;
      expect(await journal.claimOverdue(10_000)).toEqual([]);
    });

    test('are left alone if they are confirmed, or if a sweeper holds them', async () => {
      const { unconfirmed: _, ...confirmed } = await landed('confirmed');
      expect(await journal.confirm(confirmed)).toBe(true);
      expect(await journal.confirm(confirmed)).toBe(true);
      expect(await journal.insertAgain(givenUp(confirmed))).toBe('inserted');
      expect(await journal.findByReference('demo_merchant', 'payout', confirmed.reference)).toEqual(confirmed);
      const held = await landed('held');
      now = 10_000;
      await journal.claimOverdue(10_000);
      expect(await journal.insertAgain(givenUp(held))).toBe('inserted');
      expect(await stored(held)).toMatchObject({ state: 'open', unconfirmed: true });
    });

    test('are abandoned by a sweeper only if nobody confirmed them, and never both', async () => {
      const payouts = await Promise.all(Array.from({ length: 40 }, (_, i) => landed(`raced-${i}`, { response: {} })));
      const half = payouts.slice(20);
      const [confirmed] = await Promise.all([
        Promise.all(half.map((payout) => journal.confirm(payout))),
        journal.abandon(payouts),
      ]);
      const after = await Promise.all(payouts.map(stored));
      expect(after.map((entry) => entry?.state === 'open')).toEqual([...half.map(() => false), ...confirmed]);
      expect(after.filter((entry) => entry !== null && 'unconfirmed' in entry)).toEqual([]);
      // Its answer would say that it was accepted.
      expect(after[0]).not.toHaveProperty('response');
      expect(after[0]).not.toHaveProperty('command');
    });
  });

  test('are each claimed by one of many sweepers', async () => {
    await mongo.collection('journal').deleteMany({});
    const entries = Array.from({ length: 100 }, (_, i) => ofPayout(`order-8-${i}`, 1));
    for (const one of entries) await journal.insert(one);
    now = 10_000;
    const claims = await Promise.all(Array.from({ length: 8 }, () => journal.claimOverdue(10_000)));
    const rest = await journal.claimOverdue(10_000);
    const claimed = [...claims.flat(), ...rest];
    const taken = claimed.map(({ reference }) => reference);
    expect(taken.sort()).toEqual(entries.map(({ reference }) => reference).sort());
    await journal.close(claimed);
    expect(await mongo.collection<{ claim?: string }>('journal').countDocuments({ claim: { $exists: true } })).toBe(0);
  });
});

test('open entries that no sweeper took are counted', async () => {
  const before = await journal.countOverdue(50_000);
  const late = entry('order-late', { command: COMMAND, deadline: 40_000 });
  await journal.insert(late);
  await journal.insert(entry('order-later', { command: COMMAND, deadline: 60_000 }));
  expect(await journal.countOverdue(50_000)).toBe(before + 1);
  await journal.close([late]);
  expect(await journal.countOverdue(50_000)).toBe(before);
});
