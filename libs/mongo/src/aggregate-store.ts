import { randomBytes } from 'node:crypto';
import type { Collection } from './driver';
import type { Stamped } from './group-writes';
import { createGroupFind, createGroupInsert, createGroupUpdate } from './group-writes';
import type { OutboxEntry, OutboxOwner } from './outbox';

/** One document per aggregate: its body, the version that guards it, and its outbox. */
export type Stored<Body> = Body & OutboxOwner & Stamped & { eventSeq: number };

export interface AggregateStore<Body extends object> {
  load(id: string): Promise<Stored<Body> | null>;
  /** Undefined when an aggregate of that id exists already. */
  insert(id: string, body: Body, events: readonly NewEvent[]): Promise<Stored<Body> | undefined>;
  /**
   * Writes the next state and the events to publish in one conditional update: atomic without a transaction.
   * Undefined when someone else wrote since `previous` was read; then load and decide again.
   */
  update(previous: Stored<Body>, body: Body, events: readonly NewEvent[]): Promise<Stored<Body> | undefined>;
}

/** An event before the store has given it its place in the aggregate's sequence. */
export type NewEvent = Omit<OutboxEntry, 'seq'>;

function sequenced(events: readonly NewEvent[], lastSeq: number): OutboxEntry[] {
  return events.map((event, index) => ({ ...event, seq: lastSeq + 1 + index }));
}

/**
 * `Body` fields must be spelled out by the caller (no `undefined`): a field that a new body leaves out is removed from
 * the document, so that the state on disk is the state in memory.
 */
export function createAggregateStore<Body extends object>(collection: Collection<Stored<Body>>): AggregateStore<Body> {
  const find = createGroupFind(collection);
  const insert = createGroupInsert(collection);
  const updateIfUnchanged = createGroupUpdate(collection, newStamp);
  return {
    async load(id) {
      return (await find(id)) ?? null;
    },

    async insert(id, body, newEvents) {
      const outbox = sequenced(newEvents, 0);
      const document: Stored<Body> = {
        _id: id,
        ...body,
        version: 1,
        eventSeq: outbox.length,
        outbox,
        ...since(outbox),
      };
      return (await insert(document)) === undefined ? document : undefined;
    },

    async update(previous, body, newEvents) {
      const events = sequenced(newEvents, previous.eventSeq);
      const version = previous.version + 1;
      const eventSeq = previous.eventSeq + events.length;
      const removed = removedFields(previous, body);
      const updated = await updateIfUnchanged({
        id: previous._id,
        version: previous.version,
        update: {
          // Always set: what `previous` still shows in the outbox may have been drained since, and its mark with it.
          $set: { ...body, version, eventSeq, ...since(events) },
          ...(events.length === 0 ? {} : { $push: { outbox: { $each: events } } }),
          ...(removed.length === 0 ? {} : { $unset: Object.fromEntries(removed.map((name) => [name, ''])) }),
        },
      });
      if (!updated) return undefined;
      const outbox = [...previous.outbox, ...events];
      return { _id: previous._id, ...body, version, eventSeq, outbox, ...since(outbox) };
    },
  };
}

const STAMP_BYTES = 12;

function newStamp(): string {
  return randomBytes(STAMP_BYTES).toString('base64');
}

const OWN_FIELDS = new Set(['_id', 'version', 'eventSeq', 'outbox', 'outboxSince', 'stamp']);

function removedFields(previous: object, body: object): string[] {
  return Object.keys(previous).filter((name) => !OWN_FIELDS.has(name) && !(name in body));
}

function since(entries: readonly OutboxEntry[]): { outboxSince?: number } {
  const [oldest] = entries;
  return oldest === undefined ? {} : { outboxSince: oldest.at };
}
