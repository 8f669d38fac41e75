import { createLogger } from '@gateway/service-kit';
import { createClaimer } from './claim-due';
import type { DispatcherLimits } from './dispatcher';
import { createDispatcher, DISPATCHER_LIMITS } from './dispatcher';
import type { Deliveries, LaneRange, Ports, StoredDelivery } from './ports';

const NOW = 1_000_000;
const logger = createLogger({ service: 'test', level: 'silent' });

/** Deliveries that are all due, by lane, and a dispatcher whose attempts never end. */
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
  const asked: [lane: string, limit: number][] = [];
  const rounds: LaneRange[] = [];
  const lost = new Set<string>();
  const deliveries: Partial<Deliveries> = {
    async dueLanes(_now, range, limit) {
      rounds.push(range);
      const lanes = new Set([...stored.values()].filter(isDue).map(({ lane }) => lane));
      const inRange = [...lanes].filter((lane) => lane > range.after && lane <= (range.upTo ?? '~'));
      return inRange.sort().slice(0, limit);
    },
    async findDue(lane, _now, limit) {
      asked.push([lane, limit]);
      return [...stored.values()].filter((one) => one.lane === lane && isDue(one)).slice(0, limit);
    },
    async update(previous, body) {
      if (lost.has(previous._id)) return undefined;
      const written = { ...previous, ...body };
      stored.set(previous._id, written);
      return written;
    },
  };
  const dispatcher = createDispatcher({
    limits: { ...DISPATCHER_LIMITS, ...limits },
    attempt: () => new Promise(() => {}),
    handBack: async () => {},
    now: () => NOW,
    logger,
  });
  const ports = { deliveries, now: () => NOW, logger } as unknown as Ports;
  const taken = (): string[] => [...stored.values()].filter((one) => !isDue(one)).map(({ _id }) => _id);
  return {
    look: createClaimer(ports, dispatcher).look,
    dispatcher,
    asked,
    rounds,
    taken,
    lose: (id: string) => void lost.add(id),
  };
}

test('a lane is asked for what it has places for, and not at all without one', async () => {
  const { look, asked, taken } = open({ dead: 1_000, living: 1 }, { concurrencyPerAddress: 2 });
  expect(await look()).toBe(3);
  expect(asked).toEqual([
    ['dead', 2],
    ['living', 2],
  ]);
  expect(taken()).toEqual(['dead#0', 'dead#1', 'living#0']);
  asked.length = 0;
  expect(await look()).toBe(0);
  expect(asked).toEqual([]);
});

test('however many lanes there are, one look comes to all of them', async () => {
  const lanes = Array.from({ length: 2_500 }, (_, index) => `lane-${String(index).padStart(4, '0')}`);
  const { look, taken, rounds } = open(Object.fromEntries(lanes.map((lane) => [lane, 1])));
  expect(await look()).toBe(lanes.length);
  expect(taken()).toHaveLength(lanes.length);
  expect(rounds.map(({ after }) => after)).toEqual(['', lanes[999], lanes[1_999]]);
});

test('when places run out, the next look begins behind the lane that was served last', async () => {
  const lanes = Array.from({ length: 100 }, (_, index) => `lane-${String(index).padStart(2, '0')}`);
  const waiting = Object.fromEntries(lanes.map((lane) => [lane, 2]));
  const { look, dispatcher, taken } = open(waiting, { heldMax: 128, concurrencyPerAddress: 1 });
  // Half of the memory is for addresses that were never called.
  expect(await look()).toBe(64);
  expect(taken()).toEqual(lanes.slice(0, 64).map((lane) => `${lane}#0`));
  for (const lane of lanes.slice(0, 10)) dispatcher.giveBack(lane);
  expect(await look()).toBe(10);
  expect(taken().slice(64)).toEqual(lanes.slice(64, 74).map((lane) => `${lane}#0`));
  for (const lane of lanes.slice(0, 40)) dispatcher.giveBack(lane);
  expect(await look()).toBe(40);
});

test('a place whose delivery another replica was faster to take is free again', async () => {
  const { look, dispatcher, lose } = open({ a: 1 });
  lose('a#0');
  expect(await look()).toBe(0);
  expect(dispatcher.room()).toBe(DISPATCHER_LIMITS.heldMax);
});
