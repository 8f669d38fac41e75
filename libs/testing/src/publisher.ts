import type { Publisher } from '@gateway/messaging';
import { createPublisher } from '@gateway/messaging';
import { createMetrics } from '@gateway/service-kit';
import type { Space } from './space';
import { kafkaOf, silentLogger } from './space';

/**
 * Starts a publisher for a test. The caller stops it.
 *
 * @param source the service that the test plays
 */
export async function startPublisher(
  space: Pick<Space, 'brokers' | 'kafkaAccess' | 'topicPrefix'>,
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
