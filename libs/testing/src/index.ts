export * from './space';
export * from './until';
export * from './https-server';
export * from './fail-test';
