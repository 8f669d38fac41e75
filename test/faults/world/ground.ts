import type { Cluster, Space } from '@gateway/testing';
import { openCluster, openSpace } from '@gateway/testing';

/** The servers of a run. */
export interface Ground {
  /** Absent on given servers, which nobody may harm. */
  cluster?: Cluster;
  /** New topics and databases. */
  openSpace(): Promise<Space>;
  close(): Promise<void>;
}

/** A cluster of its own; or the servers that KAFKA_BROKERS and MONGODB_URI name, then without faults of servers. */
export async function openGround(): Promise<Ground> {
  const { KAFKA_BROKERS: brokers, MONGODB_URI: mongoUri } = process.env;
  if (brokers !== undefined && mongoUri !== undefined) {
    return { openSpace: () => openSpace('faults', { brokers, mongoUri }), close: async () => undefined };
  }
  const cluster = await openCluster();
  return { cluster, openSpace: () => openSpace('faults', cluster), close: () => cluster.close() };
}
