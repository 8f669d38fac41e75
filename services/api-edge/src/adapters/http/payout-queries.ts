import { queries } from '@gateway/contracts';
import type { AskOwner } from '@gateway/service-kit';
import { RetryableError } from '@gateway/service-kit';
import type { PayoutQueries } from '../../application/ports';

/** A page of 1,000 payouts, each with all custom parameters at generous length. */
const PAGE_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Asks the payout service about payouts.
 *
 * @param askForList over connections of its own
 */
export function createPayoutQueries(ask: AskOwner, askForList: AskOwner): PayoutQueries {
  return {
    outcome: (account, reference) => ask(queries.payout, { reference, account }),
    async list(account, query) {
      const bounds = { answerBytesMax: PAGE_BYTES_MAX };
      const page = await askForList(queries.payouts, { account, ...query }, bounds);
      if (page === undefined) throw new RetryableError('payout answers 404 to a query for a list');
      return page.payouts;
    },
    async onRecord(references) {
      const found = await ask(queries.payoutsOnRecord, { reference: references.join(',') });
      if (found === undefined) throw new RetryableError('payout answers 404 to a batch query');
      return found.references;
    },
  };
}
