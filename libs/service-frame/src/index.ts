export * from './framed-service';
export * from './frame';
export type { RecoveryMode } from './recovery';
