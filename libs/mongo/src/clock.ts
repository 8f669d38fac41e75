import type { Document } from './driver';

/** Time by the clock of the database: the one time base of all processes. */
export interface Clock {
  /** Epoch ms as this process knows it, right to some tens of ms. */
  now(): number;
  /** Epoch ms as an expression that the server evaluates when it runs the command: right however late that is. */
  inDatabase(): Document | number;
}

/** A clock that a test sets, for the database, too. */
export function clockAt(now: () => number): Clock {
  return { now, inDatabase: now };
}

/** What the database said about the time. */
export interface ServerTime {
  /** Who said it: a member of the replica set. */
  server: string;
  /** Epoch ms. */
  ms: number;
}

interface Sample extends ServerTime {
  /** Of the middle of the round trip, by the monotonic clock. */
  monotonicMs: number;
  /** The same moment by the machine's clock. */
  wallMs: number;
  roundTripMs: number;
}

export interface MeasuredClock {
  now(): number;
  /** How far the machine's clock is ahead of the database's. */
  skewMs(): number;
  /** Asks the database once. */
  measure(): Promise<void>;
}

/** With one sample in 5 s: what is remembered for 40 s. */
const SAMPLES_MAX = 8;
/** How far quartz may drift. */
const DRIFT = 100e-6;
/** Machine and monotonic clock do not part like this on their own: the one was set, or the machine was suspended. */
const JUMP_MS = 250;
/** A correction backwards up to this is waited out, so that time stands still and does not run back. */
const STANDSTILL_MAX_MS = 100;

/**
 * Follows the database's clock by asking it, as NTP does: the middle of the round trip counts, and of the last samples
 * the one with the smallest possible error. Between samples the monotonic clock goes on, which nobody sets.
 *
 * A suspended machine may stop that clock, and its own may be set. When the two part, the later one counts until the
 * database has been asked again: deadlines may then be over too early, but never too late.
 */
export function createMeasuredClock(options: {
  ask: () => Promise<ServerTime>;
  /** Epoch ms by the machine's clock. */
  wallClock?: () => number;
  monotonicClock?: () => number;
  /** A measurement is wanted soon, not with the next turn. Must not throw. */
  onJump?: () => void;
}): MeasuredClock {
  const { ask, wallClock = Date.now, monotonicClock = () => performance.now(), onJump } = options;
  let samples: Sample[] = [];
  let best: Sample | undefined;
  let lastMs = 0;

  const elapsedMs = ({ monotonicMs }: Sample): number => monotonicClock() - monotonicMs;
  const elapsedByWallMs = ({ wallMs }: Sample): number => wallClock() - wallMs;
  const jumpMs = (sample: Sample): number => Math.abs(elapsedMs(sample) - elapsedByWallMs(sample));
  const errorMs = (sample: Sample): number => sample.roundTripMs / 2 + elapsedMs(sample) * DRIFT;

  function current(): number {
    if (best === undefined) throw new Error('the clock was read before it was set');
    if (jumpMs(best) <= JUMP_MS) return best.ms + elapsedMs(best);
    onJump?.();
    return best.ms + Math.max(elapsedMs(best), elapsedByWallMs(best));
  }

  /** The database's clock was set, or another member with another clock answers: what was known before is void. */
  function contradicts(before: Sample, { server, ms, roundTripMs, monotonicMs }: Sample): boolean {
    if (before.server !== server || jumpMs(before) > JUMP_MS) return true;
    const expectedMs = before.ms + monotonicMs - before.monotonicMs;
    return Math.abs(ms - expectedMs) > errorMs(before) + roundTripMs / 2 + JUMP_MS;
  }

  async function measure(): Promise<void> {
    const sentMs = monotonicClock();
    const { server, ms } = await ask();
    const roundTripMs = monotonicClock() - sentMs;
    const monotonicMs = sentMs + roundTripMs / 2;
    const sample = { server, ms, roundTripMs, monotonicMs, wallMs: wallClock() - roundTripMs / 2 };
    if (best !== undefined && contradicts(best, sample)) {
      samples = [];
      lastMs = 0;
    }
    samples = [sample, ...samples].slice(0, SAMPLES_MAX);
    best = samples.reduce((least, other) => (errorMs(other) < errorMs(least) ? other : least));
  }

  return {
    now() {
      const ms = Math.round(current());
      lastMs = ms < lastMs && lastMs - ms <= STANDSTILL_MAX_MS ? lastMs : ms;
      return lastMs;
    },
    skewMs: () => wallClock() - current(),
    measure,
  };
}
