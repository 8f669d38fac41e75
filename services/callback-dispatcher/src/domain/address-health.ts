/** How a call ended: within a second, later, or not in time at all. */
export type CallEnd = 'quick' | 'slow' | 'timed-out';

/** What the last calls to an address say about it. */
export interface AddressHealth {
  /** Undefined for an address that was never called. */
  lastCall: CallEnd | undefined;
  /** Time-outs in a row. */
  timeouts: number;
  /** Epoch ms until which nothing is sent there; 0 when the circuit was never open. */
  openUntil: number;
}

export const UNKNOWN_ADDRESS: AddressHealth = { lastCall: undefined, timeouts: 0, openUntil: 0 };

/** A call that takes longer than this holds a place that others could use many times. */
const QUICK_MS = 1_000;
const TIMEOUTS_TO_OPEN = 3;
const OPEN_MS = 30_000;

/** Only time matters: what is refused or answered at once, with whatever status, costs nobody else anything. */
export function callEnd({ durationMs, timedOut }: { durationMs: number; timedOut?: boolean }): CallEnd {
  if (timedOut === true) return 'timed-out';
  return durationMs <= QUICK_MS ? 'quick' : 'slow';
}

/** After the open time one call tries the address; another time-out opens the circuit again. */
export function afterCall(health: AddressHealth, end: CallEnd, now: number): AddressHealth {
  if (end !== 'timed-out') return { lastCall: end, timeouts: 0, openUntil: 0 };
  const timeouts = health.timeouts + 1;
  return { lastCall: end, timeouts, openUntil: timeouts >= TIMEOUTS_TO_OPEN ? now + OPEN_MS : 0 };
}

export function isOpen(health: AddressHealth, now: number): boolean {
  return health.openUntil > now;
}

/** Calls at a time. An address has to answer once before it gets more than one. */
export function callsAtOnce({ lastCall }: AddressHealth, perAddress: number): number {
  return lastCall === 'quick' || lastCall === 'slow' ? perAddress : 1;
}

/** A proven address was quick last time. Any other may hang, so a merchant has a smaller budget for them. */
export type Reputation = 'proven' | 'unproven';
export const REPUTATIONS = ['proven', 'unproven'] as const satisfies Reputation[];

export function reputationOf({ lastCall }: AddressHealth): Reputation {
  return lastCall === 'quick' ? 'proven' : 'unproven';
}
