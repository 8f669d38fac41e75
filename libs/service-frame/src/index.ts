export * from './framed-service';
export * from './frame';
export type { MessagePlace, RecoveryMode } from './recovery';
