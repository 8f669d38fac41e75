/** Operations in one payment's document (architecture.md, invariant 10). */
export const OPERATIONS_MAX = 100;

/** Merchants' operations leave the rest to the system: the end of a hold always has room for its VOID. */
export const MERCHANTS_OPERATIONS_MAX = 90;

/** Refusals may not use up the places that a later VOID or REFUND needs. */
export const REFUSALS_MAX = 80;
