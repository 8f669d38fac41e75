import { createLogger } from '@gateway/service-kit';
import type { AddressVerdict } from './attempt-delivery';
import type { DispatcherLimits } from './dispatcher';
import { createDispatcher, DISPATCHER_LIMITS } from './dispatcher';
import type { StoredDelivery } from './ports';

const OPEN_MS = 30_000;
const LONG_MS = 10_000;

/** A dispatcher whose attempts end when the test says so. */
function open(limits: Partial<DispatcherLimits> = {}) {
  let clock = 1_000_000;
  let lastId = 0;
  const running = new Map<string, (verdict: AddressVerdict | Error) => void>();
  const handedBack: string[] = [];
  const dispatcher = createDispatcher({
    limits: { ...DISPATCHER_LIMITS, ...limits },
    attempt: ({ _id }) =>
      new Promise((resolve, reject) => {
        running.set(_id, (verdict) => {
          running.delete(_id);
          if (verdict instanceof Error) reject(verdict);
          else resolve(verdict);
        });
      }),
    handBack: async ({ _id }) => void handedBack.push(_id),
    now: () => clock,
    logger: createLogger({ service: 'test', level: 'silent' }),
  });

  /** Submits one where there is a place; its id, or undefined. */
  function send(lane: string): string | undefined {
    if (!dispatcher.reserve(lane)) return undefined;
    const id = `${lane}#${(lastId += 1)}`;
    dispatcher.submit({ _id: id, lane } as StoredDelivery);
    return id;
  }

  async function end(id: string | undefined, verdict: AddressVerdict | Error): Promise<void> {
    running.get(id ?? '')?.(verdict);
    await new Promise(setImmediate);
  }

  return {
    dispatcher,
    handedBack,
    running: () => [...running.keys()],
    send,
    end,
    pass: (ms: number) => void (clock += ms),
    trust: (lane: string) => end(send(lane), 'answered'),
  };
}

describe('one address', () => {
  it('gets one call at a time until it has answered, then as many as the limit says', async () => {
    const { send, end, running } = open({ concurrencyPerAddress: 2 });
    const first = send('a');
    send('a');
    expect(running()).toEqual([first]);
    await end(first, 'answered');
    send('a');
    send('a');
    expect(running()).toHaveLength(2);
  });

  it('has a bounded number of places to wait in', async () => {
    const { dispatcher, send, trust } = open({ concurrencyPerAddress: 2, waitingPerAddressMax: 3 });
    expect([send('new'), send('new')]).not.toContain(undefined);
    expect(send('new')).toBeUndefined();
    await trust('a');
    expect(Array.from({ length: 5 }, () => send('a'))).not.toContain(undefined);
    expect(send('a')).toBeUndefined();
    expect([dispatcher.places('new'), dispatcher.places('a'), dispatcher.places('other')]).toEqual([0, 0, 2]);
  });

  it('frees its place when an attempt ends, also when it throws', async () => {
    const { dispatcher, send, end, running } = open({ heldMax: 10 });
    const first = send('a');
    expect(dispatcher.room()).toBe(9);
    await end(first, new Error('the database is away'));
    expect(dispatcher.room()).toBe(10);
    expect(running()).toEqual([]);
    expect(dispatcher.figures()).toEqual({ running: 0, waiting: 0, openCircuits: 0 });
  });

  it('gives back a place that was kept in vain', () => {
    const { dispatcher } = open({ heldMax: 2, concurrencyPerAddress: 1 });
    expect(dispatcher.reserve('a')).toBe(true);
    expect(dispatcher.reserve('a')).toBe(false);
    dispatcher.giveBack('a');
    expect(dispatcher.reserve('a')).toBe(true);
  });
});

describe('an address that lets calls time out', () => {
  it('gets nothing while its circuit is open; what waited is handed back; then one call tries it', async () => {
    const { dispatcher, send, end, pass, trust, running, handedBack } = open({ concurrencyPerAddress: 4 });
    await trust('a');
    const [first, second, third, ...waiting] = Array.from({ length: 6 }, () => send('a'));
    for (const id of [first, second, third]) await end(id, 'timed-out');
    expect(handedBack).toEqual(waiting.slice(1));
    expect(dispatcher.figures().openCircuits).toBe(1);
    expect(send('a')).toBeUndefined();
    expect(dispatcher.places('a')).toBe(0);
    await end(waiting[0], 'none');
    pass(OPEN_MS);
    expect(dispatcher.places('a')).toBe(1);
    const probe = send('a');
    expect(running()).toEqual([probe]);
    expect(send('a')).toBeUndefined();
    await end(probe, 'timed-out');
    expect(send('a')).toBeUndefined();
    pass(OPEN_MS);
    await end(send('a'), 'answered');
    expect([send('a'), send('a')]).not.toContain(undefined);
    expect(running()).toHaveLength(2);
  });

  it('is not judged by attempts that asked it nothing', async () => {
    const { send, end } = open();
    for (let count = 0; count < 4; count += 1) await end(send('a'), 'none');
    expect(send('a')).toBeDefined();
  });
});

describe('many dead addresses', () => {
  it('leave half of the places to those that answer', async () => {
    const { send, trust, running } = open({ concurrency: 8 });
    await trust('living');
    for (let index = 0; index < 100; index += 1) send(`dead-${index}`);
    expect(running()).toHaveLength(4);
    const ids = Array.from({ length: 4 }, () => send('living'));
    expect(running()).toEqual(expect.arrayContaining(ids));
  });

  it('leave half of the memory to those that answer', async () => {
    const { dispatcher, send, trust } = open({ heldMax: 20 });
    await trust('living');
    const sent = Array.from({ length: 100 }, (_, index) => send(`dead-${index}`));
    expect(sent.filter((id) => id !== undefined)).toHaveLength(10);
    expect(dispatcher.room()).toBe(10);
    expect([dispatcher.places('stranger'), dispatcher.places('living')]).toEqual([0, 10]);
    expect(send('living')).toBeDefined();
  });

  it('that answered before are counted as dead from their first time-out on', async () => {
    const { send, end, trust, running } = open({ concurrency: 4, concurrencyPerAddress: 2 });
    await trust('a');
    await trust('living');
    const [first] = [send('a'), send('a'), send('a')];
    await end(first, 'timed-out');
    // One more runs, none begins: it has one call at a time now.
    expect(running()).toHaveLength(1);
    send('dead-1');
    send('dead-2');
    expect(running()).toHaveLength(2);
    expect([send('living'), send('living')].every((id) => running().includes(id ?? ''))).toBe(true);
  });
});

describe('all addresses', () => {
  it('take turns', async () => {
    const { send, end, trust, running } = open({ concurrency: 2, concurrencyPerAddress: 2 });
    await trust('a');
    await trust('b');
    const [a1] = [send('a'), send('a'), send('a'), send('a')];
    send('b');
    await end(a1, 'answered');
    await end(running()[0], 'answered');
    expect(running().some((id) => id.startsWith('b'))).toBe(true);
  });

  it('are remembered up to a bound; those that hold something are never forgotten', async () => {
    const { dispatcher, send, trust } = open({ addressesMax: 3, concurrencyPerAddress: 1 });
    send('held');
    for (const lane of ['b', 'c', 'd', 'e']) await trust(lane);
    expect(send('held')).toBeUndefined();
    expect(dispatcher.figures().running).toBe(1);
    expect(dispatcher.places('held')).toBe(0);
  });
});

describe('stopping', () => {
  it('waits for what runs, hands back what waits, and takes nothing more', async () => {
    const { dispatcher, send, end, handedBack } = open();
    const first = send('a');
    const second = send('a');
    const stopping = dispatcher.stop(LONG_MS);
    expect(handedBack).toEqual([second]);
    expect(send('b')).toBeUndefined();
    expect(dispatcher.room()).toBe(0);
    let stopped = false;
    void stopping.then(() => (stopped = true));
    await new Promise(setImmediate);
    expect(stopped).toBe(false);
    await end(first, 'answered');
    await stopping;
  });

  it('hands back what was on its way into a place', async () => {
    const { dispatcher, handedBack } = open();
    dispatcher.reserve('a');
    await dispatcher.stop(LONG_MS);
    dispatcher.submit({ _id: 'late', lane: 'a' } as StoredDelivery);
    expect(handedBack).toEqual(['late']);
  });

  it('does not wait longer than it may', async () => {
    const { dispatcher, send, running } = open();
    send('a');
    await dispatcher.stop(1);
    expect(running()).toHaveLength(1);
  });
});
