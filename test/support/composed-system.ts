import type { Simulator } from '@gateway/simulator';
import { createHttpClient } from '@gateway/service-kit';
import type { LedgerEntry, System } from './system';
import { post } from './system';

/** The accounts that tests use: the demo accounts, or where those may not be, two with the same settings. */
export interface TestAccounts {
  merchant: { name: string; password: string; payoutSecret: string };
  /** With custom parameters and a payout fee. */
  custom: { name: string; password: string; payoutSecret: string };
}

/** A gateway in containers, as `npm run test:compose` describes it in COMPOSED. */
export interface Composed {
  /** `scale` and `cluster` are the development system with a profile. */
  readonly name: 'development' | 'scale' | 'cluster' | 'production';
  /** Compose itself, with the options that select the system. */
  readonly command: readonly string[];
  readonly project: string;
  readonly files: readonly string[];
  /** Of this run. */
  readonly directory: string;
  readonly urls: { readonly api: string; readonly threeds: string; readonly simulator: string };
  /** The variables of the Compose files. */
  readonly environment: Readonly<Record<string, string>>;
  /** By whose name services in containers reach this machine. */
  readonly merchant: string;
}

/** Undefined where services run in this process, which is everywhere but under `npm run test:compose`. */
export const composed = fromEnvironment<Composed>('COMPOSED');

export function fromEnvironment<T>(name: string): T | undefined {
  const text = process.env[name];
  return text === undefined ? undefined : (JSON.parse(text) as T);
}

const TIMEOUT_MS = 40_000;

/** The composed gateway as a {@link System}: it runs already, and shows no more than merchants and its banks see. */
export function composedSystem({ urls }: Composed): System {
  const http = createHttpClient({ baseUrl: urls.api, timeoutMs: TIMEOUT_MS });
  const banks = createHttpClient({ baseUrl: urls.simulator, timeoutMs: TIMEOUT_MS });
  const runsAlready = async () => ({ stop: async () => undefined }) as never;
  const hidden = (): never => {
    throw new Error('in containers there is nothing to look into: this test needs services of this process');
  };
  return {
    env: { PUBLIC_BASE_URL: urls.api, THREEDS_PUBLIC_URL: urls.threeds, SIMULATOR_URL: urls.simulator },
    http,
    send: (fields, headers) => post(http, fields, headers),
    async ledger(reference) {
      const { data } = await banks.get<{ entries: LedgerEntry[] }>('/ledger', { params: { reference } });
      return data.entries;
    },
    startEdge: hidden,
    startProcessor: runsAlready,
    startThreeds: runsAlready,
    startPayouts: runsAlready,
    startExpiry: runsAlready,
    startDispatcher: runsAlready,
    metrics: hidden,
    readiness: hidden,
    stop: async () => undefined,
    get space(): never {
      return hidden();
    },
    get accounts(): never {
      return hidden();
    },
    get simulator(): Simulator {
      return hidden();
    },
    get edge(): never {
      return hidden();
    },
  };
}
