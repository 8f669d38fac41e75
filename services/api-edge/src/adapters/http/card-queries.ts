import type { OperationOutcome } from '@gateway/contracts';
import { createHttpClient, RetryableError } from '@gateway/service-kit';
import type { CardQueries } from '../../application/ports';

const QUERY_TIMEOUT_MS = 3_000;

/** Asks card-processing, any replica, over its internal query API. */
export function createCardQueries(options: { url: string; serviceToken?: string | undefined }): CardQueries {
  const http = createHttpClient({
    baseUrl: options.url,
    timeoutMs: QUERY_TIMEOUT_MS,
    serviceToken: options.serviceToken,
  });

  async function get<T>(path: string, account: string): Promise<T | undefined> {
    const { status, data } = await ask(() => http.get<T>(path, { params: { account } }));
    if (status === 404) return undefined;
    if (status !== 200) throw new RetryableError(`card-processing answers ${status} to a query`);
    return data;
  }

  return {
    outcome: (account, reference) => get<OperationOutcome>(`/operations/${encodeURIComponent(reference)}`, account),
    payment: async (account, reference) =>
      (await get<OperationOutcome[]>(`/operations/${encodeURIComponent(reference)}/payment`, account)) ?? [],
  };
}

async function ask<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (error) {
    throw new RetryableError('card-processing does not answer queries', { cause: error });
  }
}
