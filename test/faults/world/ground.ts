import type { Cluster, Space } from '@gateway/testing';
import { openCluster, openSpace } from '@gateway/testing';

/** Servers, topics and databases of one run. */
export interface Ground {
  space: Space;
  /** Absent on given servers, which nobody may harm. */
  cluster?: Cluster;
  close(): Promise<void>;
}

/** A cluster of its own; or the servers that KAFKA_BROKERS and MONGODB_URI name, then without faults of servers. */
export async function openGround(): Promise<Ground> {
  const { KAFKA_BROKERS: brokers, MONGODB_URI: mongoUri } = process.env;
  if (brokers !== undefined && mongoUri !== undefined) {
    const space = await openSpace('faults', { brokers, mongoUri });
    return { space, close: () => space.remove() };
  }
  const cluster = await openCluster();
  try {
    return { space: await openSpace('faults', cluster), cluster, close: () => cluster.close() };
  } catch (error) {
    await cluster.close();
    throw error;
  }
}
