import type { Registry } from '@gateway/service-kit';
import { Counter, fromZero, Gauge, Histogram } from '@gateway/service-kit';

/** A service has one registry, but may have several workers: the first one registers a metric, the others share it. */
function shared<M>(registry: Registry, name: string, create: () => M): M {
  return (registry.getSingleMetric(name) as M | undefined) ?? create();
}

function counter<L extends string>(
  registry: Registry,
  config: ConstructorParameters<typeof Counter<L>>[0],
): Counter<L> {
  return shared(registry, config.name, () => new Counter({ ...config, registers: [registry] }));
}

function gauge<L extends string>(registry: Registry, config: ConstructorParameters<typeof Gauge<L>>[0]): Gauge<L> {
  return shared(registry, config.name, () => new Gauge({ ...config, registers: [registry] }));
}

function histogram<L extends string>(
  registry: Registry,
  config: ConstructorParameters<typeof Histogram<L>>[0],
): Histogram<L> {
  return shared(registry, config.name, () => new Histogram({ ...config, registers: [registry] }));
}

const OUTCOMES = ['handled', 'skipped', 'retried', 'dead_lettered', 'unrecorded'] as const;
const REFUSALS = ['stopped', 'too_large', 'overloaded', 'refused', 'unacknowledged'] as const;
const FAILURES = ['broker', 'partition', 'replicas'] as const;

export type PublisherMetrics = ReturnType<typeof publisherMetrics>;

export function publisherMetrics(registry: Registry) {
  const refused = counter(registry, {
    name: 'messages_refused_total',
    help: 'Messages that the publisher refused, by reason',
    labelNames: ['reason'] as const,
  });
  const failedAttempts = counter(registry, {
    name: 'publish_failed_attempts_total',
    help: 'Failed attempts by reason: broker (no answer), partition (moved, no leader) or replicas (slow)',
    labelNames: ['reason'] as const,
  });
  fromZero(refused, { reason: REFUSALS });
  fromZero(failedAttempts, { reason: FAILURES });
  return {
    published: counter(registry, { name: 'messages_published_total', help: 'Messages that the broker acknowledged' }),
    refused,
    batchSize: histogram(registry, {
      name: 'publish_batch_messages',
      help: 'Messages in one request to the brokers',
      buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000],
    }),
    durationSeconds: histogram(registry, {
      name: 'publish_duration_seconds',
      help: 'Duration of one request to the brokers, until all of it is acknowledged',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    }),
    queued: gauge(registry, { name: 'publish_queued_messages', help: 'Messages that wait for their acknowledgement' }),
    failedAttempts,
    stuckPartitions: gauge(registry, {
      name: 'publish_stuck_partitions',
      help: 'Failing partitions with waiting messages',
    }),
  };
}

export type WorkerMetrics = ReturnType<typeof workerMetrics>;

/** The metrics of one worker. */
export function workerMetrics(registry: Registry, group: string) {
  const messages = counter(registry, {
    name: 'messages_consumed_total',
    help: 'Messages by outcome: handled, skipped, retried (once per attempt), dead_lettered, unrecorded (its dead letter was refused, its outcome could not be stored, or it asks for a dead letter that does not exist)',
    labelNames: ['group', 'outcome'] as const,
  });
  const failures = counter(registry, {
    name: 'message_failures_total',
    help: 'Attempts to handle a message that ended in an error, retryable or not',
    labelNames: ['group'] as const,
  });
  const durationSeconds = histogram(registry, {
    name: 'message_handling_seconds',
    help: 'Duration of one attempt to handle one message',
    labelNames: ['group', 'type'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  });
  const held = gauge(registry, {
    name: 'messages_held',
    help: 'Messages taken from Kafka and not finished: queued, being handled, waiting for a retry',
    labelNames: ['group'] as const,
  });
  const paused = gauge(registry, {
    name: 'partitions_paused',
    help: 'Partitions that the worker does not fetch because it is full',
    labelNames: ['group'] as const,
  });
  const lag = gauge(registry, {
    name: 'consumer_lag_messages',
    help: 'Messages past the committed offset on the partitions of this replica',
    labelNames: ['group', 'topic'] as const,
  });
  const oldestUnhandled = gauge(registry, {
    name: 'consumer_oldest_unhandled_seconds',
    help: 'Age of the oldest message that the group has not handled, taken or not fetched yet; 0 if there is none',
    labelNames: ['group', 'topic'] as const,
  });
  const byTopic = (metric: Gauge<'group' | 'topic'>) => ({
    set: (topic: string, value: number) => metric.set({ group, topic }, value),
    remove: (topic: string) => metric.remove({ group, topic }),
  });
  fromZero(messages, { group: [group], outcome: OUTCOMES });
  fromZero(failures, { group: [group] });
  const outcome = (name: (typeof OUTCOMES)[number]) => messages.labels({ group, outcome: name });
  return {
    handled: outcome('handled'),
    skipped: outcome('skipped'),
    retried: outcome('retried'),
    deadLettered: outcome('dead_lettered'),
    unrecorded: outcome('unrecorded'),
    failures: failures.labels({ group }),
    duration: (type: string) => durationSeconds.labels({ group, type }),
    held: held.labels({ group }),
    paused: paused.labels({ group }),
    lag: byTopic(lag),
    oldestUnhandled: byTopic(oldestUnhandled),
  };
}
