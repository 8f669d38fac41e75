import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { alertNames, alerts, expressionOf } from '@gateway/monitoring';
import { prometheusPrograms } from './support/prometheus';

const root = join(__dirname, '..');
const folder = join(root, 'deploy', 'monitoring', 'prometheus');

let promtool: string;
beforeAll(async () => {
  ({ promtool } = await prometheusPrograms());
}, 300_000);

/** Standard output of promtool in the folder of the committed files. It writes failures there, too. */
async function run(...args: string[]): Promise<string> {
  try {
    return (await promisify(execFile)(promtool, args, { cwd: folder })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${stdout}${stderr}`);
  }
}

test('promtool accepts the rules and the configuration', async () => {
  expect(await run('check', 'rules', 'gateway.rules.yml')).toContain('SUCCESS');
  // Without the files that it names: secrets are mounted where Prometheus runs.
  expect(await run('check', 'config', '--syntax-only', 'prometheus.yml')).toContain('SUCCESS');
});

test('each alert fires in its case, and is silent in a near miss', async () => {
  expect(await run('test', 'rules', 'gateway.test.yml')).toContain('SUCCESS');
}, 240_000);

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
