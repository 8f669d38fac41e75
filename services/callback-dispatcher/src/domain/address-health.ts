/** What is known about an address from how calls to it ended. */
export interface AddressHealth {
  /** The last call did not run into a time-out. False for an address that was never called. */
  trusted: boolean;
  /** Time-outs in a row. */
  timeouts: number;
  /** Epoch ms until which nothing is sent there; 0 when the circuit was never open. */
  openUntil: number;
}

export const UNKNOWN_ADDRESS: AddressHealth = { trusted: false, timeouts: 0, openUntil: 0 };

const TIMEOUTS_TO_OPEN = 3;
const OPEN_MS = 30_000;

/**
 * Only time-outs count: they hold a place for seconds. What is refused or answered at once, with whatever status, costs
 * nobody else anything. After the open time one call tries the address; another time-out opens the circuit again.
 */
export function afterCall(health: AddressHealth, timedOut: boolean, now: number): AddressHealth {
  if (!timedOut) return { trusted: true, timeouts: 0, openUntil: 0 };
  const timeouts = health.timeouts + 1;
  return { trusted: false, timeouts, openUntil: timeouts >= TIMEOUTS_TO_OPEN ? now + OPEN_MS : 0 };
}

export function isOpen(health: AddressHealth, now: number): boolean {
  return health.openUntil > now;
}

/** Calls at a time. An address has to answer once before it gets more than one. */
export function callsAtOnce(health: AddressHealth, perAddress: number): number {
  return health.trusted ? perAddress : 1;
}
