import { createAnyBroker } from './any-broker';
import type { KafkaClient } from './client';

const ANSWER_TIMEOUT_MS = 3_000;
const FETCH_API_KEY = 1;

/**
 * Brokers do not say their release. The newest version of the fetch request that they know, which grew with these
 * releases, tells it.
 */
const RELEASES: readonly (readonly [fetchVersion: number, release: string])[] = [
  [18, '4.1'],
  [17, '3.9'],
  [16, '3.7'],
  [15, '3.5'],
  [13, '3.1'],
];

export interface BrokerRelease {
  /** `host:port`. */
  readonly broker: string;
  /** At least this release; undefined if it is older than 3.1. */
  readonly release: string | undefined;
}

/** @throws LinkError or KafkaAccessError if a broker does not answer. */
export async function brokerReleases({ links }: Pick<KafkaClient, 'links'>): Promise<BrokerRelease[]> {
  const any = createAnyBroker(links);
  const { brokers } = await any.metadata([]).finally(() => any.close());
  return Promise.all(
    brokers.map(async ({ host, port }) => {
      const link = links.openLink({ host, port });
      try {
        const newest = (await link.newestVersion(FETCH_API_KEY, ANSWER_TIMEOUT_MS)) ?? 0;
        return { broker: `${host}:${port}`, release: RELEASES.find(([version]) => newest >= version)?.[1] };
      } finally {
        link.close();
      }
    }),
  );
}
