import { isAxiosError } from 'axios';
import { RetryableError } from './errors';
import { closeHttpClient, createHttpClient } from './http-client';

/** Who asks an owner waits no longer for the whole answer. */
export const OWNER_QUERY_TIMEOUT_MS = 3_000;
/** The address may lead to a replica that starts or has just ended (ADR 0023). The next connection may find another. */
const CONNECTIONS_MAX = 3;

/** A query that its owner declares. */
interface Query<Answer> {
  /** Default: GET. */
  readonly method?: 'POST';
  /** With its parameters, e.g. `/operations/:reference`. */
  readonly path: string;
  /** The problem of an answer; undefined if it is valid. */
  readonly problem: (answer: unknown) => string | undefined;
  readonly __answer?: Answer;
}

/**
 * Queries the internal API of the owning service, any replica. Parameters that the path does not name go into the query
 * string. Returns undefined for 404, and throws a RetryableError if the owner does not answer correctly in time.
 */
export type AskOwner = <Answer>(
  query: Query<Answer>,
  parameters: Readonly<Record<string, string | number>>,
  bounds?: { answerBytesMax: number },
) => Promise<Answer | undefined>;

export interface OwnerQueries {
  ask: AskOwner;
  close(): void;
}

/** `owner` is the service's name, for errors. */
export function createOwnerQueries(
  owner: string,
  { url: baseUrl, ...trust }: { url: string; identityToken?: string | undefined; caFile?: string | undefined },
): OwnerQueries {
  const http = createHttpClient({ baseUrl, timeoutMs: OWNER_QUERY_TIMEOUT_MS, ...trust });
  return {
    async ask<Answer>(...[query, parameters, bounds]: Parameters<AskOwner>) {
      const size = bounds === undefined ? {} : { maxContentLength: bounds.answerBytesMax };
      const { method = 'GET', path } = query;
      const request = { method, ...addressed(path, parameters), ...size };
      const { status, data } = await connected(() => http.request<unknown>(request)).catch((error: unknown) => {
        throw new RetryableError(`${owner} does not answer queries`, { cause: error });
      });
      if (status === 404) return undefined;
      if (status !== 200) throw new RetryableError(`${owner} answers ${status} to a query`);
      const problem = query.problem(data);
      if (problem !== undefined) throw new RetryableError(`${owner} answers a query wrongly: ${problem}`);
      return data as Answer;
    },
    close: () => closeHttpClient(http),
  };
}

/** Calls again at once while the connection is refused: nothing has been asked then. */
async function connected<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  for (let connections = 1; ; connections += 1) {
    try {
      return await call();
    } catch (error) {
      const refused = isAxiosError(error) && error.code === 'ECONNREFUSED';
      if (!refused || connections === CONNECTIONS_MAX) throw error;
    }
  }
}

const PATH_PARAMETER = /:(\w+)/g;

/** The path of a request, with the parameters that it names, and the others. */
function addressed(path: string, parameters: Readonly<Record<string, string | number>>) {
  const rest = { ...parameters };
  const filled = path.replaceAll(PATH_PARAMETER, (_, name: string) => {
    const value = parameters[name];
    if (value === undefined) throw new Error(`broken invariant: a query of ${path} without ${name}`);
    delete rest[name];
    return encodeURIComponent(value);
  });
  return { url: filled, params: rest };
}
