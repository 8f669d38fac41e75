export * from './bulkhead';
export * from './call-policy';
export * from './circuit';
export * from './counterpart';
export * from './faults';
