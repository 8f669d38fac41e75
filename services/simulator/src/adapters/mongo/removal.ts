const DAY_MS = 86_400_000;
/** Longer than the gateway keeps what may still change: a refund comes within a month after the end of its payment. */
const KEPT_DAYS = 62;
/** Longer than the longest hold, 366 days: it is settled or voided until then. */
const HOLD_KEPT_DAYS = 400;

/** The books are no archive: what is on record goes some time after it has happened. */
export const removalIndex = { key: { removeAt: 1 }, name: 'remove_at', expireAfterSeconds: 0 } as const;

/** @param at epoch ms */
export function removalOf({ at, isHold }: { at: number; isHold: boolean }): { removeAt: Date } {
  return { removeAt: new Date(at + (isHold ? HOLD_KEPT_DAYS : KEPT_DAYS) * DAY_MS) };
}
