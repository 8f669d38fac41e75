/** How a call ended: within a second, later, or not in time at all. */
export type CallEnd = 'quick' | 'slow' | 'timed-out';

/** The health of an address, judged by its last calls. */
export interface AddressHealth {
  /** Undefined before the first call. */
  lastCall: CallEnd | undefined;
  /** Consecutive time-outs. */
  timeouts: number;
  /** Epoch ms until which nothing is sent there; 0 while the circuit is closed. */
  openUntil: number;
}

export const UNKNOWN_ADDRESS: AddressHealth = { lastCall: undefined, timeouts: 0, openUntil: 0 };

/** A slower call holds a place that other calls could have used many times. */
const QUICK_MS = 1_000;
const TIMEOUTS_TO_OPEN = 3;
const OPEN_MS = 30_000;

/** Only time matters: a quick refusal, or a quick answer of any status, delays no other merchant. */
export function callEnd({ durationMs, timedOut }: { durationMs: number; timedOut?: boolean }): CallEnd {
  if (timedOut === true) return 'timed-out';
  return durationMs <= QUICK_MS ? 'quick' : 'slow';
}

/** When the circuit's open time is over, one call tries the address; another time-out opens it again. */
export function afterCall(health: AddressHealth, end: CallEnd, now: number): AddressHealth {
  if (end !== 'timed-out') return { lastCall: end, timeouts: 0, openUntil: 0 };
  const timeouts = health.timeouts + 1;
  return { lastCall: end, timeouts, openUntil: timeouts >= TIMEOUTS_TO_OPEN ? now + OPEN_MS : 0 };
}

export function isOpen(health: AddressHealth, now: number): boolean {
  return health.openUntil > now;
}

/** Concurrent calls. An address has to answer once before it gets more than one. */
export function callsAtOnce({ lastCall }: AddressHealth, perAddress: number): number {
  return lastCall === 'quick' || lastCall === 'slow' ? perAddress : 1;
}

/** A proven address was quick last time. Others may hang, so a merchant's budget for them is smaller. */
export type Reputation = 'proven' | 'unproven';
export const REPUTATIONS = ['proven', 'unproven'] as const satisfies Reputation[];

export function reputationOf({ lastCall }: AddressHealth): Reputation {
  return lastCall === 'quick' ? 'proven' : 'unproven';
}
