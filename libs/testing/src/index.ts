export * from './space';
export * from './until';
export * from './in-sync';
export * from './https-server';
export * from './fail-test';
export { openCluster, openKafkaCluster, openReplicaSet } from './cluster';
export type { Cluster, KafkaCluster, Member, Members, ReplicaSet } from './cluster';
