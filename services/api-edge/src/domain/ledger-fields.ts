import type { RequestTable } from './field-check';
import * as rule from './field-rules';
import { row } from './field-table';

/** A look at what the simulated banks did. */
export interface LedgerRequest {
  /** Of a card operation or a payout. */
  readonly reference: string;
}

/** The fields of a request about the ledger. */
export const LEDGER_TABLE: RequestTable<LedgerRequest> = {
  rows: [row('reference', 'required', rule.shortReference)],
  build: (found) => ({ reference: found.text('reference') }),
};
