import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { About, HttpClientOptions } from '@gateway/service-kit';
import { closeHttpClient, ConfigurationError, createHttpClient, messageOf } from '@gateway/service-kit';

const ANSWER_TIMEOUT_MS = 5_000;
const REPLICAS_MAX = 500;

/** One process of a service, as its internal port shows it. */
export interface Replica {
  readonly service: string;
  /** `api-edge at 10.0.0.7:9100`, for sentences. */
  readonly name: string;
  /** Why it cannot be read; then nothing else is known. */
  readonly silence?: string;
  readonly about?: About;
  /** Names of the checks that fail, if it is not ready. */
  readonly failing: readonly string[];
  /** Value of a metric, the highest if there are several series with these labels. Undefined if there is none. */
  metric(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
}

/** @param urls `name=URL,…` @throws ConfigurationError */
export function parseOpsUrls(urls: string): { service: string; url: URL }[] {
  return urls.split(',').map((entry) => {
    const [, service = '', address = ''] = /^\s*([\w-]+)=(\S+)\s*$/.exec(entry) ?? [];
    if (service === '' || !URL.canParse(address)) {
      throw new ConfigurationError(`Configuration: OPS_URLS has "${entry.trim()}", which is not name=URL.`);
    }
    return { service, url: new URL(address) };
  });
}

type Trust = Pick<HttpClientOptions, 'identityToken' | 'caFile'>;

/** Asks every replica. One that does not answer is part of the result. */
export async function askReplicas(urls: string, trust: Trust): Promise<Replica[]> {
  const addresses = await Promise.all(parseOpsUrls(urls).map(addressesOf));
  return Promise.all(
    addresses
      .flat()
      .slice(0, REPLICAS_MAX)
      .map((one) => askReplica(one, trust)),
  );
}

interface Address {
  service: string;
  url: string;
  /** The name that led to this address, which its certificate has. */
  serverName?: string;
  silence?: string;
}

/** Each address of the host: behind a name there may be several replicas. */
async function addressesOf({ service, url }: { service: string; url: URL }): Promise<Address[]> {
  try {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const found = await lookup(host, { all: true });
    return found.map(({ address, family }) => {
      const own = new URL(url);
      own.hostname = family === 6 ? `[${address}]` : address;
      return { service, url: own.origin, ...(isIP(host) === 0 && { serverName: host }) };
    });
  } catch (error) {
    return [{ service, url: url.origin, silence: messageOf(error) }];
  }
}

async function askReplica({ service, url, serverName, silence }: Address, trust: Trust): Promise<Replica> {
  const name = `${service} at ${new URL(url).host}`;
  const unknown = { service, name, failing: [], metric: () => undefined };
  if (silence !== undefined) return { ...unknown, silence };
  const http = createHttpClient({ baseUrl: url, timeoutMs: ANSWER_TIMEOUT_MS, serverName, ...trust });
  try {
    const [about, ready, metrics] = await Promise.all([
      http.get<About>('/about'),
      http.get<{ checks?: Record<string, boolean> }>('/health/ready'),
      http.get<string>('/metrics'),
    ]);
    const refused = [about, metrics].find(({ status }) => status !== 200);
    if (refused !== undefined) return { ...unknown, silence: `it answers ${refused.status}` };
    return {
      service,
      name,
      about: about.data,
      failing: Object.entries(ready.data.checks ?? {}).flatMap(([check, passes]) => (passes ? [] : [check])),
      metric: metricIn(metrics.data),
    };
  } catch (error) {
    return { ...unknown, silence: messageOf(error) };
  } finally {
    closeHttpClient(http);
  }
}

/** Reads a page of metrics as Prometheus does. */
export function metricIn(page: string): Replica['metric'] {
  return (name, labels = {}) => {
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const series = Array.from(page.matchAll(new RegExp(`^${name}(?:\\{([^}]*)\\})? (\\S+)$`, 'gm')));
    const values = series.flatMap(([, found = '', value]) =>
      wanted.every((label) => found.split(',').includes(label)) ? [Number(value)] : [],
    );
    return values.length === 0 ? undefined : Math.max(...values);
  };
}
