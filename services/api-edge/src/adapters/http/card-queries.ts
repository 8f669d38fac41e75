import type { OperationOutcome } from '@gateway/contracts';
import type { CardQueries } from '../../application/ports';
import type { OwnerOptions } from './owner-queries';
import { createOwnerQueries } from './owner-queries';

/** Asks card-processing about operations. */
export function createCardQueries(options: OwnerOptions): CardQueries {
  const ask = createOwnerQueries('card-processing', options);
  return {
    outcome: (account, reference) => ask<OperationOutcome>(`/operations/${encodeURIComponent(reference)}`, { account }),
    payment: async (account, reference) =>
      (await ask<OperationOutcome[]>(`/operations/${encodeURIComponent(reference)}/payment`, { account })) ?? [],
  };
}
