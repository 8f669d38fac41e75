import type { RequestTable } from './field-check';
import * as rule from './field-rules';
import { row } from './field-table';

/** What a request is about: `transaction_unique_id` wins if both were sent. */
export type Subject = { readonly transactionUniqueId: string } | { readonly reference: string };

/** Takes one of the two, or both. @param minLength of the id */
export function subjectTable(minLength: number): RequestTable<Subject> {
  return {
    rows: [
      row(
        'transaction_unique_id',
        { beside: 'reference', then: 'optional', otherwise: 'required' },
        rule.knownUniqueId(minLength),
      ),
      row('reference', 'optional', rule.shortReference),
    ],
    build(found) {
      const transactionUniqueId = found.optionalText('transaction_unique_id');
      return transactionUniqueId === undefined ? { reference: found.text('reference') } : { transactionUniqueId };
    },
  };
}
