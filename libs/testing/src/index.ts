export * from './space';
export * from './until';
export * from './in-sync';
export * from './https-server';
export * from './fail-test';
export { openBroker, openCluster, openKafkaCluster, openReplicaSet } from './cluster';
export type { Cluster, KafkaCluster, Member, Members, ReplicaSet } from './cluster';
export * from './recording-logger';
