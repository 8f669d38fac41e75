import { closeHttpClient, createHttpClient, RetryableError } from '@gateway/service-kit';
import type { CustomValues } from '../../application/ports';

const QUERY_TIMEOUT_MS = 3_000;

export interface OutcomeQueries {
  /** Throws a RetryableError when the owner does not answer. */
  customValues(merchantAccount: string, reference: string): Promise<CustomValues | undefined>;
  close(): void;
}

/**
 * Asks the service that owns an outcome, any replica, over its internal query API; takes nothing but the custom values.
 * `path` is where outcomes are found by reference, e.g. `/operations`.
 */
export function createOutcomeQueries(
  service: string,
  { url, path, serviceToken }: { url: string; path: string; serviceToken?: string | undefined },
): OutcomeQueries {
  const http = createHttpClient({ baseUrl: url, timeoutMs: QUERY_TIMEOUT_MS, serviceToken });

  async function ask(account: string, reference: string): Promise<{ status: number; data: { custom?: CustomValues } }> {
    try {
      return await http.get(`${path}/${encodeURIComponent(reference)}`, { params: { account } });
    } catch (error) {
      throw new RetryableError(`${service} does not answer queries`, { cause: error });
    }
  }

  return {
    async customValues(account, reference) {
      const { status, data } = await ask(account, reference);
      if (status === 404) return undefined;
      if (status !== 200) throw new RetryableError(`${service} answers ${status} to a query`);
      return data.custom ?? {};
    },
    close: () => closeHttpClient(http),
  };
}
