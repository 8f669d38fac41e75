export type {
  AnyBulkWriteOperation,
  ClientSession,
  Collection,
  Document,
  Filter,
  FindOptions,
  OptionalUnlessRequiredId,
  UpdateFilter,
} from 'mongodb';
