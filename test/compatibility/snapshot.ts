import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import type { QueryDeclaration } from '@gateway/contracts';
import { DEFAULT_PARTITIONS, messages, queries, topics } from '@gateway/contracts';
import { neededRoles } from '@gateway/mongo';
import { documentSchemas } from './document-schemas';
import type { Document } from '../support/documented-api';
import { currentDocument } from '../support/documented-api';
import { apiPromise } from './api-promise';
import type { Schema } from './schema';

/** What a release promises to others, and to other releases of itself. */
export interface Snapshot {
  /** By name. */
  topics: Readonly<Record<string, TopicPromise>>;
  /** By `topic/type`. */
  messages: Readonly<Record<string, Schema>>;
  /** By name. */
  queries: Readonly<Record<string, QueryPromise>>;
  /** By `database.collection`. */
  documents: Readonly<Record<string, Schema>>;
  /** By user of MongoDB. Kafka's users are not here: provisioning only adds to their access lists. */
  rights: Readonly<Record<string, RightsPromise>>;
  /** The merchants' API: one document, by its name. */
  api: { readonly openapi: Document };
}

export interface TopicPromise {
  key: string;
  partitions: number;
  retentionMs: number;
  deadLetters?: string;
}

export interface QueryPromise {
  owner: string;
  method?: string;
  path: string;
  askers: readonly string[];
  parameters: Schema;
  answer: Schema;
}

/** Actions by `database.collection`, or by `database` where they are allowed in all its collections. */
export type RightsPromise = Readonly<Record<string, readonly string[]>>;

/** A break that a review has accepted until the next release. */
export interface AcceptedBreak {
  break: string;
  reason: string;
}

const FOLDER = join(__dirname, '..', '..', 'compatibility');
const ACCEPTED = 'accepted-breaks.json';

/** What this checkout promises. Reading the types of documents takes some seconds. */
export function currentSnapshot(): Snapshot {
  const promises = {
    topics: Object.fromEntries(
      Object.values<{ name: string; key: string; retentionMs: number; deadLetters?: string }>(topics).map(
        ({ name, key, retentionMs, deadLetters }) => [
          name,
          { key, partitions: DEFAULT_PARTITIONS, retentionMs, ...(deadLetters === undefined ? {} : { deadLetters }) },
        ],
      ),
    ),
    messages: Object.fromEntries(messages.map(({ topic, type, schema }) => [`${topics[topic].name}/${type}`, schema])),
    queries: Object.fromEntries(
      Object.entries<QueryDeclaration>(queries).map(([name, { owner, method, path, askers, parameters, answer }]) => [
        name,
        { owner, method, path, askers, parameters, answer },
      ]),
    ),
    documents: documentSchemas(),
    rights: rightsByUser(),
    api: { openapi: apiPromise(currentDocument()) },
  };
  // As it is read again: without the symbols of TypeBox.
  return JSON.parse(JSON.stringify(promises)) as Snapshot;
}

function rightsByUser(): Snapshot['rights'] {
  return Object.fromEntries(
    neededRoles('').map(({ name, privileges }) => [
      name,
      Object.fromEntries(
        privileges.map(({ database, collection, actions }) => [
          [database, collection].filter(Boolean).join('.'),
          actions,
        ]),
      ),
    ]),
  );
}

/** What the last release promises. */
export function committedSnapshot(): Snapshot {
  return {
    topics: readFiles('topics'),
    messages: readFiles('messages'),
    queries: readFiles('queries'),
    documents: readFiles('documents'),
    rights: readFiles('rights'),
    api: readFiles<Document>('api') as Snapshot['api'],
  };
}

/** Writes the snapshot of a release. Breaks that were accepted since the one before are part of it. */
export function writeSnapshot(snapshot: Snapshot): void {
  for (const [kind, promises] of Object.entries(snapshot)) {
    rmSync(join(FOLDER, kind), { recursive: true, force: true });
    for (const [name, promise] of Object.entries(promises as Record<string, object>)) {
      writeJson(join(FOLDER, kind, `${name}.json`), promise);
    }
  }
  writeJson(join(FOLDER, ACCEPTED), []);
}

export function acceptedBreaks(): AcceptedBreak[] {
  return readJson(join(FOLDER, ACCEPTED));
}

function readFiles<T>(kind: string): Record<string, T> {
  const folder = join(FOLDER, kind);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).toSorted();
  return Object.fromEntries(
    paths.map((path) => [
      relative(folder, path)
        .replaceAll(sep, '/')
        .replace(/\.json$/, ''),
      readJson<T>(path),
    ]),
  );
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}

function writeJson(path: string, content: object): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`);
}
