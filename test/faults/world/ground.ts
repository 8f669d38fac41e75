import type { Cluster, Space } from '@gateway/testing';
import { openCluster, openSpace } from '@gateway/testing';

/** The servers of a run. */
export interface Ground {
  /** Absent on given servers, which the suite must not harm. */
  cluster?: Cluster;
  /** New topics and databases. */
  openSpace(): Promise<Space>;
  close(): Promise<void>;
}

/** Starts a cluster, or uses the servers of KAFKA_BROKERS and MONGODB_URI, then without server faults. */
export async function openGround(): Promise<Ground> {
  const { KAFKA_BROKERS: brokers, MONGODB_URI: mongoUri } = process.env;
  if (brokers !== undefined && mongoUri !== undefined) {
    return { openSpace: () => openSpace('faults', { brokers, mongoUri }), close: async () => undefined };
  }
  const cluster = await openCluster();
  return { cluster, openSpace: () => openSpace('faults', cluster), close: () => cluster.close() };
}
