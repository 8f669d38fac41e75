import { createLogger } from '@gateway/service-kit';
import type { CallEnd } from '../domain/address-health';
import { sumOf } from '../domain/fair-share';
import type { AddressVerdict } from './attempt-delivery';
import type { DispatcherLimits } from './dispatcher';
import { createDispatcher, DISPATCHER_LIMITS } from './dispatcher';
import type { StoredDelivery } from './ports';
import { STRANGER_BUDGET } from './volume-budget';

const OPEN_MS = 30_000;
const LONG_MS = 10_000;

/** Lanes of one merchant. A name with a space belongs to another merchant. */
const laneNamed = (name: string): string => (name.includes(' ') ? name : `merchant ${name}`);

function verdictOf(how: CallEnd | 'refused' | 'none'): AddressVerdict {
  if (how === 'none') return 'none';
  return how === 'refused' ? { end: 'quick', acknowledged: false } : { end: how, acknowledged: how !== 'timed-out' };
}

/** A dispatcher whose attempts end when the test ends them. */
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

  /** Submits a delivery if there is a place. Returns its id, or undefined. */
  function send(name: string): string | undefined {
    const lane = laneNamed(name);
    if (!dispatcher.reserve(lane)) return undefined;
    const id = `${lane}#${(lastId += 1)}`;
    dispatcher.submit({ _id: id, lane } as StoredDelivery);
    return id;
  }

  /** Whoever answers acknowledges. */
  async function end(id: string | undefined, how: CallEnd | 'refused' | 'none' | Error): Promise<void> {
    running.get(id ?? '')?.(typeof how === 'string' ? verdictOf(how) : how);
    await new Promise(setImmediate);
  }

  return {
    dispatcher,
    handedBack,
    running: () => [...running.keys()],
    runningOf: (merchant: string) => [...running.keys()].filter((id) => id.startsWith(`${merchant} `)),
    places: (name: string) => dispatcher.places(laneNamed(name)),
    send,
    end,
    pass: (ms: number) => void (clock += ms),
    prove: (name: string) => end(send(name), 'quick'),
  };
}

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

describe('one address', () => {
  it('gets one call at a time until it has answered, then as many as the limit allows', async () => {
    const { send, end, running } = open({ concurrencyPerAddress: 2 });
    const first = send('a');
    send('a');
    expect(running()).toEqual([first]);
    await end(first, 'quick');
    send('a');
    send('a');
    expect(running()).toHaveLength(2);
  });

  it('keeps its concurrency when it is slow', async () => {
    const { send, end, running } = open({ concurrencyPerAddress: 2 });
    await end(send('a'), 'slow');
    expect([send('a'), send('a')]).toEqual(running());
  });

  it('has a bounded number of waiting places', async () => {
    const { places, send, prove } = open({ concurrencyPerAddress: 2, waitingPerAddressMax: 3 });
    expect([send('new'), send('new')]).not.toContain(undefined);
    expect(send('new')).toBeUndefined();
    await prove('a');
    expect(times(5, () => send('a'))).not.toContain(undefined);
    expect(send('a')).toBeUndefined();
    expect([places('new'), places('a'), places('other')]).toEqual([0, 0, 2]);
  });

  it('frees its place when an attempt ends or throws', async () => {
    const { dispatcher, send, end, running } = open({ heldMax: 10 });
    const first = send('a');
    expect(dispatcher.room()).toBe(9);
    await end(first, new Error('the database is away'));
    expect(dispatcher.room()).toBe(10);
    expect(running()).toEqual([]);
    expect(dispatcher.figures()).toEqual({
      running: { proven: 0, unproven: 0 },
      waiting: 0,
      openCircuits: 0,
      busiest: [],
    });
  });

  it('gets a reserved place back if it is not used', () => {
    const { dispatcher } = open({ concurrencyPerAddress: 1 });
    expect(dispatcher.reserve('merchant a')).toBe(true);
    expect(dispatcher.reserve('merchant a')).toBe(false);
    dispatcher.giveBack('merchant a');
    expect(dispatcher.reserve('merchant a')).toBe(true);
  });
});

describe('an address that lets calls time out', () => {
  it('gets no calls while its circuit is open; waiting deliveries are handed back; then one call tries it', async () => {
    const { dispatcher, places, send, end, pass, prove, running, handedBack } = open({ concurrencyPerAddress: 4 });
    await prove('a');
    const [first, second, third, ...waiting] = times(6, () => send('a'));
    for (const id of [first, second, third]) await end(id, 'timed-out');
    expect(handedBack).toEqual(waiting.slice(1));
    expect(dispatcher.figures().openCircuits).toBe(1);
    expect(send('a')).toBeUndefined();
    expect(places('a')).toBe(0);
    await end(waiting[0], 'none');
    pass(OPEN_MS);
    expect(places('a')).toBe(1);
    const probe = send('a');
    expect(running()).toEqual([probe]);
    expect(send('a')).toBeUndefined();
    await end(probe, 'timed-out');
    expect(send('a')).toBeUndefined();
    pass(OPEN_MS);
    await end(send('a'), 'quick');
    expect([send('a'), send('a')]).not.toContain(undefined);
    expect(running()).toHaveLength(2);
  });

  it('is not judged by attempts that made no call', async () => {
    const { send, end } = open();
    for (let count = 0; count < 4; count += 1) await end(send('a'), 'none');
    expect(send('a')).toBeDefined();
  });
});

describe('a merchant', () => {
  const limits = { concurrency: 40, concurrencyPerMerchant: 6, unprovenPerMerchant: 3, concurrencyPerAddress: 2 };

  it('has a limit for all its addresses together', async () => {
    const { send, prove, runningOf } = open(limits);
    for (const name of times(5, (index) => `a${index}`)) {
      await prove(`one ${name}`);
      await prove(`other ${name}`);
    }
    for (const name of times(5, (index) => `a${index}`)) times(2, () => send(`one ${name}`));
    expect(runningOf('one')).toHaveLength(6);
    expect(times(2, () => send('other a0'))).toEqual(runningOf('other'));
  });

  it('has a smaller limit for addresses that may hang, and its proven ones keep the rest', async () => {
    const { send, prove, running } = open(limits);
    await prove('living');
    times(100, (index) => send(`new-${index}`));
    expect(running()).toHaveLength(3);
    expect(times(2, () => send('living')).every((id) => running().includes(id ?? ''))).toBe(true);
  });

  it('has an address that counts as unproven from its first slow answer', async () => {
    const { send, end, running } = open(limits);
    const slow = times(5, (index) => `slow-${index}`);
    for (const name of slow) await end(send(name), 'slow');
    for (const name of slow) send(name);
    expect(running()).toHaveLength(3);
  });

  it('has an address that counts as unproven while its other calls still run', async () => {
    const { send, end, prove, running } = open(limits);
    await prove('a');
    const [first, second] = [send('a'), send('a'), send('a')];
    await end(first, 'timed-out');
    // No second call starts: the address now gets one at a time.
    expect(running()).toEqual([second]);
    times(3, (index) => send(`new-${index}`));
    expect(running()).toHaveLength(3);
  });

  it('keeps few deliveries in memory for addresses that may hang', async () => {
    const { dispatcher, places, send, prove } = open(limits);
    await prove('living');
    expect(times(100, (index) => send(`new-${index}`)).filter((id) => id !== undefined)).toHaveLength(6);
    expect([places('stranger'), dispatcher.places('other a')]).toEqual([0, 2]);
    expect(send('living')).toBeDefined();
  });

  it('is shown among the busiest while its calls run', async () => {
    const { dispatcher, send, prove } = open(limits);
    await prove('quiet a');
    times(12, (index) => send(`m${index} a`));
    send('m5 b');
    const { busiest } = dispatcher.figures();
    expect(busiest).toHaveLength(10);
    expect(busiest[0]).toEqual({ merchantAccount: 'm5', running: 2 });
  });
});

describe('many merchants', () => {
  it('take turns, however many addresses each has', async () => {
    const { send, end, prove, running } = open({ concurrency: 1, concurrencyPerAddress: 1 });
    const names = [...times(10, (index) => `loud a${index}`), 'quiet a', 'silent a'];
    for (const name of names) await prove(name);
    for (const name of names) send(name);
    const order: string[] = [];
    for (let [id] = running(); id !== undefined; [id] = running()) {
      order.push(id.slice(0, id.indexOf(' ')));
      await end(id, 'quick');
    }
    expect(order.slice(0, 4)).toEqual(['loud', 'loud', 'quiet', 'silent']);
    expect(order).toHaveLength(names.length);
  });

  it('whose addresses all hang leave half of the places, and of the memory, to proven addresses', async () => {
    const { dispatcher, send, prove } = open({ concurrency: 8, heldMax: 40, unprovenPerMerchant: 2 });
    await prove('living a');
    for (const merchant of times(20, (index) => `m${index}`)) times(3, (index) => send(`${merchant} a${index}`));
    expect(dispatcher.figures().running).toEqual({ proven: 0, unproven: 4 });
    expect(dispatcher.room()).toBe(20);
    send('living a');
    expect(dispatcher.figures().running).toEqual({ proven: 1, unproven: 4 });
  });

  it('always leave places for the next one', async () => {
    const { dispatcher, send, prove, runningOf } = open({ concurrency: 16, concurrencyPerAddress: 16 });
    const names = ['m1 a', 'm2 b', 'm3 c'];
    for (const name of names) await prove(name);
    for (const name of names) times(16, () => send(name));
    expect(names.map((name) => runningOf(name.slice(0, 2)).length)).toEqual([8, 4, 2]);
    expect(sumOf(dispatcher.figures().running)).toBeLessThan(16);
  });
});

describe('the addresses of a merchant', () => {
  it('take turns', async () => {
    const { send, end, prove, running } = open({ concurrency: 4, concurrencyPerMerchant: 2, concurrencyPerAddress: 2 });
    await prove('a');
    await prove('b');
    const [a1] = times(4, () => send('a'));
    const b = send('b');
    await end(a1, 'quick');
    await end(running()[0], 'quick');
    expect(running()).toContain(b);
  });

  it('are remembered up to a bound; those with deliveries are never evicted', async () => {
    const { dispatcher, places, send, prove } = open({ addressesMax: 3, concurrencyPerAddress: 1 });
    send('held');
    for (const lane of ['b', 'c', 'd', 'e']) await prove(lane);
    expect(send('held')).toBeUndefined();
    expect(sumOf(dispatcher.figures().running)).toBe(1);
    expect(places('held')).toBe(0);
  });

  it('evict only each other’s health when there are very many', async () => {
    const { places, prove } = open({
      addressesPerMerchantMax: 3,
      addressesMax: 10,
      concurrencyPerAddress: 1,
      waitingPerAddressMax: 4,
    });
    const [proven, unknown] = [5, 1];
    await prove('other a');
    for (const name of times(20, (index) => `a${index}`)) await prove(name);
    expect(places('other a')).toBe(proven);
    expect(['a16', 'a17', 'a18', 'a19'].map(places)).toEqual([unknown, proven, proven, proven]);
  });
});

describe('stopping', () => {
  it('waits for running attempts, hands back waiting deliveries, and accepts no more', async () => {
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
    await end(first, 'quick');
    await stopping;
  });

  it('hands back a delivery submitted after the stop', async () => {
    const { dispatcher, handedBack } = open();
    dispatcher.reserve('merchant a');
    await dispatcher.stop(LONG_MS);
    dispatcher.submit({ _id: 'late', lane: 'merchant a' } as StoredDelivery);
    expect(handedBack).toEqual(['late']);
  });

  it('does not wait beyond its time-out', async () => {
    const { dispatcher, send, running } = open();
    send('a');
    await dispatcher.stop(1);
    expect(running()).toHaveLength(1);
  });
});

describe('the volume of an address', () => {
  /** Calls until there is no place, each ended at once. Returns their number. */
  async function callAll(
    { send, end }: Pick<ReturnType<typeof open>, 'send' | 'end'>,
    names: readonly string[],
    how: CallEnd | 'refused',
  ): Promise<number> {
    let calls = 0;
    for (let taken = true; taken && calls < 1_000;) {
      taken = false;
      for (const name of names) {
        const id = send(name);
        await end(id, how);
        if (id === undefined) continue;
        taken = true;
        calls += 1;
      }
    }
    return calls;
  }

  it.each([
    { what: 'one address', names: ['https://a.example'] },
    { what: 'the addresses of many accounts', names: times(50, (each) => `m${each} https://a.example`) },
    { what: 'a name with and without its dot', names: ['https://a.example:8443', 'https://a.example.:8443'] },
  ])('is that of a stranger for $what, as long as nobody acknowledges', async ({ names }) => {
    const opened = open();
    const { burst, perSecond } = STRANGER_BUDGET.perDestination;
    expect(await callAll(opened, names, 'refused')).toBe(burst);
    opened.pass(1_000 / perSecond);
    expect(await callAll(opened, names, 'refused')).toBe(1);
  });

  it('is that of an account for all its names together', async () => {
    const opened = open();
    const names = times(500, (each) => `https://${each}.example`);
    expect(await callAll(opened, names, 'refused')).toBe(STRANGER_BUDGET.perAccount.burst);
    expect(await callAll(opened, ['other https://new.example'], 'refused')).toBe(STRANGER_BUDGET.perDestination.burst);
  });

  it('has no bound while it acknowledges, from the first call', async () => {
    const opened = open();
    const names = times(60, (each) => `https://${each % 2}.example/${each}`);
    expect(await callAll(opened, names, 'slow')).toBeGreaterThanOrEqual(1_000);
  });

  it("does not depend on others' failures at its host", async () => {
    const opened = open();
    await opened.prove('good https://a.example');
    await callAll(opened, ['bad https://a.example'], 'refused');
    expect(await callAll(opened, ['good https://a.example'], 'quick')).toBeGreaterThanOrEqual(1_000);
  });

  it('is lost within a few calls when nobody acknowledges any longer', async () => {
    const opened = open();
    for (let call = 0; call < 300; call += 1) await opened.prove('https://a.example');
    expect(await callAll(opened, ['https://a.example'], 'refused')).toBeLessThan(
      STRANGER_BUDGET.perDestination.burst + 10,
    );
  });

  it('grows again after a failure, with the first acknowledgements', async () => {
    const opened = open();
    await callAll(opened, ['https://a.example'], 'refused');
    opened.pass(1_000 / STRANGER_BUDGET.perDestination.perSecond);
    expect(await callAll(opened, ['https://a.example'], 'quick')).toBeGreaterThanOrEqual(1_000);
  });

  it('is not used by deliveries that are given back, or not sent', async () => {
    const opened = open();
    for (let each = 0; each < 100; each += 1) {
      expect(opened.dispatcher.reserve('merchant https://a.example')).toBe(true);
      opened.dispatcher.giveBack('merchant https://a.example');
      await opened.end(opened.send('https://a.example'), 'none');
    }
    expect(await callAll(opened, ['https://a.example'], 'refused')).toBe(STRANGER_BUDGET.perDestination.burst);
  });

  it('counts a call whose result was lost', async () => {
    const opened = open();
    for (let each = 0; each < STRANGER_BUDGET.perDestination.burst; each += 1) {
      await opened.end(opened.send('https://a.example'), new Error('no database'));
    }
    expect(opened.send('https://a.example')).toBeUndefined();
  });
});
