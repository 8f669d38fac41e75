import { randomUUID } from 'node:crypto';
import type { NewSpan } from '@gateway/service-kit';
import { inSpan } from '@gateway/service-kit';
import type { Collection, Document } from './driver';
import type { Stamped } from './group-writes';
import { createGroupFind, createGroupInsert, createGroupUpdate } from './group-writes';
import type { OutboxEntry, OutboxOwner } from './outbox';

/** One document per aggregate: its body, the version that guards it, and its outbox. */
export type Stored<Body> = Body & OutboxOwner & Stamped & Ending & Traced & { eventSeq: number };

/** `endedAt` is there while nothing is under way; a TTL index on it removes the document some time later. */
export interface Ending {
  endedAt?: Date;
}

/** W3C: the trace of the write that began what is under way, so that later work on it continues there. */
export interface Traced {
  traceparent?: string;
}

export interface AggregateStore<Body extends object> {
  load(id: string): Promise<Stored<Body> | null>;
  /** Undefined if an aggregate of that id exists. */
  insert(id: string, body: Body, messages: readonly NewMessage[], traced?: Traced): Promise<Stored<Body> | undefined>;
  /**
   * Writes the next state and the messages to publish in one conditional update: atomic without a transaction.
   * Undefined when someone else wrote since `previous` was read; then load and decide again. Without `traced` the trace
   * stays as it is.
   */
  update(
    previous: Stored<Body>,
    body: Body,
    messages: readonly NewMessage[],
    traced?: Traced,
  ): Promise<Stored<Body> | undefined>;
}

/** An aggregate without what the store itself keeps in its document. */
export function bodyOf<Body extends object>(stored: Stored<Body>): Body {
  const {
    _id,
    version: _version,
    eventSeq: _seq,
    outbox: _outbox,
    outboxSince: _since,
    outboxRetryAt: _retryAt,
    outboxClaim: _claim,
    stamp: _stamp,
    endedAt: _endedAt,
    traceparent: _traceparent,
    ...body
  }: OutboxOwner & Stamped & Ending & Traced & { eventSeq: number } = stored;
  return body as Body;
}

/** A message before the store has given it its place in the aggregate's sequence, if it is an event. */
export type NewMessage = Omit<OutboxEntry, 'seq'> & { isCommand?: true };

function sequenced(messages: readonly NewMessage[], lastSeq: number): { entries: OutboxEntry[]; eventSeq: number } {
  let eventSeq = lastSeq;
  const entries = messages.map(({ isCommand, ...message }): OutboxEntry => {
    if (isCommand === true) return message;
    eventSeq += 1;
    return { ...message, seq: eventSeq };
  });
  return { entries, eventSeq };
}

/**
 * List all fields of `Body` (no `undefined`): a field that a new body lacks is removed from the document, so that the
 * state on disk is the state in memory. Only changed fields are written; values are compared by reference, so never
 * change one in place.
 *
 * @param endOf epoch ms at which the aggregate ended; undefined while something is under way. Default: never ends
 */
export function createAggregateStore<Body extends object>(
  collection: Collection<Stored<Body>>,
  endOf: (body: Body) => number | undefined = () => undefined,
): AggregateStore<Body> {
  const find = createGroupFind(collection);
  const insert = createGroupInsert(collection);
  const updateIfUnchanged = createGroupUpdate(collection, stamps());

  function spanOf(operation: string): NewSpan {
    const names = { 'db.operation.name': operation, 'db.collection.name': collection.collectionName };
    const attributes = { 'db.system.name': 'mongodb', ...names } as const;
    return { name: `${operation} ${collection.collectionName}`, kind: 'client', attributes };
  }

  function endingOf(body: Body): Ending {
    const at = endOf(body);
    return at === undefined ? {} : { endedAt: new Date(at) };
  }

  return {
    async load(id) {
      return (await find(id)) ?? null;
    },

    async insert(id, body, messages, traced) {
      const { entries: outbox, eventSeq } = sequenced(messages, 0);
      const document: Stored<Body> = {
        _id: id,
        ...body,
        version: 1,
        eventSeq,
        outbox,
        ...since(outbox),
        ...endingOf(body),
        ...traced,
      };
      const refusedBy = await inSpan(spanOf('insert'), () => insert(document));
      return refusedBy === undefined ? document : undefined;
    },

    async update(previous, body, messages, traced = tracedIn(previous)) {
      const { entries, eventSeq } = sequenced(messages, previous.eventSeq);
      const version = previous.version + 1;
      const ending = endingOf(body);
      const reopened = previous.endedAt !== undefined && ending.endedAt === undefined;
      const removed = [...removedFields(previous, body), ...(reopened ? ['endedAt'] : [])];
      const change = {
        id: previous._id,
        version: previous.version,
        update: {
          $set: { ...changedFields(previous, { ...body, ...traced, eventSeq }), ...ending, version },
          // `$min` keeps an older mark, and sets a new one if the outbox was drained since `previous` was read.
          ...(entries.length === 0 ? {} : { $push: { outbox: { $each: entries } }, $min: since(entries) }),
          ...(removed.length === 0 ? {} : { $unset: Object.fromEntries(removed.map((name) => [name, ''])) }),
        },
      };
      if (!(await inSpan(spanOf('update'), () => updateIfUnchanged(change)))) return undefined;
      const outbox = [...previous.outbox, ...entries];
      return { _id: previous._id, ...body, version, eventSeq, outbox, ...since(outbox), ...ending, ...traced };
    },
  };
}

/** Unique to this writer: random once, then counted. */
function stamps(): () => string {
  const writer = randomUUID();
  let count = 0;
  return () => `${writer}/${(count += 1)}`;
}

const OWN_FIELDS = new Set([
  '_id',
  'version',
  'eventSeq',
  'outbox',
  'outboxSince',
  'outboxRetryAt',
  'outboxClaim',
  'stamp',
  'endedAt',
  'traceparent',
]);

function changedFields(previous: object, body: object): Document {
  const before = previous as Document;
  return Object.fromEntries(Object.entries(body).filter(([name, value]) => before[name] !== value));
}

function removedFields(previous: object, body: object): string[] {
  return Object.keys(previous).filter((name) => !OWN_FIELDS.has(name) && !(name in body));
}

function tracedIn({ traceparent }: Traced): Traced {
  return traceparent === undefined ? {} : { traceparent };
}

function since(entries: readonly OutboxEntry[]): { outboxSince?: number } {
  const [oldest] = entries;
  return oldest === undefined ? {} : { outboxSince: oldest.at };
}
