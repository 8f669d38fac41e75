/**
 * The life of one pain.001 file. `frozen`: its members are fixed, and it can be written. `emitting`: complete and
 * valid, being moved into the outbox. `emitted`: in the outbox, or already taken by the agent. `held`: an operator
 * decides.
 */
export const BATCH_STATES = ['frozen', 'emitting', 'emitted', 'held'] as const;
export type BatchState = (typeof BATCH_STATES)[number];

/** A replica is writing these, or will. */
export const UNWRITTEN_STATES = ['frozen', 'emitting'] as const satisfies BatchState[];

/** The steps of a batch. A crash during the move is an `interruption`. */
export type BatchStep = 'emission' | 'move' | 'defect' | 'interruption' | 'release' | 'report';

export interface Transition {
  from: readonly BatchState[];
  to: BatchState;
  /** Not once the bank has reported on the batch. */
  beforeReport?: true;
}

export const BATCH_TRANSITIONS = {
  /** The file is valid. From now on an agent may see it at any moment. */
  emission: { from: ['frozen'], to: 'emitting' },
  /** The file is in the outbox. */
  move: { from: ['emitting'], to: 'emitted' },
  /** The file cannot be rendered validly; another attempt would not help. */
  defect: { from: ['frozen'], to: 'held' },
  /** The agent may or may not have seen the file, and a second copy might pay twice. */
  interruption: { from: ['emitting'], to: 'held' },
  /** An operator wants the file written again. The bank already has a batch that it reported on. */
  release: { from: ['held', 'emitted'], to: 'frozen', beforeReport: true },
  /** A report proves that the bank has the file, whatever we thought of it. */
  report: { from: BATCH_STATES, to: 'emitted' },
} as const satisfies Record<BatchStep, Transition>;

/**
 * A payout's place in a batch. `waiting`: for the next cut-off. `sent`: fixed in a batch. `cancelled`: never to be
 * sent; it may be recorded before the payout arrives, which is then refused.
 */
export type MemberState = 'waiting' | 'sent' | 'cancelled';

/** A payout that is in a batch can no longer be cancelled. */
export const CANCELLABLE_STATES = ['waiting', 'cancelled'] as const satisfies MemberState[];
