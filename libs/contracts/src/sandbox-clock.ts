/** One move of a sandbox account's clock (ADR 0067). */
export interface ClockMove {
  /** Epoch ms. What began until then waits less by the move. */
  readonly at: number;
  /** How far the clock is ahead since then, in ms. */
  readonly aheadMs: number;
}

/** The clock of a sandbox account, once it has been moved. */
export interface SandboxClock {
  readonly merchantAccount: string;
  /** How far it is ahead by all moves so far, in ms. It only grows. */
  readonly aheadMs: number;
  /** How far it was ahead before the first of `moves`. */
  readonly beforeMs: number;
  /** Those of the last 24 hours, oldest first. */
  readonly moves: readonly ClockMove[];
}

/** Something that waits for a time. */
export interface Waiting {
  /** Epoch ms at which it began. */
  readonly since: number;
  /** How far the clock was ahead when its time was last adjusted; absent until then. */
  readonly clockMs?: number | undefined;
}

/** By how many ms the clock has moved since something that waits began, or was last adjusted. */
export function movedSince({ aheadMs, beforeMs, moves }: SandboxClock, { since, clockMs }: Waiting): number {
  const known = clockMs ?? moves.findLast(({ at }) => at < since)?.aheadMs ?? beforeMs;
  return Math.max(0, aheadMs - known);
}

/**
 * How far the clock was ahead when `time` was due, if it was due in the latest move of `byMs`. The rest of the move is for
 * what follows from it.
 *
 * @param time as it was before the move, epoch ms
 */
export function dueInMove(
  { aheadMs }: Pick<SandboxClock, 'aheadMs'>,
  { byMs, time, now }: { byMs: number; time: number; now: number },
): number | undefined {
  const isDue = now < time && time <= now + byMs;
  return isDue ? aheadMs - byMs + (time - now) : undefined;
}

/**
 * A time after the clock moved by `byMs`. Never before `now`: what is overdue already stays as it is, and what becomes
 * due is not late.
 */
export function sooner(time: number, byMs: number, now: number): number {
  return Math.max(time - byMs, Math.min(time, now));
}
