import { isRetryable, runWithTrace } from '@gateway/service-kit';
import { memoryStore } from '@gateway/testing';
import type { Stored } from './aggregate-store';
import type { HandleContext } from './handle';
import { createHandle } from './handle';

interface Account {
  balance: number;
}
type AccountEvent = { type: 'Opened' } | { type: 'Paid'; amount: number } | { type: 'Noted' };

function evolve(account: Account | undefined, event: AccountEvent): Account {
  if (account === undefined) return { balance: 0 };
  return event.type === 'Paid' ? { balance: account.balance + event.amount } : account;
}

const NOW = 1_000;
const ID = 'account';
const open = [{ type: 'Opened' }] as const;
const pay = (amount: number): AccountEvent[] => [{ type: 'Paid', amount }];

function world(...documents: Stored<Account>[]) {
  const store = memoryStore<Account>(...documents);
  const published: Stored<Account>[] = [];
  const counted: string[] = [];
  let ids = 0;
  const handle = createHandle<Account, AccountEvent>({
    store,
    evolve,
    announce: ({ balance }, { type }) => (type === 'Paid' ? { type, data: { balance } } : undefined),
    publish: (stored) => published.push(stored),
    onWritten: ({ type }) => counted.push(type),
    now: () => NOW,
    newId: () => `id-${(ids += 1)}`,
  });
  return { store, handle, published, counted };
}

const stored = (balance: number, more: Partial<Stored<Account>> = {}): Stored<Account> => ({
  _id: ID,
  balance,
  version: 1,
  eventSeq: 0,
  outbox: [],
  ...more,
});

test('events determine the state, and their messages are written and published with it', async () => {
  const { handle, store, published, counted } = world();
  const events = [...open, ...pay(5), ...pay(2)];
  const trace = { correlationId: 'c', traceparent: 't' };
  const handled = await runWithTrace(trace, () => handle(ID, () => events, { causationId: 'm' }));
  const message = { type: 'Paid', at: NOW, correlationId: 'c', traceparent: 't', causationId: 'm' };
  const outbox = [
    { ...message, id: 'id-1', data: { balance: 5 } },
    { ...message, id: 'id-2', data: { balance: 7 } },
  ];
  expect(handled).toEqual({ written: true, before: null, stored: stored(7, { eventSeq: 2, outbox }) });
  expect(store.documents.get(ID)).toEqual(handled.stored);
  expect(published).toEqual([handled.stored]);
  expect(counted).toEqual(['Opened', 'Paid', 'Paid']);
});

describe('commands to the database', () => {
  const cases: [string, Parameters<typeof run>[0], string[]][] = [
    ['by id', { context: {} }, ['load', 'update']],
    ['by id, nothing decided', { context: {}, events: [] }, ['load']],
    ['read before', { read: true }, ['update']],
    ['read before, nothing decided', { read: true, events: [] }, []],
    ['expected new', { isNew: true, context: { expectNew: true } }, ['insert']],
    ['expected new, and known', { context: { expectNew: true } }, ['insert', 'load', 'update']],
  ];
  async function run(asked: { read?: true; isNew?: true; context?: HandleContext<Account>; events?: AccountEvent[] }) {
    const { handle, store } = world(...(asked.isNew === true ? [] : [stored(1)]));
    const { events = pay(1) } = asked;
    if (asked.read === true) await handle(stored(1), () => events);
    else await handle(ID, () => events, asked.context);
    return store.calls;
  }
  test.each(cases)('%s', async (_name, asked, calls) => {
    expect(await run(asked)).toEqual(calls);
  });
});

test('a conflicting write is decided again on the stored state', async () => {
  const { handle, published, counted } = world(stored(10, { version: 2 }));
  const seen: number[] = [];
  const { written, stored: after } = await handle(stored(1), ({ balance }) => {
    seen.push(balance);
    return pay(1);
  });
  expect(written).toBe(true);
  expect(after).toMatchObject({ balance: 11, version: 3 });
  expect(seen).toEqual([1, 10]);
  expect([published, counted]).toEqual([[after], ['Paid']]);
});

test('of many concurrent commands each has its effect and gets its own result', async () => {
  const { handle } = world(stored(0));
  const all = await Promise.all([1, 2, 3].map((amount) => handle(ID, () => pay(amount))));
  expect(all.map(({ written }) => written)).toEqual([true, true, true]);
  expect(all.map(({ stored }) => stored?.balance)).toEqual([1, 3, 6]);
});

test('only the writer of an intent gets `written`', async () => {
  const { handle } = world();
  const openOnce = () => handle(ID, (known) => (known === null ? open : []), { expectNew: true });
  const all = await Promise.all([openOnce(), openOnce(), openOnce()]);
  expect(all.map(({ written }) => written)).toEqual([true, false, false]);
});

test('no events, or a rejection: nothing is written, and the outbox is published', async () => {
  const left = stored(1, { outbox: [{ id: 'e', type: 'Paid', data: {}, at: 1, correlationId: 'c' }] });
  const { handle, published, store } = world(left);
  expect(await handle(ID, () => [])).toEqual({ written: false, stored: left });
  expect(await handle(ID, () => 'no-money')).toEqual({ written: false, stored: left, rejection: 'no-money' });
  expect(published).toEqual([left, left]);
  expect(store.calls).toEqual(['load', 'load']);
  expect(await handle('unknown', () => [])).toEqual({ written: false, stored: null });
});

test('internal events are not published, nor those that the caller publishes with its next write', async () => {
  const { handle, published } = world(stored(1));
  await handle(ID, () => [{ type: 'Noted' }]);
  await handle(ID, () => pay(1), { publishLater: true });
  expect(published).toEqual([]);
});

test('after five conflicts the whole message may be retried', async () => {
  const { handle, store } = world(stored(1));
  store.update = () => Promise.resolve(undefined);
  const thrown = await handle(ID, () => pay(1)).catch((error: unknown) => error);
  expect(isRetryable(thrown)).toBe(true);
});

test('an aggregate that vanishes after it was read is a broken invariant', async () => {
  const { handle } = world();
  await expect(handle(stored(1), () => pay(1))).rejects.toThrow('broken invariant: account has vanished');
});
