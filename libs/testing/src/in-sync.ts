import { setTimeout as pause } from 'node:timers/promises';
import { createKafka } from '@gateway/messaging';
import { silentLogger } from './space';
import { until } from './until';

const LOOK_EVERY_MS = 200;
/** A restarted replica may first wait 30 s, Kafka's own time-out, for a leader that was frozen. */
const IN_SYNC_TIMEOUT_MS = 90_000;

/**
 * Waits until every partition, of internal topics too, has all replicas in sync. Only then may a test stop the next
 * broker, because two of three replicas must be in sync.
 *
 * @param brokers `host:port,host:port,host:port`
 */
export async function untilInSync(brokers: string): Promise<void> {
  await until(
    'all replicas to be in sync',
    async () => (await allInSync(brokers).catch(() => false)) || pause(LOOK_EVERY_MS, false),
    IN_SYNC_TIMEOUT_MS,
  );
}

/** Connects anew each time: a client remembers brokers that are away. */
async function allInSync(brokers: string): Promise<boolean> {
  const kafka = createKafka({ brokers: brokers.split(','), clientId: 'in-sync', logger: silentLogger });
  const admin = kafka.admin({ retry: { retries: 0 } });
  try {
    await admin.connect();
    const { topics } = await admin.fetchTopicMetadata();
    const partitions = topics.flatMap((topic) => topic.partitions);
    return partitions.every(({ leader, replicas, isr }) => leader >= 0 && isr.length === replicas.length);
  } finally {
    await admin.disconnect();
  }
}
