import { RetryableError } from './errors';
import { closeHttpClient, createHttpClient } from './http-client';

const QUERY_TIMEOUT_MS = 3_000;

/**
 * Queries the internal API of the owning service, any replica. Returns undefined for 404, and throws a RetryableError
 * if the owner does not answer correctly in time.
 */
export type AskOwner = <T>(
  path: string,
  params: Readonly<Record<string, string | number>>,
  bounds?: { answerBytesMax: number },
) => Promise<T | undefined>;

export interface OwnerQueries {
  ask: AskOwner;
  close(): void;
}

/** `owner` is the service's name, for errors. */
export function createOwnerQueries(
  owner: string,
  { url, identityToken }: { url: string; identityToken?: string | undefined },
): OwnerQueries {
  const http = createHttpClient({ baseUrl: url, timeoutMs: QUERY_TIMEOUT_MS, identityToken });
  return {
    async ask<T>(...[path, params, bounds]: Parameters<AskOwner>) {
      const size = bounds === undefined ? {} : { maxContentLength: bounds.answerBytesMax };
      const { status, data } = await http.get<T>(path, { params, ...size }).catch((error: unknown) => {
        throw new RetryableError(`${owner} does not answer queries`, { cause: error });
      });
      if (status === 404) return undefined;
      if (status !== 200) throw new RetryableError(`${owner} answers ${status} to a query`);
      return data;
    },
    close: () => closeHttpClient(http),
  };
}
