import { queries } from '@gateway/contracts';
import type { AskOwner } from '@gateway/service-kit';
import type { CardQueries } from '../../application/ports';

/** Asks card-processing about operations. */
export function createCardQueries(ask: AskOwner): CardQueries {
  return {
    outcome: (account, reference) => ask(queries.operation, { reference, account }),
    payment: async (account, reference) => (await ask(queries.operationsOfPayment, { reference, account })) ?? [],
  };
}
