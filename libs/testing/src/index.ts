export * from './space';
export * from './until';
