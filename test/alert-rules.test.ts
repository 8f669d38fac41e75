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
  expect(await run(['check', 'config', '--syntax-only', 'prometheus.yml'])).toContain('SUCCESS');
});

interface Group {
  name: string;
  rules: { alert?: string; record?: string; expr: string }[];
}

interface Cases {
  rule_files: string[];
  tests: { alert_rule_test: { alertname: string }[] }[];
}

const committed = (name: string): unknown => parse(readFileSync(join(folder, name), 'utf8'));
const { groups } = committed('gateway.rules.yml') as { groups: Group[] };
const { tests, ...settings } = committed('gateway.test.yml') as Cases;
const recording = groups.filter(({ rules }) => rules.some(({ record }) => record !== undefined));
const alerting = groups.filter((group) => !recording.includes(group));

const casesOf = ({ rules }: Group): Cases['tests'] =>
  tests.filter((one) => one.alert_rule_test.every(({ alertname }) => rules.some(({ alert }) => alert === alertname)));

/** The recording rules whose results a group reads. */
const readBy = ({ rules }: Group): Group[] =>
  recording.filter((group) => group.rules.some(({ record = '' }) => rules.some(({ expr }) => expr.includes(record))));

test('every case belongs to one group of alerts', () => {
  expect(alerting.flatMap(casesOf)).toHaveLength(tests.length);
  expect(tests.length).toBeGreaterThan(alertNames.length);
  expect(settings.rule_files).toEqual(['gateway.rules.yml']);
});

// promtool evaluates all rules of its files in every minute of a case: it takes three times as long with all of them.
test.each(alerting.map((group) => [group.name, group] as const))(
  'each alert of %s fires in its case, and is silent in a near miss',
  async (name, group) => {
    const own = mkdtempSync(join(tmpdir(), `${name}-`));
    const write = (file: string, content: object): void => writeFileSync(join(own, file), stringify(content));
    write('rules.yml', { groups: [...readBy(group), group] });
    write('test.yml', { ...settings, rule_files: ['rules.yml'], tests: casesOf(group) });
    expect(await run(['test', 'rules', 'test.yml'], own)).toContain('SUCCESS');
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
