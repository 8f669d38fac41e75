import { randomBytes } from 'node:crypto';
import { Secret } from '@gateway/contracts';
import { RetryableError } from '@gateway/service-kit';
import { silentLogger } from '@gateway/testing';
import type { OperationRequest } from './commands';
import { offer, prepareOperation } from './offer';
import type { Insertion, JournalEntry, LateEntry, OperationEntry, PayoutEntry, Ports } from './ports';

const ENTRY = {
  reference: 'ABCDEFGHIJKLMNOP0001',
  command: { type: 'ChargeCard', data: { withCvv: true } },
} as unknown as OperationEntry;
const REPLY_TIMEOUT_MS = 30_000;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** A vault that failed after it stored the card, and a journal with scripted answers and failures. */
function portsWith(...insertions: (Insertion | Error)[]) {
  const asked: string[] = [];
  const late: JournalEntry[] = [];
  const insert = (name: string) => async () => {
    asked.push(name);
    const insertion = insertions.length > 1 ? insertions.shift() : insertions[0];
    if (insertion instanceof Error) throw insertion;
    return insertion;
  };
  const ports = {
    journal: { insert: insert('insert'), insertAgain: insert('insertAgain') },
    vault: {
      dropCvv: async () => {
        throw new RetryableError('away');
      },
    },
    late: { add: ({ entry }: LateEntry) => void late.push(entry) },
    bus: { available: () => true },
    isDiskFull: (error: unknown) => error === FULL,
    databaseAvailable: () => true,
    now: Date.now,
    replyTimeoutMs: REPLY_TIMEOUT_MS,
    sandboxReturns: 'any',
    logger: silentLogger,
  } as unknown as Ports;
  return { ports, asked, late };
}

const prepare = async (): Promise<OperationEntry> => ENTRY;
const FULL = new RetryableError('database: out of disk space');
const AWAY = new RetryableError('database: away');

test.each(['id-used', 'key-used'] as const)('%s is refused, even if the CVV cannot be dropped', async (insertion) => {
  expect(await offer(portsWith(insertion).ports, prepare)).toEqual({ kind: 'refused', entry: ENTRY });
});

test('a reference that is in use is replaced, even if the CVV cannot be dropped', async () => {
  const { ports } = portsWith('reference-taken', 'inserted');
  expect(await offer(ports, prepare)).toEqual({ kind: 'accepted', entry: ENTRY });
});

test('an insert without an answer is repeated with the same reference, because it may have succeeded', async () => {
  const { ports, asked, late } = portsWith(AWAY, AWAY, 'inserted');
  const prepares = jest.fn(prepare);
  const offered = offer(ports, prepares);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(await offered).toEqual({ kind: 'accepted', entry: ENTRY });
  expect(asked).toEqual(['insert', 'insertAgain', 'insertAgain']);
  expect([prepares.mock.calls.length, late]).toEqual([1, []]);
});

test('the outcome is unknown at the deadline of the request, not before, and the entry is inserted late', async () => {
  const { ports, late } = portsWith(AWAY);
  const over = jest.fn();
  const offered = offer(ports, prepare).finally(over);
  await jest.advanceTimersByTimeAsync(REPLY_TIMEOUT_MS - 1_000);
  expect([over.mock.calls.length, late]).toEqual([0, []]);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(await offered).toEqual({ kind: 'unknown', entry: ENTRY });
  expect(late).toEqual([ENTRY]);
});

test('an insert refused by a full disk did nothing, unless an earlier one may have succeeded', async () => {
  const { ports, asked, late } = portsWith(FULL);
  expect(await offer(ports, prepare)).toEqual({ kind: 'unavailable' });
  expect([asked, late]).toEqual([['insert'], []]);

  const later = portsWith(AWAY, FULL);
  const offered = offer(later.ports, prepare);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(await offered).toEqual({ kind: 'unknown', entry: ENTRY });
  expect(later.late).toEqual([ENTRY]);
});

describe('a payout', () => {
  const PAYOUT = { reference: ENTRY.reference, space: 'payout', unconfirmed: true } as PayoutEntry;
  /** `insert` ends when the test says so. */
  function payoutPorts(confirm: () => Promise<boolean>) {
    const known = portsWith('inserted');
    const land: (() => void)[] = [];
    const insert = () => new Promise<Insertion>((resolve) => land.push(() => resolve('inserted')));
    const confirming = jest.fn(confirm);
    Object.assign(known.ports.journal, { insert, insertAgain: insert, confirm: confirming });
    const offered = offer(known.ports, async () => PAYOUT);
    return { ...known, offered, confirming, land: () => land.forEach((one) => one()) };
  }

  test('is accepted once it is confirmed, which is repeated', async () => {
    let attempts = 0;
    const { offered, confirming, land } = payoutPorts(async () => {
      attempts += 1;
      if (attempts === 1) throw AWAY;
      return true;
    });
    await jest.advanceTimersByTimeAsync(0);
    land();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await offered).toEqual({ kind: 'accepted', entry: PAYOUT });
    expect(confirming).toHaveBeenCalledTimes(2);
  });

  test('whose insert succeeds after the answer is not confirmed', async () => {
    const { offered, confirming, land, late } = payoutPorts(async () => true);
    await jest.advanceTimersByTimeAsync(REPLY_TIMEOUT_MS);
    expect(await offered).toEqual({ kind: 'unknown', entry: PAYOUT });
    land();
    await jest.advanceTimersByTimeAsync(REPLY_TIMEOUT_MS);
    expect(confirming).not.toHaveBeenCalled();
    expect(late).toEqual([PAYOUT]);
  });

  test.each<[string, () => Promise<boolean>]>([
    ['abandoned before', async () => false],
    // It is in the journal, so "nothing was done" would be wrong.
    ['not confirmed because the disk is full', () => Promise.reject(FULL)],
  ])('that is %s has an unknown outcome', async (_name, confirm) => {
    const { offered, land } = payoutPorts(confirm);
    await jest.advanceTimersByTimeAsync(0);
    land();
    await jest.advanceTimersByTimeAsync(0);
    expect(await offered).toEqual({ kind: 'unknown', entry: PAYOUT });
  });
});

test('the late entry is the one that the request prepares', async () => {
  const { ports, late } = portsWith(new Error('not transient'));
  const { command: _, ...abandoned } = ENTRY;
  expect(await offer(ports, prepare, () => ({ entry: abandoned }))).toEqual({ kind: 'unknown', entry: ENTRY });
  expect(late).toEqual([abandoned]);
  expect(await offer(ports, prepare, () => undefined)).toEqual({ kind: 'unknown', entry: ENTRY });
  expect(late).toHaveLength(1);
});

test('without a key for its CVV nothing of a request is stored', async () => {
  const { ports } = portsWith('inserted');
  const stored: string[] = [];
  const vault = {
    requireCvvKey: async () => {
      throw new Error('no key');
    },
    putCard: async () => stored.push('card'),
    putCvv: async () => stored.push('cvv'),
  };
  const instrument = { kind: 'card', card: new Secret({}), cvv: new Secret('123') };
  const request = { transactionType: 'SALE', instrument } as unknown as OperationRequest;
  const world = { ...ports, vault, randomBytes } as unknown as Ports;
  const preparing = prepareOperation(world, { merchantAccount: 'merchant', request, isTest: false });
  await expect(preparing).rejects.toThrow('no key');
  expect(stored).toEqual([]);
});
