import type { Scaling } from './autoscaler';
import { createAutoscaler } from './autoscaler';

/** What one service takes. */
export interface Work {
  partitions: number;
  /** Messages that one replica handles in a second. */
  ratePerReplica: number;
  /** Cores that a replica uses at that rate. The rest of the time it waits for others. */
  coresAtRate: number;
}

/** Messages per second, at a second. */
export type Load = (second: number) => number;

/** A handler that hangs: its message is taken and stays unhandled. */
export interface Hang {
  fromSecond: number;
  untilSecond: number;
}

export interface Sample {
  second: number;
  replicas: number;
  /** Seconds since the oldest unhandled message arrived. */
  oldestSeconds: number;
}

/** From the decision to add a replica to its first message: schedule, start, join. */
const START_SECONDS = 10;
/** kafkajs rebalances eagerly: while members come or go, nobody in the group reads. */
const REBALANCE_SECONDS = 3;
/** Prometheus reads, and the autoscaler decides, every 15 s. What it sees is up to 15 s old. */
const SYNC_SECONDS = 15;

/**
 * A model of a group of replicas under load, in steps of one second. Messages are a fluid that arrives evenly on all
 * partitions and leaves in order of arrival. A replica does `ratePerReplica`, the busiest one has a whole number of
 * partitions, and the group is as fast as that one lets it be. Replicas take {@link START_SECONDS} to begin, and each
 * change of members stops the group for {@link REBALANCE_SECONDS}. It has no keys that are hotter than others, no machines
 * that are full, and no replica that fails.
 *
 * @returns a sample for each second
 */
export function simulate(scaling: Scaling, work: Work, load: Load, seconds: number, hang?: Hang): Sample[] {
  const autoscaler = createAutoscaler(scaling);
  const queue: { second: number; messages: number }[] = [];
  const samples: Sample[] = [];
  let replicas = scaling.min;
  let ready = replicas;
  let pausedUntil = 0;
  let starting: { replicas: number; atSecond: number } | undefined;
  let seen = { oldest: 0, lag: 0, cores: 0 };

  function setReady(count: number, second: number): void {
    ready = count;
    pausedUntil = second + REBALANCE_SECONDS;
  }

  for (let second = 0; second < seconds; second += 1) {
    if (starting !== undefined && second >= starting.atSecond) {
      setReady(starting.replicas, second);
      starting = undefined;
    }
    queue.push({ second, messages: load(second) });
    const handled = handle(queue, second < pausedUntil ? 0 : rateOf(work, ready));
    const oldest = Math.min(queue[0]?.second ?? second, hangingSince(hang, second));
    const oldestSeconds = second - oldest;
    samples.push({ second, replicas, oldestSeconds });
    if (second % SYNC_SECONDS === 0) {
      const current = seen;
      const wanted = autoscaler.next(second, replicas, (metric) => valueOf(metric, current));
      if (wanted < replicas) setReady(wanted, second);
      if (wanted > replicas) starting = { replicas: wanted, atSecond: second + START_SECONDS };
      if (wanted < replicas) starting = undefined;
      replicas = wanted;
      const cores = (handled / work.ratePerReplica) * work.coresAtRate;
      const waiting = queue.reduce((sum, { messages }) => sum + messages, 0);
      seen = { oldest: oldestSeconds, lag: waiting + hungMessages(hang, second, work, load), cores };
    }
  }
  return samples;
}

function valueOf(metric: string, { oldest, lag, cores }: { oldest: number; lag: number; cores: number }): number {
  return metric === 'cpu' ? cores : metric === 'lag' ? lag : oldest;
}

/** With 12 partitions 5 replicas are as fast as 4: the busiest one has three in both cases. */
function rateOf({ partitions, ratePerReplica }: Work, replicas: number): number {
  return (ratePerReplica * partitions) / Math.ceil(partitions / Math.min(replicas, partitions));
}

/** Takes up to `capacity` messages from the front. Returns how many. */
function handle(queue: { messages: number }[], capacity: number): number {
  let left = capacity;
  while (queue[0] !== undefined && queue[0].messages <= left) {
    left -= queue[0].messages;
    queue.shift();
  }
  if (queue[0] !== undefined) {
    queue[0].messages -= left;
    left = 0;
  }
  return capacity - left;
}

function hangingSince(hang: Hang | undefined, second: number): number {
  return hang !== undefined && second >= hang.fromSecond && second < hang.untilSecond ? hang.fromSecond : second;
}

/** Handled messages behind the hanging one, on its partition: Kafka counts them as lag. */
function hungMessages(hang: Hang | undefined, second: number, { partitions }: Work, load: Load): number {
  const since = hangingSince(hang, second);
  return ((second - since) * load(second)) / partitions;
}
