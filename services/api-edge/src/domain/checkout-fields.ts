import type { RequestTable } from './field-check';
import * as rule from './field-rules';
import { row } from './field-table';

/** The page: by its own id, or by the reference of an attempt on it. `transaction_unique_id` wins if both were sent. */
export type CheckoutExpiry = { readonly transactionUniqueId: string } | { readonly reference: string };

export const CHECKOUT_EXPIRY_TABLE: RequestTable<CheckoutExpiry> = {
  rows: [
    row(
      'transaction_unique_id',
      { beside: 'reference', then: 'optional', otherwise: 'required' },
      rule.knownUniqueId(1),
    ),
    row('reference', 'optional', rule.shortReference),
  ],
  build(found) {
    const transactionUniqueId = found.optionalText('transaction_unique_id');
    return transactionUniqueId === undefined ? { reference: found.text('reference') } : { transactionUniqueId };
  },
};
