/** Operations in one payment's document (architecture.md, invariant 10). */
export const OPERATIONS_MAX = 100;

/** The rest is for the system, so that an expired hold always has room for its VOID. */
export const MERCHANTS_OPERATIONS_MAX = 90;

/** Leaves places for a later VOID or REFUND. */
export const REFUSALS_MAX = 80;
