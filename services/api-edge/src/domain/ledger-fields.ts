import type { RequestTable } from './field-check';
import * as rule from './field-rules';
import { row } from './field-table';

const REFERENCE_LENGTH_MAX = 20;

/** A look at what the simulated banks did. */
export interface LedgerRequest {
  /** Of a card operation or a payout. */
  readonly reference: string;
}

/** The fields of a request about the ledger. */
export const LEDGER_TABLE: RequestTable<LedgerRequest> = {
  rows: [row('reference', 'required', rule.text(1, REFERENCE_LENGTH_MAX))],
  build: (found) => ({ reference: found.text('reference') }),
};
