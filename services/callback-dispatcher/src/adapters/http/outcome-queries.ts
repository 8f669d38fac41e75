import type { queries } from '@gateway/contracts';
import type { OwnerQueries } from '@gateway/service-kit';
import type { CustomValues } from '../../application/ports';

export interface OutcomeQueries {
  /** Undefined if the owner does not know it. Throws a RetryableError if it does not answer. */
  customValues(merchantAccount: string, reference: string): Promise<CustomValues | undefined>;
  close(): void;
}

/** Queries the service that owns an outcome, and reads only the custom values. */
export function createOutcomeQueries(
  { ask, close }: OwnerQueries,
  query: typeof queries.operation | typeof queries.payout,
): OutcomeQueries {
  return {
    async customValues(account, reference) {
      const found = await ask<{ custom?: CustomValues }>(query, { reference, account });
      return found && (found.custom ?? {});
    },
    close,
  };
}
