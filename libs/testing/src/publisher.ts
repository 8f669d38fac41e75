import type { KafkaClient, Publisher } from '@gateway/messaging';
import { createKafka, createPublisher } from '@gateway/messaging';
import { createMetrics } from '@gateway/service-kit';
import type { Space } from './space';
import { silentLogger } from './space';

/** A client of its own: two members of one group in one process need one each. */
export function kafkaOf({ brokers }: Pick<Space, 'brokers'>): KafkaClient {
  return createKafka({ brokers: brokers.split(','), clientId: 'test', logger: silentLogger });
}

/**
 * Starts a publisher for a test. The caller stops it.
 *
 * @param source the service that the test plays
 */
export async function startPublisher(
  space: Pick<Space, 'brokers' | 'topicPrefix'>,
  source = 'test',
): Promise<Publisher> {
  const publisher = createPublisher({
    kafka: kafkaOf(space),
    source,
    topicPrefix: space.topicPrefix,
    metrics: createMetrics('test', { processFigures: false }),
    logger: silentLogger,
  });
  await publisher.start();
  return publisher;
}
