import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { EpochMs } from './fields';

/** What merchants read of their callbacks. callback-dispatcher answers with it, api-edge renders it. */

export const CallbackAttemptView = Type.Object({
  startedAt: EpochMs,
  /** Absent while it is under way, and if its process died. */
  acknowledged: Type.Optional(Type.Boolean()),
  httpStatus: Type.Optional(Type.Integer()),
  /** If it was not acknowledged: a `CallbackError`; anything, from a release before that. */
  error: Type.Optional(Type.String()),
  /** How the answer begins that is no acknowledgement. Printable: see `excerptOf` of callback-dispatcher. */
  bodyStart: Type.Optional(Type.String({ maxLength: 1_000 })),
  durationMs: Type.Optional(Type.Integer()),
});

const CallbackKind = Type.Union([Type.Literal('card'), Type.Literal('payout')]);

export const CallbackView = Type.Object({
  id: Type.String(),
  kind: CallbackKind,
  reference: Type.String(),
  transactionUniqueId: Type.String(),
  url: Type.String(),
  state: Type.Union([Type.Literal('pending'), Type.Literal('delivered'), Type.Literal('exhausted')]),
  createdAt: EpochMs,
  /** While pending. */
  nextAttemptAt: Type.Optional(EpochMs),
  /** When delivered or exhausted. */
  endedAt: Type.Optional(EpochMs),
  /** The latest ones, oldest first. */
  attempts: Type.Array(CallbackAttemptView),
});
export type CallbackView = Static<typeof CallbackView>;

export const CallbackPage = Type.Object({
  callbacks: Type.Array(CallbackView),
  /** Absent on the last page. */
  next: Type.Optional(Type.String()),
});
export type CallbackPage = Static<typeof CallbackPage>;

/** An entry of the feed: a callback that arose or was sent again, as an attempt made now would send it. */
export const CallbackEvent = Type.Object({
  /** The callback's. */
  id: Type.String(),
  kind: CallbackKind,
  reference: Type.String(),
  transactionUniqueId: Type.String(),
  at: EpochMs,
  /** Behind this entry. */
  cursor: Type.String(),
  headers: Type.Record(Type.String(), Type.String()),
  /** Form-encoded, so ASCII: the bytes of the body. */
  body: Type.String(),
});
export type CallbackEvent = Static<typeof CallbackEvent>;

export const CallbackEventPage = Type.Object({
  events: Type.Array(CallbackEvent),
  /** Behind all that was read. */
  cursor: Type.String(),
});
export type CallbackEventPage = Static<typeof CallbackEventPage>;
