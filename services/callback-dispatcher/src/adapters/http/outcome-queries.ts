import type { OwnerQueries } from '@gateway/service-kit';
import type { CustomValues } from '../../application/ports';

export interface OutcomeQueries {
  /** Undefined for what the owner does not know. Throws a RetryableError when it does not answer. */
  customValues(merchantAccount: string, reference: string): Promise<CustomValues | undefined>;
  close(): void;
}

/**
 * Asks the service that owns an outcome; takes nothing but the custom values. `path` is where outcomes are found by
 * reference, e.g. `/operations`.
 */
export function createOutcomeQueries({ ask, close }: OwnerQueries, path: string): OutcomeQueries {
  return {
    async customValues(account, reference) {
      const found = await ask<{ custom?: CustomValues }>(`${path}/${encodeURIComponent(reference)}`, { account });
      return found && (found.custom ?? {});
    },
    close,
  };
}
