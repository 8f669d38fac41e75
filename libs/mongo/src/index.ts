export * from './driver';
export * from './aggregate-store';
export * from './connection';
export * from './errors';
export * from './group-writes';
export * from './outbox';
export * from './due-by-account';
