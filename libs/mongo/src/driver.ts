export type {
  AnyBulkWriteOperation,
  ClientSession,
  Collection,
  Document,
  Filter,
  FindOptions,
  IndexDescriptionInfo,
  OptionalUnlessRequiredId,
  UpdateFilter,
} from 'mongodb';
