import type { RequestTable } from './field-check';
import * as rule from './field-rules';
import { row } from './field-table';

/** Of one move. */
export const ADVANCE_MAX_SECONDS = 30 * 24 * 60 * 60;

/** A request to move the clock of a sandbox account, or to read it. */
export interface ClockRequest {
  /** Seconds; undefined reads the clock. */
  readonly advanceSeconds?: number;
}

/** The fields of a request about the clock. */
export const CLOCK_TABLE: RequestTable<ClockRequest> = {
  rows: [row('advance', 'optional', rule.integer(1, ADVANCE_MAX_SECONDS, 3_600))],
  build(found) {
    const advanceSeconds = found.optionalNumber('advance');
    return advanceSeconds === undefined ? {} : { advanceSeconds };
  },
};
