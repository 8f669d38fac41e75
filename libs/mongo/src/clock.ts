import type { Document } from './driver';

/** The database's time, which all processes share. */
export interface Clock {
  /** Epoch ms, estimated by this process to within some tens of ms. */
  now(): number;
  /** Epoch ms as an expression that the server evaluates when it runs the command, so a late command uses the right time. */
  inDatabase(): Document | number;
}

/** A clock of the caller's, also in place of the database's expression: for tests, and for commands that run once. */
export function clockAt(now: () => number): Clock {
  return { now, inDatabase: now };
}

/** The time according to the database. */
export interface ServerTime {
  /** The member of the replica set that answered. */
  server: string;
  /** Epoch ms. */
  ms: number;
}

interface Sample extends ServerTime {
  /** The middle of the round trip, by the monotonic clock. */
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

/** At one sample every 5 s these cover 40 s. */
const SAMPLES_MAX = 8;
/** Largest drift of a quartz clock. */
const DRIFT = 100e-6;
/** If machine and monotonic clock diverge by more, someone set the clock or the machine was suspended. */
const JUMP_MS = 250;
/** For backward corrections up to this, `now()` pauses instead of running back. */
const STANDSTILL_MAX_MS = 100;

/**
 * Follows the database's clock the way NTP does: it assumes the middle of the round trip and uses the recent sample with
 * the smallest possible error. Between samples it counts with the monotonic clock, which cannot be set.
 *
 * A suspended machine may stop the monotonic clock, and its wall clock may be set. When they diverge, the later one
 * counts until the next measurement, so deadlines may pass too early but never too late.
 */
export function createMeasuredClock(options: {
  ask: () => Promise<ServerTime>;
  /** Epoch ms by the machine's clock. */
  wallClock?: () => number;
  monotonicClock?: () => number;
  /** Called when the clocks diverge and a measurement should happen soon. Must not throw. */
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

  /** True if the database's clock was set or another member answered, so that earlier samples are invalid. */
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
