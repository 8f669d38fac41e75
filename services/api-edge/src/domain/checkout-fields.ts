import type { RequestTable } from './field-check';
import * as rule from './field-rules';
import { row } from './field-table';

/** A request to close a card-entry page. */
export interface CheckoutExpiry {
  /** Of the page. */
  readonly transactionUniqueId: string;
}

export const CHECKOUT_EXPIRY_TABLE: RequestTable<CheckoutExpiry> = {
  rows: [row('transaction_unique_id', 'required', rule.knownUniqueId(1))],
  build: (found) => ({ transactionUniqueId: found.text('transaction_unique_id') }),
};
