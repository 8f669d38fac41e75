export * from './driver';
export * from './aggregate-store';
export * from './connection';
export * from './outbox';
