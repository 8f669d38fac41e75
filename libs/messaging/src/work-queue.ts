/**
 * Decides in which order fetched messages are handled, and which offsets may be committed. It does no I/O, so it can be
 * tested alone. Messages of a partition with the same key run one after the other; all others run concurrently.
 *
 * After each rebalance kafkajs delivers everything above the committed offset again, while handlers still run. The queue
 * remembers by offset which messages are running or done ("carried"), and does not run their redelivery.
 */

export interface QueuedMessage {
  /** Decimal. */
  readonly offset: string;
  /** Epoch ms, decimal. */
  readonly timestamp: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

export interface WorkQueueLimits {
  /** Concurrent handlers. */
  readonly concurrency: number;
  /**
   * Messages taken and not done, including running ones. A partition may hold as many as are free, so one whose key is
   * slow takes half of the room at most, and the others go on.
   */
  readonly maxHeld: number;
  /** Shared in the same way. */
  readonly maxHeldBytes: number;
  /**
   * Per partition, from the oldest message that is not done to the newest one taken. Another replica repeats so many
   * after a crash, and other keys may be so far ahead of a key that is being retried.
   */
  readonly maxUncommitted: number;
  readonly retryBaseMs: number;
  readonly retryCapMs: number;
}

/** `retry`: the same message is handled again after a pause. Its key waits; other keys continue. */
export type Outcome = 'done' | 'retry';

type State = 'queued' | 'running' | 'waiting' | 'done' | 'dropped';

/** A message in the queue. `note` belongs to the runner and survives from attempt to attempt. */
export interface Job<M extends QueuedMessage, N> {
  readonly message: M;
  readonly topic: string;
  readonly partition: number;
  /** The pause before the next attempt grows with this number. The runner may reset it. */
  attempts: number;
  note: N | undefined;
}

interface Item<M extends QueuedMessage, N> extends Job<M, N> {
  message: M;
  readonly offset: number;
  readonly key: string;
  readonly bytes: number;
  /** Epoch ms. */
  readonly timestampMs: number;
  readonly log: PartitionLog<M, N>;
  state: State;
  /** In `log.items`: its completion moves the watermark. */
  tracked: boolean;
  /** The next message of the same key. It waits for this one. */
  follower: Item<M, N> | undefined;
  timer: NodeJS.Timeout | undefined;
  startedAtMs: number;
}

interface PartitionLog<M extends QueuedMessage, N> {
  readonly topic: string;
  readonly partition: number;
  assigned: boolean;
  held: number;
  heldBytes: number;
  /** By offset. Those before `head` are done. */
  items: Item<M, N>[];
  head: number;
  /** The first offset since the assignment. */
  base: number | undefined;
  /** Everything below is taken. */
  next: number;
  /** Everything below is done, so this may be committed. */
  watermark: number;
  committed: number;
  /** The last message in the queue, by key. */
  readonly tails: Map<string, Item<M, N>>;
  /** Running or done before the last rebalance, by offset. */
  readonly carried: Map<number, Item<M, N>>;
}

export interface Watermark {
  readonly topic: string;
  readonly partition: number;
  /** The next offset to handle, which is what Kafka commits. */
  readonly offset: number;
}

export interface WorkQueue<M extends QueuedMessage> {
  /**
   * Takes messages of one partition, in order, while there is room.
   *
   * @returns the offset to deliver next, and whether the queue is full. If it is, `onRoom` is called when it has room.
   */
  take(topic: string, partition: number, messages: readonly M[]): { next: number; full: boolean };
  /** Forgets all messages that have not started. They will be delivered again, here or elsewhere. */
  drop(): void;
  /** Sets the partitions of this replica. Running handlers continue. Positions start anew. */
  assign(assignment: Readonly<Record<string, readonly number[]>>): void;
  /** Takes no more messages, and forgets those that have not started. */
  close(): void;
  /** Resolves when no handler runs. */
  idle(): Promise<void>;
  /** Watermarks that are not committed. */
  uncommitted(): Watermark[];
  committed(watermarks: readonly Watermark[]): void;
  /** Of every partition with messages since its assignment. */
  watermarks(): Watermark[];
  /** Messages of one partition that were taken and are not below the watermark. */
  outstanding(topic: string, partition: number): number;
  held(): number;
  running(): number;
  /** Number of partitions that wait for room. */
  refused(): number;
  /** When the longest-running handler started, by `performance.now()`. */
  oldestStartMs(): number | undefined;
  /** Timestamp of the topic's oldest message that was taken and is not done, in epoch ms. */
  oldestTimestampMs(topic: string): number | undefined;
}

/** The part of the bound that has to be free beyond what a partition holds. */
const WORTH_A_FETCH = 1 / 6;
/** Finished items are cut off the front of a list in pieces of this size, to make it cheap. */
const TRIM_ITEMS = 256;

export function createWorkQueue<M extends QueuedMessage, N>(options: {
  limits: WorkQueueLimits;
  /** Handles one message. */
  run: (job: Job<M, N>) => Promise<Outcome>;
  /** `run` has thrown, which is a defect. The message counts as done. */
  onThrown: (job: Job<M, N>, error: unknown) => void;
  /** A partition that was full has room again. */
  onRoom: (topic: string, partition: number) => void;
  random?: () => number;
}): WorkQueue<M> {
  type TItem = Item<M, N>;
  type TLog = PartitionLog<M, N>;
  const { limits, run, onThrown, onRoom, random = Math.random } = options;
  const logs = new Map<string, TLog>();
  const refused = new Set<TLog>();
  const running = new Set<TItem>();
  let ready: TItem[] = [];
  let readyHead = 0;
  let held = 0;
  let heldBytes = 0;
  let closed = false;
  let onIdle: (() => void)[] = [];

  function logOf(topic: string, partition: number): TLog {
    const name = `${topic}|${partition}`;
    let log = logs.get(name);
    if (log === undefined) {
      log = {
        topic,
        partition,
        assigned: true,
        held: 0,
        heldBytes: 0,
        items: [],
        head: 0,
        base: undefined,
        next: 0,
        watermark: 0,
        committed: 0,
        tails: new Map(),
        carried: new Map(),
      };
      logs.set(name, log);
    }
    return log;
  }

  function take(topic: string, partition: number, messages: readonly M[]): { next: number; full: boolean } {
    const log = logOf(topic, partition);
    let full = false;
    for (const message of messages) {
      const offset = Number(message.offset);
      if (log.base === undefined || offset < log.base) startLog(log, offset);
      // Fetched twice, as when the leader of the partition moves.
      else if (offset < log.next) continue;
      full = closed || isFull(log);
      if (full) break;
      log.next = offset + 1;
      append(log, offset, message);
    }
    if (full) refused.add(log);
    pump();
    return { next: log.next, full };
  }

  /** Also called when the offset jumps below the first one: the log was truncated or recreated. */
  function startLog(log: TLog, offset: number): void {
    if (log.base !== undefined) {
      dropLog(log);
      log.carried.clear();
    }
    log.base = offset;
    log.next = offset;
    log.watermark = offset;
    log.committed = offset;
    for (const item of log.carried.values()) {
      if (item.offset < offset && item.state === 'done') log.carried.delete(item.offset);
    }
  }

  function isFull(log: TLog): boolean {
    return (
      log.held >= limits.maxHeld - held ||
      log.heldBytes >= limits.maxHeldBytes - heldBytes ||
      log.items.length - log.head >= limits.maxUncommitted
    );
  }

  /** A fetch brings hundreds of messages, and those that find no room are fetched again. */
  function hasRoom(log: TLog): boolean {
    return (
      limits.maxHeld - held - log.held >= limits.maxHeld * WORTH_A_FETCH &&
      log.heldBytes * 2 <= limits.maxHeldBytes - heldBytes &&
      (log.items.length - log.head) * 2 <= limits.maxUncommitted
    );
  }

  function append(log: TLog, offset: number, message: M): void {
    const carried = log.carried.get(offset);
    if (carried !== undefined) {
      log.carried.delete(offset);
      carried.tracked = true;
      log.items.push(carried);
      advance(log);
      return;
    }
    const key = message.key?.toString('latin1') ?? '';
    const item: TItem = {
      message,
      topic: log.topic,
      partition: log.partition,
      attempts: 0,
      note: undefined,
      offset,
      key,
      bytes: message.value?.length ?? 0,
      timestampMs: Number(message.timestamp),
      log,
      state: 'queued',
      tracked: true,
      follower: undefined,
      timer: undefined,
      startedAtMs: 0,
    };
    held += 1;
    heldBytes += item.bytes;
    log.held += 1;
    log.heldBytes += item.bytes;
    log.items.push(item);
    const before = log.tails.get(key);
    log.tails.set(key, item);
    if (before === undefined) ready.push(item);
    else before.follower = item;
  }

  function pump(): void {
    while (running.size < limits.concurrency && readyHead < ready.length) {
      const item = ready[readyHead++] as TItem;
      void start(item);
    }
    if (readyHead === ready.length || readyHead >= TRIM_ITEMS) {
      ready.splice(0, readyHead);
      readyHead = 0;
    }
  }

  async function start(item: TItem): Promise<void> {
    item.state = 'running';
    item.attempts += 1;
    item.startedAtMs = performance.now();
    running.add(item);
    const outcome = await outcomeOf(item);
    running.delete(item);
    if (outcome === 'done') finish(item, 'done');
    else if (!item.tracked || closed) finish(item, 'dropped');
    else wait(item);
    pump();
    if (running.size === 0) settleIdle();
  }

  async function outcomeOf(item: TItem): Promise<Outcome> {
    try {
      return await run(item);
    } catch (error) {
      onThrown(item, error);
      return 'done';
    }
  }

  function wait(item: TItem): void {
    item.state = 'waiting';
    // Half fixed and half random, so that replicas that failed together do not retry together.
    const pauseMs = Math.min(limits.retryCapMs, limits.retryBaseMs * 2 ** Math.min(item.attempts - 1, 30));
    item.timer = setTimeout(
      () => {
        item.state = 'queued';
        ready.push(item);
        pump();
      },
      pauseMs * (0.5 + random() / 2),
    );
  }

  function finish(item: TItem, state: 'done' | 'dropped'): void {
    const { log } = item;
    release(item, state);
    if (item.follower !== undefined) ready.push(item.follower);
    else if (log.tails.get(item.key) === item) log.tails.delete(item.key);
    item.follower = undefined;
    if (item.tracked) advance(log);
    // If it is done before its redelivery, keep it to recognize the redelivery. Else forget it.
    else if (state === 'dropped' || !log.assigned || (log.base ?? 0) > item.offset) log.carried.delete(item.offset);
    if (refused.size > 0) tellRoom();
  }

  function release(item: TItem, state: 'done' | 'dropped'): void {
    item.state = state;
    held -= 1;
    heldBytes -= item.bytes;
    item.log.held -= 1;
    item.log.heldBytes -= item.bytes;
    // A message keeps the whole buffer of its fetch in memory.
    item.message = undefined as unknown as M;
    item.note = undefined;
  }

  function advance(log: TLog): void {
    const { items } = log;
    while (items[log.head]?.state === 'done') {
      log.watermark = (items[log.head] as TItem).offset + 1;
      log.head += 1;
    }
    if (log.head >= TRIM_ITEMS && log.head * 2 >= items.length) {
      items.splice(0, log.head);
      log.head = 0;
    }
  }

  function tellRoom(): void {
    if (closed) return;
    for (const log of refused) {
      if (!hasRoom(log)) continue;
      refused.delete(log);
      onRoom(log.topic, log.partition);
    }
  }

  function drop(): void {
    for (const log of logs.values()) dropLog(log);
  }

  /** Keeps only messages that are running or done above the watermark, by offset. */
  function dropLog(log: TLog): void {
    for (let index = log.head; index < log.items.length; index += 1) {
      const item = log.items[index] as TItem;
      item.tracked = false;
      if (item.state === 'running' || item.state === 'done') log.carried.set(item.offset, item);
      else if (item.state !== 'dropped') discard(item);
    }
    log.items = [];
    log.head = 0;
    log.base = undefined;
    for (const [key, item] of log.tails) if (item.state === 'dropped') log.tails.delete(key);
    for (const item of log.carried.values()) {
      item.follower = undefined;
      if (item.state === 'running') log.tails.set(item.key, item);
    }
    ready = ready.slice(readyHead).filter((item) => item.state === 'queued');
    readyHead = 0;
  }

  function discard(item: TItem): void {
    clearTimeout(item.timer);
    item.follower = undefined;
    release(item, 'dropped');
  }

  function assign(assignment: Readonly<Record<string, readonly number[]>>): void {
    drop();
    for (const log of logs.values()) log.assigned = assignment[log.topic]?.includes(log.partition) === true;
    for (const [topic, partitions] of Object.entries(assignment)) {
      for (const partition of partitions) logOf(topic, partition);
    }
    for (const log of logs.values()) {
      if (log.assigned) continue;
      // Another replica continues there. Running messages must not start again here.
      for (const item of log.carried.values()) if (item.state === 'done') log.carried.delete(item.offset);
    }
    // kafkajs delivers all of them again from their positions.
    const waiting = [...refused];
    refused.clear();
    if (!closed) for (const log of waiting) onRoom(log.topic, log.partition);
  }

  function settleIdle(): void {
    const waiting = onIdle;
    onIdle = [];
    for (const resolve of waiting) resolve();
  }

  function* started(): Iterable<TLog> {
    for (const log of logs.values()) if (log.assigned && log.base !== undefined) yield log;
  }

  const watermarkOf = ({ topic, partition, watermark }: TLog): Watermark => ({ topic, partition, offset: watermark });

  const isBehind = ({ topic, partition, offset }: Watermark): boolean =>
    offset > (find(topic, partition)?.committed ?? 0);

  const find = (topic: string, partition: number): TLog | undefined => logs.get(`${topic}|${partition}`);

  return {
    take,
    drop,
    assign,
    close() {
      closed = true;
      // Finished messages stay tracked, so that the last commit covers them.
      for (const log of logs.values()) cut(log);
      ready = [];
      readyHead = 0;
    },
    idle: () => (running.size === 0 ? Promise.resolve() : new Promise((resolve) => onIdle.push(resolve))),
    watermarks: () => Array.from(started(), watermarkOf),
    uncommitted: () => Array.from(started(), watermarkOf).filter(isBehind),
    committed(watermarks) {
      for (const { topic, partition, offset } of watermarks) {
        const log = find(topic, partition);
        if (log !== undefined) log.committed = Math.max(log.committed, offset);
      }
    },
    outstanding(topic, partition) {
      const log = find(topic, partition);
      return log === undefined ? 0 : log.items.length - log.head;
    },
    held: () => held,
    running: () => running.size,
    refused: () => refused.size,
    oldestStartMs() {
      let oldest: number | undefined;
      for (const item of running) oldest = Math.min(oldest ?? item.startedAtMs, item.startedAtMs);
      return oldest;
    },
    oldestTimestampMs(topic) {
      let oldest: number | undefined;
      for (const log of started()) {
        const first = log.topic === topic ? log.items[log.head] : undefined;
        if (first !== undefined) oldest = Math.min(oldest ?? first.timestampMs, first.timestampMs);
      }
      return oldest;
    },
  };

  /** Forgets messages that have not started. The watermark can still pass those that are running. */
  function cut(log: TLog): void {
    for (let index = log.head; index < log.items.length; index += 1) {
      const item = log.items[index] as TItem;
      item.follower = undefined;
      if (item.state === 'queued' || item.state === 'waiting') discard(item);
    }
  }
}
