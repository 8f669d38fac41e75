import type { mongo } from 'mongoose';

/** The driver's types, from the one copy of the driver that mongoose brings. */
export type Document = mongo.Document;
export type Collection<T extends Document = Document> = mongo.Collection<T>;
export type Filter<T> = mongo.Filter<T>;
export type UpdateFilter<T extends Document> = mongo.UpdateFilter<T>;
export type AnyBulkWriteOperation<T extends Document> = mongo.AnyBulkWriteOperation<T>;
export type OptionalUnlessRequiredId<T> = mongo.OptionalUnlessRequiredId<T>;
export type FindOptions = mongo.FindOptions;
export type ClientSession = mongo.ClientSession;
