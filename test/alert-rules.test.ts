import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { alertNames, alerts, expressionOf } from '@gateway/monitoring';
import { parse, stringify } from 'yaml';
import { prometheusPrograms } from './support/prometheus';

const root = join(__dirname, '..');
const folder = join(root, 'deploy', 'monitoring', 'prometheus');

let promtool: string;
beforeAll(async () => {
  ({ promtool } = await prometheusPrograms());
}, 300_000);

/** Standard output of promtool, by default in the folder of the committed files. It writes failures there, too. */
async function run(args: readonly string[], cwd = folder): Promise<string> {
  try {
    return (await promisify(execFile)(promtool, args, { cwd })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${stdout}${stderr}`);
  }
}

test('promtool accepts the rules and the configuration', async () => {
  expect(await run(['check', 'rules', 'gateway.rules.yml'])).toContain('SUCCESS');
  // Without the files that it names: secrets are mounted where Prometheus runs.
  for (const file of ['prometheus.yml', 'closed.yml']) {
    expect(await run(['check', 'config', '--syntax-only', file])).toContain('SUCCESS');
  }
});

interface Rule {
  alert?: string;
  record?: string;
  expr: string;
  labels: { slo?: string };
}

interface Group {
  name: string;
  rules: Rule[];
}

interface Cases {
  rule_files: string[];
  tests: { alert_rule_test: { alertname: string }[] }[];
}

const committed = (name: string): unknown => parse(readFileSync(join(folder, name), 'utf8'));
const { groups } = committed('gateway.rules.yml') as { groups: Group[] };
const { tests, ...settings } = committed('gateway.test.yml') as Cases;
const recording = groups.flatMap(({ rules }) => rules.filter(({ record }) => record !== undefined));
const alerting = groups.filter(({ rules }) => rules.every(({ alert }) => alert !== undefined));

/** What Kubernetes tells of a pod. */
const pod = (phase: string, port: string) => ({
  targets: ['10.0.0.7:9105'],
  labels: {
    __meta_kubernetes_namespace: 'payments',
    __meta_kubernetes_pod_name: 'gateway-payout-7d9c',
    __meta_kubernetes_pod_phase: phase,
    __meta_kubernetes_pod_container_port_name: port,
    __meta_kubernetes_pod_label_app_kubernetes_io_name: 'payout',
  },
});

// Debian's Prometheus cannot ask Kubernetes, so pods are written down in place of that.
test('pods of Kubernetes become targets with the labels that alerts need', async () => {
  const { scrape_configs: jobs, ...others } = committed('kubernetes.yml') as {
    scrape_configs: Record<string, unknown>[];
  };
  const [{ kubernetes_sd_configs: discovery, ...job } = {}] = jobs;
  expect(jobs).toHaveLength(1);
  expect(discovery).toMatchObject([{ role: 'pod' }]);
  expect(job).toMatchObject({ honor_labels: true });
  const pods = [pod('Running', 'ops'), pod('Running', 'internal'), pod('Failed', 'ops')];
  const own = mkdtempSync(join(tmpdir(), 'kubernetes-'));
  const file = join(own, 'kubernetes.yml');
  writeFileSync(file, stringify({ ...others, scrape_configs: [{ ...job, static_configs: pods }] }));
  expect(await run(['check', 'config', '--syntax-only', file])).toContain('SUCCESS');
  const found = await run(['check', 'service-discovery', '--timeout=1s', file, 'payment-gateway']);
  rmSync(own, { recursive: true });
  const labelled = (JSON.parse(found) as { labels: object }[]).map(({ labels }) => labels);
  expect(labelled).toHaveLength(pods.length);
  expect(labelled.filter((labels) => Object.keys(labels).length > 0)).toEqual([
    expect.objectContaining({ service: 'payout', namespace: 'payments', pod: 'gateway-payout-7d9c' }),
  ]);
});

const namesIn = ({ rules }: Group): string[] => [...new Set(rules.flatMap(({ alert }) => alert ?? []))];

const casesOf = (name: string): Cases['tests'] =>
  tests.filter((one) => one.alert_rule_test.every(({ alertname }) => alertname === name));

/** The recording rules of the objective that these alerts read. */
const readBy = (alertsOfName: Rule[]): Rule[] =>
  recording.filter(({ labels }) => alertsOfName.some(({ expr }) => expr.includes(`{slo="${labels.slo}"}`)));

test('every case belongs to one alert, and every rule is tried', () => {
  const names = alerting.flatMap(namesIn);
  expect(names.toSorted()).toEqual(alertNames.toSorted());
  expect(names.flatMap(casesOf)).toHaveLength(tests.length);
  expect(tests.length).toBeGreaterThan(alertNames.length);
  expect(new Set(alerting.flatMap(({ rules }) => readBy(rules)))).toEqual(new Set(recording));
  expect(settings.rule_files).toEqual(['gateway.rules.yml']);
});

// promtool evaluates all rules of its files in every minute of a case: with all of them it takes many times as long.
test.each(alerting.map((group) => [group.name, group] as const))(
  'each alert of %s fires in its case, and is silent in a near miss',
  async (title, group) => {
    const own = mkdtempSync(join(tmpdir(), `${title}-`));
    const write = (file: string, content: object): void => writeFileSync(join(own, file), stringify(content));
    for (const name of namesIn(group)) {
      const rules = group.rules.filter(({ alert }) => alert === name);
      write(`${name}.rules.yml`, {
        groups: [
          { name: 'read', rules: readBy(rules) },
          { name: group.name, rules },
        ],
      });
      write(`${name}.test.yml`, { ...settings, rule_files: [`${name}.rules.yml`], tests: casesOf(name) });
    }
    const files = namesIn(group).map((name) => `${name}.test.yml`);
    const output = await run(['test', 'rules', ...files], own);
    expect(output.match(/SUCCESS/g)).toHaveLength(files.length);
    rmSync(own, { recursive: true });
  },
  240_000,
);

test('each alert is named once for each severity, and says one sentence', () => {
  const keys = alerts.map(({ name, severity }) => `${name} ${severity}`);
  expect(keys).toEqual([...new Set(keys)]);
  for (const { name, summary } of alerts) {
    expect(name).toMatch(/^([A-Z][a-z]+)+$/);
    expect(summary.replaceAll(/\{\{ \$labels\.\w+ \}\}/g, 'X')).toMatch(/^[A-Z].+[^.]\.$/);
  }
});

test('a value with alternatives is compared as a whole', () => {
  const when = [[{ value: 'a or b', operator: '>', threshold: 1 } as const]];
  expect(expressionOf({ when })).toBe('(a or b) > 1');
});

/** Paragraphs under "Alerts" in the runbook, by heading. */
function paragraphs(): Map<string, string> {
  const [, section = ''] = readFileSync(join(root, 'docs', 'runbook.md'), 'utf8').split(/^## Alerts$/m);
  const [own = ''] = section.split(/^## /m);
  const parts = own.split(/^### /m).slice(1);
  return new Map(parts.map((part) => [part.slice(0, part.indexOf('\n')), part]));
}

test('the runbook has a paragraph for each alert, and for nothing else', () => {
  expect([...paragraphs().keys()].toSorted()).toEqual([...alertNames].toSorted());
});

test.each([...paragraphs()])(
  'the paragraph of %s says what it means, what to look at, and what to do',
  (name, text) => {
    const [, meaning = '', look = '', act = ''] =
      /^.+\n\n(.+)\n\n- \*\*Look at\*\* (.+)\n- \*\*Do\*\* (.+)\n/.exec(text) ?? [];
    expect({ name, says: [meaning, look, act].map((part) => part.length > 20) }).toEqual({
      name,
      says: [true, true, true],
    });
  },
);
