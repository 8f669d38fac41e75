import type { OperationOutcome } from '@gateway/contracts';
import { closeHttpClient, createHttpClient, RetryableError } from '@gateway/service-kit';
import type { Ports } from '../../application/ports';

const QUERY_TIMEOUT_MS = 3_000;

export interface CardQueries {
  customValues: Ports['customValues'];
  close(): void;
}

/** Asks card-processing, any replica, over its internal query API; takes nothing but the custom values. */
export function createCardQueries(options: { url: string; serviceToken?: string | undefined }): CardQueries {
  const http = createHttpClient({
    baseUrl: options.url,
    timeoutMs: QUERY_TIMEOUT_MS,
    serviceToken: options.serviceToken,
  });
  return {
    async customValues(account, reference) {
      const path = `/operations/${encodeURIComponent(reference)}`;
      const { status, data } = await answered(() => http.get<OperationOutcome>(path, { params: { account } }));
      if (status === 404) return undefined;
      if (status !== 200) throw new RetryableError(`card-processing answers ${status} to a query`);
      return data.custom ?? {};
    },
    close: () => closeHttpClient(http),
  };
}

async function answered<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (error) {
    throw new RetryableError('card-processing does not answer queries', { cause: error });
  }
}
