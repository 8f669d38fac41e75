import { causeOf, keptTrace, untilWritten } from '@gateway/service-kit';
import type { AggregateStore, NewMessage, Stored } from './aggregate-store';
import { bodyOf } from './aggregate-store';

/** What others learn of an event. Time and cause are those of the write, unless the announcement has its own. */
export type Announcement = Pick<NewMessage, 'type' | 'data' | 'isCommand'> & Partial<Omit<NewMessage, 'id'>>;

/** What `handle` needs to know of one kind of aggregate. */
export interface AggregateKind<State extends object, Event> {
  store: Pick<AggregateStore<State>, 'load' | 'insert' | 'update'>;
  /** The state after an event. Pure: the events alone determine the state. Undefined before the first event. */
  evolve(state: State | undefined, event: Event): State;
  /** Undefined for an event that stays inside the service. `state` is the one after the event. */
  announce(state: State, event: Event, write: { id: string; at: number }): Announcement | undefined;
  /** True while nothing is under way, so that the next write begins something. Default: never after the first write. */
  isIdle?(state: State): boolean;
  /** Schedules the publication of the aggregate's outbox. Never throws. */
  publish(stored: Stored<State>): void;
  /** Called once for each committed event, e.g. to count it. */
  onWritten?(event: Event, stored: Stored<State>): void;
  /** Epoch ms. */
  now(): number;
  newId(): string;
}

/** The events that a command leads to: none if nothing changes, or a rejection. Pure, and called again after a conflict. */
export type Decide<Current, Event, Rejection extends string> = (current: Current) => readonly Event[] | Rejection;

export interface HandleContext<State extends object> {
  /** Id of the message that caused this. */
  causationId?: string | undefined;
  /** Skips the first load: the aggregate is probably new. If it is not, the insert fails and `decide` gets what is stored. */
  expectNew?: boolean;
  /** The caller writes again soon, and that publishes both. Saves a publication; after a crash the sweeper publishes. */
  publishLater?: boolean;
  /** Replaces the load by id. */
  load?: () => Promise<Stored<State> | null>;
}

/**
 * `written` is true only for the call whose own write stored the events: only that call may act on an intent. `before` is
 * what it decided on.
 */
export type Handled<Current, Rejection extends string> =
  | { written: true; stored: NonNullable<Current>; before: Current; rejection?: undefined }
  | { written: false; stored: Current; before?: undefined; rejection?: Rejection };

export interface Handle<State extends object, Event> {
  /** For an aggregate that the caller has read: its first attempt needs no load. */
  <Rejection extends string = never>(
    read: Stored<State>,
    decide: Decide<Stored<State>, Event, Rejection>,
    context?: Pick<HandleContext<State>, 'causationId'>,
  ): Promise<Handled<Stored<State>, Rejection>>;
  /** `decide` gets null if there is no such aggregate; its events then create it. */
  <Rejection extends string = never>(
    id: string,
    decide: Decide<Stored<State> | null, Event, Rejection>,
    context?: HandleContext<State>,
  ): Promise<Handled<Stored<State> | null, Rejection>>;
}

/**
 * The one way in which an aggregate changes: load, decide, evolve, announce, conditional write, publish. If another
 * writer was faster, it loads and decides again. If nothing was written, it publishes what the outbox still holds: after
 * a crash between commit and publication the redelivered message gets this far.
 *
 * One load and one write for each call; no load with `expectNew` or for an aggregate that was read before.
 *
 * @throws RetryableError after 5 attempts that were all overtaken; Error if an aggregate that was read has vanished
 */
export function createHandle<State extends object, Event>(kind: AggregateKind<State, Event>): Handle<State, Event> {
  const { store, evolve, announce, publish, onWritten } = kind;

  /** Undefined if another writer was faster. */
  async function write(
    id: string,
    current: Stored<State> | null,
    events: readonly Event[],
    { causationId, publishLater = false }: HandleContext<State>,
  ): Promise<Stored<State> | undefined> {
    const at = kind.now();
    const isIdle = current === null || kind.isIdle?.(current) === true;
    const underWay = isIdle ? undefined : current.traceparent;
    const cause = causeOf(id, causationId, underWay);
    const messages: NewMessage[] = [];
    let state = current === null ? undefined : bodyOf(current);
    for (const event of events) {
      state = evolve(state, event);
      const announced = announce(state, event, { id, at });
      if (announced !== undefined) messages.push({ id: kind.newId(), at, ...cause, ...announced });
    }
    if (state === undefined) throw new Error(`broken invariant: no events for ${id}`);
    const traceparent = keptTrace(cause.traceparent, underWay);
    const traced = traceparent === undefined ? undefined : { traceparent };
    const stored =
      current === null
        ? await store.insert(id, state, messages, traced)
        : await store.update(current, state, messages, traced);
    if (stored === undefined) return undefined;
    for (const event of events) onWritten?.(event, stored);
    if (messages.length > 0 && !publishLater) publish(stored);
    return stored;
  }

  const handle = (
    subject: string | Stored<State>,
    decide: Decide<Stored<State> | null, Event, string>,
    context: HandleContext<State> = {},
  ): Promise<Handled<Stored<State> | null, string>> => {
    const read = typeof subject === 'string' ? undefined : subject;
    const id = typeof subject === 'string' ? subject : subject._id;
    const { expectNew = false, load = () => store.load(id) } = context;
    return untilWritten(async (lost) => {
      const isFirst = lost === 0;
      const known = isFirst ? (read ?? (expectNew ? null : undefined)) : undefined;
      const current = known === undefined ? await load() : known;
      if (current === null && read !== undefined) throw new Error(`broken invariant: ${id} has vanished`);
      const decided = decide(current);
      if (typeof decided !== 'string' && decided.length > 0) {
        const stored = await write(id, current, decided, context);
        return stored && { written: true, stored, before: current };
      }
      if (current !== null) publish(current);
      return { written: false, stored: current, ...(typeof decided === 'string' ? { rejection: decided } : {}) };
    });
  };
  return handle as Handle<State, Event>;
}
