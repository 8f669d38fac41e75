import type { Collection, Filter, OptionalUnlessRequiredId, UpdateFilter } from './driver';
import { duplicateKeyIndex } from './connection';
import type { OutboxEntry, OutboxOwner } from './outbox';

/** One document per aggregate: its body, the version that guards it, and its outbox. */
export type Stored<Body> = Body & OutboxOwner & { version: number; eventSeq: number };

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
  return {
    async load(id) {
      return (await collection.findOne({ _id: id } as Filter<Stored<Body>>)) as Stored<Body> | null;
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
      try {
        await collection.insertOne(document as OptionalUnlessRequiredId<Stored<Body>>);
        return document;
      } catch (error) {
        if (duplicateKeyIndex(error) === undefined) throw error;
        return undefined;
      }
    },

    async update(previous, body, newEvents) {
      const events = sequenced(newEvents, previous.eventSeq);
      const version = previous.version + 1;
      const eventSeq = previous.eventSeq + events.length;
      const result = await collection.updateOne(
        { _id: previous._id, version: previous.version } as Filter<Stored<Body>>,
        {
          // Always set: what `previous` still shows in the outbox may have been drained since, and its mark with it.
          $set: { ...body, version, eventSeq, ...since(events) },
          $push: { outbox: { $each: events } },
          $unset: Object.fromEntries(removedFields(previous, body).map((name) => [name, ''])),
        } as unknown as UpdateFilter<Stored<Body>>,
      );
      if (result.matchedCount === 0) return undefined;
      const outbox = [...previous.outbox, ...events];
      return { _id: previous._id, ...body, version, eventSeq, outbox, ...since(outbox) };
    },
  };
}

const OWN_FIELDS = new Set(['_id', 'version', 'eventSeq', 'outbox', 'outboxSince']);

function removedFields(previous: object, body: object): string[] {
  return Object.keys(previous).filter((name) => !OWN_FIELDS.has(name) && !(name in body));
}

function since(entries: readonly OutboxEntry[]): { outboxSince?: number } {
  const [oldest] = entries;
  return oldest === undefined ? {} : { outboxSince: oldest.at };
}
