import { createLogger } from '@gateway/service-kit';
import { laneOf } from '../domain/lane';
import { createClaimer } from './claim-due';
import type { DispatcherLimits } from './dispatcher';
import { createDispatcher, DISPATCHER_LIMITS } from './dispatcher';
import type { Deliveries, LaneRange, Ports, StoredDelivery } from './ports';

const NOW = 1_000_000;
const logger = createLogger({ service: 'test', level: 'silent' });

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const numbered = (name: string, index: number): string => `${name}-${String(index).padStart(4, '0')}`;
const one = (lanes: readonly string[], waiting = 1) => Object.fromEntries(lanes.map((lane) => [lane, waiting]));

/** Due deliveries by lane, and a dispatcher whose attempts end only in the lanes of `quick`. */
const PLENTY = { burst: 1_000_000, perSecond: 1 };
/** What is known of an address has tests of its own. */
const UNBOUNDED = { perDestination: PLENTY, perAccount: PLENTY };

function open(waiting: Record<string, number>, limits: Partial<DispatcherLimits> = {}) {
  const stored = new Map<string, StoredDelivery>();
  for (const [lane, count] of Object.entries(waiting)) {
    for (let index = 0; index < count; index += 1) {
      const _id = `${lane}#${index}`;
      const progress = { state: 'pending', nextAttemptAt: NOW, claimableAt: NOW };
      stored.set(_id, { _id, lane, progress } as unknown as StoredDelivery);
    }
  }
  const isDue = ({ progress }: StoredDelivery): boolean => progress.state === 'pending' && progress.claimableAt <= NOW;
  const inRange = ({ after, upTo = '~' }: LaneRange) =>
    [...stored.values()].filter(({ lane }) => lane > after && lane <= upTo);
  const asked: [lane: string, limit: number][] = [];
  const ranges: LaneRange[] = [];
  const parts: LaneRange[] = [];
  const lost = new Set<string>();
  const quick = new Set<string>();
  let random = 0;
  let isAway = false;
  let broken = '';
  const deliveries: Partial<Deliveries> = {
    async dueLanes(_now, range, limit) {
      ranges.push(range);
      const lanes = new Set(
        inRange(range)
          .filter(isDue)
          .map(({ lane }) => lane),
      );
      return [...lanes].sort().slice(0, limit);
    },
    async duePart(_now, range, keysMax) {
      parts.push(range);
      const keys = inRange(range)
        .sort((a, b) => (a.lane < b.lane ? -1 : 1))
        .slice(0, keysMax);
      const due = new Set(keys.filter(isDue).map(({ lane }) => lane));
      return { due: [...due], readTo: keys.length < keysMax ? undefined : keys.at(-1)?.lane };
    },
    async findDue(lane, _now, limit) {
      asked.push([lane, limit]);
      if (lane === broken) throw new Error('no answer');
      const due = [...stored.values()].filter((each) => each.lane === lane && isDue(each));
      return due.map(({ _id }) => _id).slice(0, limit);
    },
    async claim(ids, leaseMs) {
      if (isAway) throw new Error('no database');
      const claimed = [...stored.values()].filter(({ _id }) => ids.includes(_id) && !lost.has(_id));
      for (const { progress } of claimed) Object.assign(progress, { claimableAt: NOW + leaseMs });
      return claimed;
    },
  };
  const dispatcher = createDispatcher({
    limits: { ...DISPATCHER_LIMITS, strangers: UNBOUNDED, ...limits },
    attempt: ({ lane }) =>
      quick.has(lane) ? Promise.resolve({ end: 'quick', acknowledged: true }) : new Promise(() => {}),
    handBack: async () => {},
    now: () => NOW,
    logger,
  });
  const ports = { deliveries, now: () => NOW, random: () => random, logger } as unknown as Ports;
  const taken = (): string[] => [...stored.values()].filter((each) => !isDue(each)).map(({ _id }) => _id);
  return {
    look: createClaimer(ports, dispatcher).look,
    dispatcher,
    asked,
    ranges,
    parts,
    taken,
    takenOf: (merchant: string) => taken().filter((id) => id.startsWith(`${merchant} `)),
    setRandom: (value: number) => void (random = value),
    lose: (id: string) => void lost.add(id),
    breakLane: (lane: string) => void (broken = lane),
    setAway: (value: boolean) => void (isAway = value),
    async prove(lane: string) {
      quick.add(lane);
      dispatcher.reserve(lane);
      dispatcher.submit({ _id: 'proof', lane } as StoredDelivery);
      await new Promise(setImmediate);
    },
    finish: (lane: string) => {
      for (const [id, each] of stored) if (each.lane === lane) stored.delete(id);
    },
  };
}

test('a query of a lane is limited to its places, and skipped if there are none', async () => {
  const { look, asked, taken } = open({ 'm dead': 1_000, 'm living': 1 }, { concurrencyPerAddress: 2 });
  expect(await look()).toBe(3);
  expect(asked).toEqual([
    ['m dead', 2],
    ['m living', 2],
  ]);
  expect(taken()).toEqual(['m dead#0', 'm dead#1', 'm living#0']);
  asked.length = 0;
  expect(await look()).toBe(0);
  expect(asked).toEqual([]);
});

test('one scan reaches all merchants, however many there are', async () => {
  const lanes = times(2_300, (index) => laneOf(numbered('merchant', index), 'a'));
  const { look, taken, ranges } = open(one(lanes));
  expect(await look()).toBe(lanes.length);
  expect(taken()).toHaveLength(lanes.length);
  expect(ranges.map(({ after }) => after)).toEqual(['', lanes[999], lanes[1_999]]);
});

test('when places run out, the next scan begins after the merchant served last', async () => {
  const lanes = times(100, (index) => laneOf(numbered('merchant', index), 'a'));
  const { look, dispatcher, taken } = open(one(lanes, 2), { heldMax: 128, concurrencyPerAddress: 1 });
  // Half of the memory is reserved for proven addresses.
  expect(await look()).toBe(64);
  expect(taken()).toEqual(lanes.slice(0, 64).map((lane) => `${lane}#0`));
  for (const lane of lanes.slice(0, 10)) dispatcher.giveBack(lane);
  expect(await look()).toBe(10);
  expect(taken().slice(64)).toEqual(lanes.slice(64, 74).map((lane) => `${lane}#0`));
  for (const lane of lanes.slice(0, 40)) dispatcher.giveBack(lane);
  expect(await look()).toBe(40);
});

test('a place is free again if another replica claimed its delivery first', async () => {
  const { look, dispatcher, lose } = open({ 'm a': 1 });
  lose('m a#0');
  expect(await look()).toBe(0);
  expect(dispatcher.room()).toBe(DISPATCHER_LIMITS.heldMax);
});

test('a failed claim keeps no place', async () => {
  const { look, dispatcher, setAway, taken } = open({ 'm a': 3, 'n b': 1 });
  setAway(true);
  expect(await look()).toBe(0);
  expect(dispatcher.room()).toBe(DISPATCHER_LIMITS.heldMax);
  setAway(false);
  expect(await look()).toBe(4);
  expect(taken()).toHaveLength(4);
});

test('a lane whose claim fails keeps no place and does not affect other lanes', async () => {
  const { look, dispatcher, breakLane, taken } = open({ 'm a': 1, 'm b': 1 });
  breakLane('m a');
  await expect(look()).rejects.toThrow('no answer');
  expect(taken()).toEqual(['m b#0']);
  expect(dispatcher.room()).toBe(DISPATCHER_LIMITS.heldMax - 1);
});

describe('a merchant whose places ran out', () => {
  const lanes = times(100, (index) => laneOf('m', numbered('a', index)));

  test('has no lane queried without need', async () => {
    const { look, asked } = open(one(lanes), { unprovenPerMerchant: 2 });
    expect(await look()).toBe(4);
    expect(asked).toHaveLength(4);
  });

  test('starts at another lane the next time', async () => {
    const { look, taken, setRandom } = open(one(lanes), { unprovenPerMerchant: 1 });
    setRandom(0.985);
    await look();
    expect(taken()).toEqual([98, 99].map((index) => `${lanes[index]}#0`));
  });
});

describe('a merchant with very many addresses', () => {
  const hanging = times(2_000, (index) => laneOf('loud', numbered('a', index)));
  const others = [
    ...times(5, (index) => laneOf(numbered('before', index), 'a')),
    ...times(5, (index) => laneOf(numbered('zeta', index), 'a')),
  ];

  test('stays within its limit, and the others get their places in the same scan', async () => {
    const { look, takenOf, taken } = open(one([...hanging, ...others]));
    await look();
    expect(takenOf('loud')).toHaveLength(2 * DISPATCHER_LIMITS.unprovenPerMerchant);
    expect(taken()).toHaveLength(2 * DISPATCHER_LIMITS.unprovenPerMerchant + others.length);
  });

  test('is read in parts, round-robin, from the second scan on, and the others whole', async () => {
    const { look, parts, ranges } = open(one([...hanging, ...others]));
    await look();
    ranges.length = 0;
    for (let count = 0; count < 5; count += 1) await look();
    expect(parts.map(({ after }) => after)).toEqual([
      'loud ',
      ...[499, 999, 1_499, 1_999].map((index) => hanging[index]),
    ]);
    expect(parts.every(({ upTo }) => upTo === 'loud!')).toBe(true);
    expect(ranges.some(({ after, upTo }) => after < 'loud ' && (upTo === undefined || upTo > 'loud '))).toBe(false);
    expect(ranges.some(({ after }) => after === 'loud!')).toBe(true);
    await look();
    expect(parts.at(-1)?.after).toBe('loud ');
  });

  test('has a proven address served when its part is read, even at its limit for unproven ones', async () => {
    const { look, prove, parts, taken } = open({ ...one(hanging), 'loud z': 100 });
    const takenOfProven = () => taken().filter((id) => id.startsWith('loud z'));
    await prove('loud z');
    await look();
    expect(takenOfProven()).toHaveLength(68);
    for (let count = 0; count < 5; count += 1) await look();
    expect(parts).toHaveLength(5);
    expect(takenOfProven()).toHaveLength(100);
  });

  test('is read like the others when it has few left', async () => {
    const { look, parts, ranges, finish } = open(one([...hanging, ...others]));
    await look();
    for (const lane of hanging.slice(100)) finish(lane);
    await look();
    expect(parts).toHaveLength(1);
    ranges.length = 0;
    await look();
    expect(parts).toHaveLength(1);
    expect(ranges.some(({ after, upTo }) => after < 'loud ' && (upTo === undefined || upTo > 'loud '))).toBe(true);
  });
});
