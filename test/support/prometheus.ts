import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RuleFile } from '@gateway/monitoring';
import { createHttpClient } from '@gateway/service-kit';
import { until } from '@gateway/testing';
import { stringify } from 'yaml';
import { callScript } from './call-script';
import { freePort } from './free-port';

/** The internal port of one replica. */
export interface ReplicaTarget {
  service: string;
  port: number;
}

/** One series of an answer, with its last value. */
export interface Sample {
  metric: Readonly<Record<string, string>>;
  value: number;
}

export interface FiringAlert {
  labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
}

/** A real Prometheus that scrapes replicas once a second. */
export interface Prometheus {
  /** @throws Error with Prometheus' sentence if it rejects the expression */
  query(expression: string): Promise<Sample[]>;
  /** Series that the expression had at any moment since the start, with their last values. */
  lasting(expression: string): Promise<Sample[]>;
  /** Alerts in the state "firing". */
  firing(): Promise<FiringAlert[]>;
  stop(): Promise<void>;
}

export interface Programs {
  prometheus: string;
  promtool: string;
}

/** Files of Prometheus' programs. */
export async function prometheusPrograms(): Promise<Programs> {
  const installed = await callScript<Programs | { failure: string }>('install/prometheus.mjs', 'installPrometheus');
  if ('failure' in installed) throw new Error(installed.failure);
  return installed;
}

const SCRAPE_EVERY = '1s';
/** A frozen replica must count as down soon. */
const SCRAPE_TIMEOUT = '900ms';
const START_TIMEOUT_MS = 30_000;
const QUERY_TIMEOUT_MS = 10_000;

/** @param options.token of a caller of kind `metrics`, for replicas that require one */
export async function startPrometheus(options: {
  program: string;
  targets: readonly ReplicaTarget[];
  rules: RuleFile;
  token?: string;
}): Promise<Prometheus> {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-prometheus-'));
  const port = await freePort();
  writeFileSync(join(directory, 'rules.yml'), stringify(options.rules));
  writeFileSync(join(directory, 'token'), options.token ?? 'none');
  writeFileSync(join(directory, 'prometheus.yml'), stringify(configurationOf(options.targets)));
  const args = [
    '--config.file=prometheus.yml',
    '--storage.tsdb.path=data',
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=error',
  ];
  // Ends with this process, however that ends: the shell's standard input closes then.
  const guarded = '"$@" & program=$!; cat >/dev/null; kill -9 $program';
  const child = spawn('sh', ['-c', guarded, 'sh', options.program, ...args], {
    cwd: directory,
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const http = createHttpClient({ baseUrl: `http://127.0.0.1:${port}`, timeoutMs: QUERY_TIMEOUT_MS });
  const isReady = () =>
    http.get('/-/ready').then(
      ({ status }) => status === 200,
      () => false,
    );
  await until('Prometheus to be ready', isReady, START_TIMEOUT_MS);
  const startedAt = Date.now() / 1_000;

  async function ask<Series>(path: string, query: string, times: Record<string, number> = {}): Promise<Series[]> {
    const { data } = await http.get<QueryAnswer<Series>>(path, { params: { query, ...times } });
    if (data.status !== 'success') throw new Error(`${data.error}: ${query}`);
    return data.data.result;
  }

  return {
    async query(expression) {
      const series = await ask<{ metric: Labels; value: Value }>('/api/v1/query', expression);
      return series.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
    },
    async lasting(expression) {
      const times = { start: startedAt, end: Date.now() / 1_000, step: 1 };
      const series = await ask<{ metric: Labels; values: Value[] }>('/api/v1/query_range', expression, times);
      return series.map(({ metric, values }) => ({ metric, value: Number(values.at(-1)?.[1]) }));
    },
    async firing() {
      const { data } = await http.get<AlertsAnswer>('/api/v1/alerts');
      return data.data.alerts.filter(({ state }) => state === 'firing');
    },
    async stop() {
      const gone = once(child, 'exit');
      child.stdin.end();
      await gone;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

type Labels = Record<string, string>;
/** Epoch seconds and the number as text. */
type Value = [number, string];

interface QueryAnswer<Series> {
  status: string;
  error?: string;
  data: { result: Series[] };
}

interface AlertsAnswer {
  data: { alerts: (FiringAlert & { state: string })[] };
}

function configurationOf(targets: readonly ReplicaTarget[]) {
  return {
    global: { scrape_interval: SCRAPE_EVERY, scrape_timeout: SCRAPE_TIMEOUT, evaluation_interval: SCRAPE_EVERY },
    rule_files: ['rules.yml'],
    scrape_configs: [
      {
        job_name: 'payment-gateway',
        honor_labels: true,
        authorization: { credentials_file: 'token' },
        static_configs: targets.map(({ service, port }) => ({ targets: [`127.0.0.1:${port}`], labels: { service } })),
      },
    ],
  };
}
