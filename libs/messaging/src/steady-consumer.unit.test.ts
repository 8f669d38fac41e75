import { KafkaJSConnectionError, KafkaJSProtocolError } from 'kafkajs';
import type { AnyBroker } from './any-broker';
import { LinkError } from './broker-link';
import { steadyAssigner, steadyConsumerGroups } from './steady-consumer';

steadyConsumerGroups();

interface Group {
  coordinator: unknown;
  memberId: string | null;
  generationId: number;
  lastRequest: number;
  heartbeat(options: { interval: number }): Promise<void>;
  fetch(nodeId: string): Promise<unknown[]>;
  recoverFromFetch(error: Error): Promise<void>;
  joinAndSync(): Promise<void>;
}
const ConsumerGroup = jest.requireActual<new (parts: object) => Group>('kafkajs/src/consumer/consumerGroup');
const Runner = jest.requireActual<new (parts: object) => { start(): Promise<void> }>('kafkajs/src/consumer/runner');

const rebalancing = new KafkaJSProtocolError(
  Object.assign(new Error('rebalancing'), { type: 'REBALANCE_IN_PROGRESS', code: 27, retriable: false }),
);
const notLeader = new KafkaJSProtocolError(
  Object.assign(new Error('moved'), { type: 'NOT_LEADER_FOR_PARTITION', code: 6, retriable: true }),
);
const unknownMember = new KafkaJSProtocolError(
  Object.assign(new Error('expelled'), { type: 'UNKNOWN_MEMBER_ID', code: 25, retriable: false }),
);
const newPartitions = Object.assign(new Error('grown'), { name: 'KafkaJSStaleTopicMetadataAssignment' });
const refused = new KafkaJSConnectionError('connection refused', { broker: 'a:1', code: 'ECONNREFUSED' });

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const never = (): Promise<never> => new Promise(() => undefined);

const nothing = (): void => undefined;
const logger = { namespace: () => logger, debug: nothing, info: nothing, warn: nothing, error: nothing };

/** A group member with a scripted cluster and coordinator. */
function member(cluster: object = {}): Group {
  const group = new ConsumerGroup({
    cluster: { brokerPool: { brokers: {}, metadataExpireAt: 1 }, ...cluster },
    groupId: 'group',
    topics: [],
    logger,
    instrumentationEmitter: { emit: nothing },
    retry: { retries: 0 },
    maxWaitTimeInMs: 1,
  });
  return Object.assign(group, { memberId: 'me', generationId: 1, lastRequest: 0 });
}

describe('heartbeats', () => {
  test('do not block, and the next one throws the error of the last', async () => {
    const group = member();
    let answer: (error: Error) => void = () => undefined;
    group.coordinator = { heartbeat: () => new Promise((_resolve, reject) => (answer = reject)) };
    await group.heartbeat({ interval: 0 });
    await turn();
    await group.heartbeat({ interval: 0 });
    answer(rebalancing);
    await turn();
    await expect(group.heartbeat({ interval: 0 })).rejects.toBe(rebalancing);
  });

  test('an error about an earlier generation does not end the new one', async () => {
    const group = member();
    group.coordinator = { heartbeat: () => Promise.reject(rebalancing) };
    await group.heartbeat({ interval: 0 });
    await turn();
    group.generationId = 2;
    await group.heartbeat({ interval: 0 });
  });

  test('an unreachable coordinator does not end the membership', async () => {
    const group = member();
    let calls = 0;
    group.coordinator = {
      heartbeat: async () => {
        calls += 1;
        throw refused;
      },
    };
    for (let beat = 0; beat < 3; beat += 1) {
      await group.heartbeat({ interval: 0 });
      await turn();
    }
    expect(calls).toBe(3);
  });

  test('go on when the clock is set back', async () => {
    const group = member();
    const heartbeat = jest.fn(turn);
    group.coordinator = { heartbeat };
    group.lastRequest = Date.now() + 3_600_000;
    await group.heartbeat({ interval: 0 });
    expect(heartbeat).toHaveBeenCalledTimes(1);
  });
});

describe('fetches', () => {
  test.each([
    ['the leader has moved', notLeader],
    ['a connection is refused', refused],
  ])('when %s the next fetch refreshes the metadata and the member does not rejoin', async (_what, error) => {
    const group = member();
    group.joinAndSync = () => Promise.reject(new Error('joined'));
    await group.recoverFromFetch(error);
    const { cluster } = group as unknown as { cluster: { brokerPool: { metadataExpireAt: number | null } } };
    expect(cluster.brokerPool.metadataExpireAt).toBeNull();
  });

  test('an offset that is out of range for a moment is fetched again, and only later given up', async () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(0);
    try {
      const group = member();
      const resets: unknown[] = [];
      const setDefaultOffset = async (at: unknown): Promise<void> => void resets.push(at);
      Object.assign(group, { offsetManager: { setDefaultOffset } });
      const failAt = async (ms: number, partition = 3): Promise<number> => {
        now.mockReturnValue(ms);
        await group.recoverFromFetch(
          Object.assign(new Error('out of range'), { name: 'KafkaJSOffsetOutOfRange', topic: 'commands', partition }),
        );
        return resets.length;
      };
      expect(await failAt(0)).toBe(0);
      const { cluster } = group as unknown as { cluster: { brokerPool: { metadataExpireAt: number | null } } };
      expect(cluster.brokerPool.metadataExpireAt).toBeNull();
      // Another event, 40 s later: patience begins again.
      for (let ms = 40_000; ms <= 70_000; ms += 3_000) expect(await failAt(ms)).toBe(0);
      expect(await failAt(70_001, 4)).toBe(0);
      expect(await failAt(72_000)).toBe(1);
      expect(resets).toEqual([{ topic: 'commands', partition: 3 }]);
    } finally {
      now.mockRestore();
    }
  });

  test('a broker that does not answer is disconnected, and the fetch returns no messages', async () => {
    const destroy = jest.fn();
    const brokers = { 7: { connectionPool: { pool: [{ socket: { destroy } }, {}] } } };
    const group = member({ brokerPool: { brokers, metadataExpireAt: 1 }, refreshMetadataIfNecessary: turn });
    Object.assign(group, { checkForStaleAssignment: nothing, seekOffsets: never });
    expect(await group.fetch('7')).toEqual([]);
    expect(destroy).toHaveBeenCalledTimes(1);
  });

  test('after messages the next fetch waits for others to gather, after none it does not', async () => {
    const gatherMs = 40;
    const message = { offset: '5', key: null, value: Buffer.from('v') };
    const answers = [[message], [], []];
    let sent = 0;
    const broker = {
      async fetch() {
        sent += 1;
        const [messages = []] = answers.splice(0, 1);
        const partitions = messages.length === 0 ? [] : [{ partition: 0, messages, highWatermark: '6' }];
        return { responses: [{ topicName: 't', partitions }] };
      },
    };
    const group = member({ refreshMetadataIfNecessary: turn, findBroker: async () => broker });
    const { cluster } = group as unknown as { cluster: object };
    steadyAssigner({} as AnyBroker, { gatherMs })({ cluster, groupId: 'group', logger: {} } as never);
    const assigned = [{ topic: 't', partitions: [0] }];
    Object.assign(group, {
      checkForStaleAssignment: nothing,
      seekOffsets: nothing,
      findReadReplicaForPartitions: () => ({ 7: [0] }),
      subscriptionState: { assigned: () => assigned, active: () => assigned, isPaused: () => false },
      offsetManager: { committedOffsets: () => ({ t: { 0: '5' } }), nextOffset: () => '5' },
    });
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
    try {
      expect(await group.fetch('7')).toHaveLength(1);
      const second = group.fetch('7');
      await turn();
      await jest.advanceTimersByTimeAsync(gatherMs - 1);
      await turn();
      expect(sent).toBe(1);
      await jest.advanceTimersByTimeAsync(1);
      expect(await second).toEqual([]);
      // Would wait for ever: no time passes.
      expect(await group.fetch('7')).toEqual([]);
      expect(sent).toBe(3);
    } finally {
      jest.useRealTimers();
    }
  });

  test('metadata from before the clock was set back is refreshed', async () => {
    const brokerPool = {
      brokers: {},
      metadataExpireAt: (Date.now() + 3_600_000) as number | null,
      metadataMaxAge: 60_000,
    };
    const group = member({ brokerPool, refreshMetadataIfNecessary: () => Promise.reject(notLeader) });
    group.recoverFromFetch = turn;
    await group.fetch('7');
    expect(brokerPool.metadataExpireAt).toBeNull();
  });

  test('slow metadata does not disconnect the broker', async () => {
    const destroy = jest.fn();
    const brokers = { 7: { connectionPool: { pool: [{ socket: { destroy } }] } } };
    const group = member({ brokerPool: { brokers, metadataExpireAt: 1 }, refreshMetadataIfNecessary: never });
    expect(await group.fetch('7')).toEqual([]);
    expect(destroy).not.toHaveBeenCalled();
  });
});

describe('a join', () => {
  /** kafkajs' fetch loops of two brokers. The fetch from the first one fails while that from the second is under way. */
  async function failing(failure: (group: Group) => Promise<void>) {
    const events: string[] = [];
    const joined = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const batch = {
      topic: 't',
      partition: 0,
      messages: [{ offset: '7' }],
      firstOffset: () => '7',
      lastOffset: () => '7',
      offsetLag: () => '0',
      offsetLagLow: () => '0',
      isEmpty: () => false,
      isEmptyDueToFiltering: () => false,
    };
    let joins = 0;
    const group = member({ getNodeIds: () => ['1', '2'] });
    Object.assign(group, {
      connect: turn,
      async joinAndSync() {
        joins += 1;
        if (joins === 1) return;
        events.push('joined');
        joined.resolve();
      },
      async fetch(nodeId: string) {
        if (joins > 1) return never();
        if (nodeId === '2') return answer.promise.then(() => [batch]);
        await turn();
        await failure(group);
        return [];
      },
    });
    const runner = new Runner({
      logger,
      consumerGroup: group,
      instrumentationEmitter: { emit: (name: string) => void (name.endsWith('rebalancing') && events.push('lost')) },
      concurrency: 1,
      autoCommit: false,
      eachBatch: async () => void events.push('took a batch'),
      onCrash: joined.reject,
      retry: { retries: 0 },
    });
    await runner.start();
    for (let turns = 0; turns < 3; turns += 1) await turn();
    answer.resolve();
    await joined.promise;
    await turn();
    return events;
  }

  test('for new partitions is announced, and nothing fetched before it arrives after it', async () => {
    expect(await failing((group) => group.recoverFromFetch(newPartitions))).toEqual(['lost', 'joined']);
  });

  test('of an expelled member is not announced, and nothing fetched before it arrives after it', async () => {
    expect(await failing(() => Promise.reject(unknownMember))).toEqual(['joined']);
  });
});

describe('the coordinator', () => {
  function setUp(brokers: Record<string, Record<string, () => Promise<unknown>>>) {
    let nodeId = 1;
    const cluster = {
      brokerPool: { brokers: {} },
      findBroker: async (node: { nodeId: string }) => brokers[node.nodeId],
    } as unknown as { findGroupCoordinator(of: object): Promise<Record<string, (args: object) => Promise<unknown>>> };
    const anyBroker = { coordinator: async () => ({ nodeId, host: 'h', port: 1 }) } as unknown as AnyBroker;
    steadyAssigner(anyBroker, { gatherMs: 0 })({ cluster, groupId: 'group', logger: {} } as never);
    return { coordinator: () => cluster.findGroupCoordinator({}), moveTo: (node: number) => (nodeId = node) };
  }

  test('is looked up again after a failed call', async () => {
    const { coordinator, moveTo } = setUp({
      1: { offsetCommit: () => Promise.reject(refused) },
      2: { offsetCommit: async () => 'committed' },
    });
    const { offsetCommit } = await coordinator();
    await expect(offsetCommit?.({})).rejects.toBe(refused);
    moveTo(2);
    expect(await offsetCommit?.({})).toBe('committed');
  });

  test('gets nothing but the join while the join waits for other members', async () => {
    let finish: (answer: string) => void = () => undefined;
    const sent: string[] = [];
    const { coordinator } = setUp({
      1: {
        joinGroup: () => new Promise((resolve) => (finish = resolve)),
        heartbeat: async () => sent.push('heartbeat'),
        offsetCommit: async () => sent.push('offsetCommit'),
      },
    });
    const { joinGroup, heartbeat, offsetCommit } = await coordinator();
    const join = joinGroup?.({});
    await turn();
    await expect(heartbeat?.({})).rejects.toThrow(LinkError);
    await expect(offsetCommit?.({})).rejects.toThrow(LinkError);
    finish('joined');
    expect(await join).toBe('joined');
    await heartbeat?.({});
    await offsetCommit?.({});
    expect(sent).toEqual(['heartbeat', 'offsetCommit']);
  });

  test('a join that waits for a frozen coordinator ends when another broker takes over', async () => {
    const { coordinator, moveTo } = setUp({ 1: { joinGroup: never }, 2: { joinGroup: async () => 'joined' } });
    const { joinGroup } = await coordinator();
    const first = joinGroup?.({});
    await turn();
    moveTo(2);
    await expect(first).rejects.toThrow(LinkError);
    expect(await joinGroup?.({})).toBe('joined');
  });
});
