import type { RawFields } from './body';
import type { FieldCheck, RequestTable } from './field-check';
import { checkTable } from './field-check';
import * as rule from './field-rules';

/** Of one move. */
export const ADVANCE_MAX_SECONDS = 30 * 24 * 60 * 60;

/** A request to move the clock of a sandbox account, or to read it. */
export interface ClockRequest {
  /** Seconds; undefined reads the clock. */
  readonly advanceSeconds?: number;
}

const CLOCK_TABLE: RequestTable<ClockRequest> = {
  rows: [{ name: 'advance', need: 'optional', read: rule.integer(1, ADVANCE_MAX_SECONDS) }],
  build(found) {
    const advanceSeconds = found.optionalNumber('advance');
    return advanceSeconds === undefined ? {} : { advanceSeconds };
  },
};

/** Step 5 for the clock of a sandbox account. */
export function checkClockFields(fields: RawFields, nowMs: number): FieldCheck<ClockRequest> {
  return checkTable(CLOCK_TABLE, fields, nowMs);
}
