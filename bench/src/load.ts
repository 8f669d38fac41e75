import { Pool } from 'undici';

/** One closed loop: the client sends its next request after the answer to the last one. */
export interface UseCase {
  name: string;
  /** Requests in one round of a client. */
  requestsPerRound: number;
  /** One round of one client; throws when the gateway answers anything but success. */
  round(send: Send): Promise<void>;
  /** Resolves when all work begun by the rounds has ended. */
  drained?(send: Send): Promise<void>;
}

export type Fields = Record<string, unknown>;
export type Send = (path: string, fields: Fields) => Promise<Fields>;

export interface Measurement {
  clients: number;
  /** Rounds per second. */
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
}

const REQUEST_TIMEOUT_MS = 30_000;

/** As many kept connections, each with one request at a time. */
export function openClients(baseUrl: string, connections: number): { send: Send; close(): Promise<void> } {
  const pool = new Pool(baseUrl, {
    connections,
    pipelining: 1,
    bodyTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: REQUEST_TIMEOUT_MS,
  });
  return {
    async send(path, fields) {
      const { body } = await pool.request({
        path,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(fields),
      });
      return (await body.json()) as Fields;
    },
    close: () => pool.close(),
  };
}

/** Drives `clients` closed loops for `warmUpMs` without and then `measureMs` with counting. */
export async function measure(options: {
  baseUrl: string;
  useCase: UseCase;
  clients: number;
  warmUpMs: number;
  measureMs: number;
}): Promise<Measurement> {
  const { send, close } = openClients(options.baseUrl, options.clients);
  const startAt = performance.now() + options.warmUpMs;
  const endAt = startAt + options.measureMs;
  const durationsMs: number[] = [];
  const client = async (): Promise<void> => {
    for (;;) {
      const begun = performance.now();
      if (begun >= endAt) return;
      await options.useCase.round(send);
      const ended = performance.now();
      if (begun >= startAt && ended <= endAt) durationsMs.push(ended - begun);
    }
  };
  await Promise.all(Array.from({ length: options.clients }, client));
  await options.useCase.drained?.(send);
  await close();
  durationsMs.sort((a, b) => a - b);
  return {
    clients: options.clients,
    perSecond: durationsMs.length / (options.measureMs / 1000),
    p50Ms: quantile(durationsMs, 0.5),
    p99Ms: quantile(durationsMs, 0.99),
  };
}

export function quantile(sorted: readonly number[], fraction: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? Number.NaN;
}
