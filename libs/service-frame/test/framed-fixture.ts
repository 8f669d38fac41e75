import type { CommonConfig } from '@gateway/service-kit';
import { createMetrics } from '@gateway/service-kit';
import type { ServiceDeps } from '@gateway/service-frame';
import type { Space } from '@gateway/testing';
import { failTest, silentLogger } from '@gateway/testing';

/** What a service needs whose topics and database are those of a test file. */
export function framedDeps(space: Space, onFatal: (error: Error) => void = failTest): ServiceDeps<CommonConfig> {
  return {
    config: {
      NODE_ENV: 'test',
      DEVELOPMENT_REACH: 'loopback',
      LOG_LEVEL: 'info',
      OPS_PORT: 0,
      GATEWAY_VERSION: 'development',
      GATEWAY_COMMIT: 'unknown',
      KAFKA_BROKERS: space.brokers,
      KAFKA_TLS: 'off',
      MONGODB_URI: space.mongoUri,
      TOPIC_PREFIX: space.topicPrefix,
      DATABASE_PREFIX: space.databasePrefix,
      MAX_CLOCK_SKEW_MS: 60_000,
      INTERNAL_HOST: '127.0.0.1',
      ALLOW_PLAIN_INTERNAL_PORTS: 'no',
      TRACE_SAMPLE_RATIO: 0,
    },
    logger: silentLogger,
    metrics: createMetrics('framed', { processFigures: false }),
    onFatal,
  };
}
