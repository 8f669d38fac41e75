import type { OperationOutcome } from '@gateway/contracts';
import type { AskOwner } from '@gateway/service-kit';
import type { CardQueries } from '../../application/ports';

/** Asks card-processing about operations. */
export function createCardQueries(ask: AskOwner): CardQueries {
  return {
    outcome: (account, reference) => ask<OperationOutcome>(`/operations/${encodeURIComponent(reference)}`, { account }),
    payment: async (account, reference) =>
      (await ask<OperationOutcome[]>(`/operations/${encodeURIComponent(reference)}/payment`, { account })) ?? [],
  };
}
