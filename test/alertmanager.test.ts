import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { alertmanagerFile, alerts } from '@gateway/monitoring';
import { callScript } from './support/call-script';

const FILE = join(__dirname, '..', 'deploy', 'monitoring', 'alertmanager', 'alertmanager.yml');
const SERVICES = ['api-edge', 'card-processing', 'threeds', 'payout', 'auth-expiry', 'callback-dispatcher'];

type Labels = Readonly<Record<string, string>>;

let amtool: string;
beforeAll(async () => {
  const installed = await callScript<{ amtool: string } | { failure: string }>(
    'install/prometheus.mjs',
    'installAlertmanager',
  );
  if ('failure' in installed) throw new Error(installed.failure);
  ({ amtool } = installed);
}, 300_000);

const run = async (args: readonly string[]): Promise<string> => (await promisify(execFile)(amtool, args)).stdout.trim();

test('amtool accepts the example', async () => {
  expect(await run(['check-config', FILE])).toContain('SUCCESS');
});

test.each([
  ['page', 'page'],
  ['ticket', 'ticket'],
  ['none', 'watchdog'],
])('severity %s goes to %s', async (severity, receiver) => {
  expect(await run(['config', 'routes', 'test', `--config.file=${FILE}`, `severity=${severity}`])).toBe(receiver);
});

/** As Alertmanager's matchers: `name="value"`, or `name=~"pattern"` of the whole value. */
function matches(matchers: readonly string[], labels: Labels): boolean {
  return matchers.every((matcher) => {
    const [, name = '', operator, value = ''] = /^(\w+)(=~?)"(.*)"$/.exec(matcher) ?? [];
    const own = labels[name] ?? '';
    return operator === '=' ? own === value : value.split('|').includes(own);
  });
}

/** Whether another alert that fires keeps this one silent. An alert on both sides of a rule does not silence itself. */
function isInhibited(target: Labels, firing: readonly Labels[]): boolean {
  return alertmanagerFile().inhibit_rules.some(
    ({ source_matchers: sources, target_matchers: targets, equal = [] }) =>
      matches(targets, target) &&
      firing.some(
        (source) =>
          source !== target &&
          matches(sources, source) &&
          !matches(targets, source) &&
          equal.every((name) => (source[name] ?? '') === (target[name] ?? '')),
      ),
  );
}

function fire(alertname: string, labels: Labels = {}, severity?: string): Labels {
  const found = alerts.find((alert) => alert.name === alertname);
  if (found === undefined) throw new Error(`there is no alert ${alertname}`);
  return { alertname, severity: severity ?? found.severity, ...labels };
}

const told = (firing: readonly Labels[], severity: string) =>
  firing
    .filter((one) => one['severity'] === severity && !isInhibited(one, firing))
    .map(({ alertname, service }) => [alertname, service]);

test('MongoDB that is killed pages once, with the services that notice it, and not for what follows', () => {
  const firing = [
    ...['ApiErrors', 'ApiSlow', 'OutcomesLate'].flatMap((name) =>
      ['page', 'ticket'].map((severity) => fire(name, { slo: name }, severity)),
    ),
    fire('OutboxStuck', { service: 'payout', collection: 'payouts' }),
    ...SERVICES.map((service) => fire('ServiceNotReady', { service, check: 'database' })),
    ...SERVICES.map((service) => fire('ReplicaNotReady', { service, check: 'database', instance: 'a' })),
    fire('DeadLetters', { service: 'payout' }),
  ];
  expect(told(firing, 'page')).toEqual(SERVICES.map((service) => ['ServiceNotReady', service]));
  expect(told(firing, 'ticket')).toEqual([['DeadLetters', 'payout']]);
  // One message: pages of all services are one group.
  expect(alertmanagerFile().route.group_by).toEqual(['severity']);
});

test('without such a cause, what merchants notice pages, and its ticket does not come too', () => {
  const firing = ['page', 'ticket'].map((severity) => fire('ApiSlow', { slo: 'api-latency' }, severity));
  expect([told(firing, 'page').length, told(firing, 'ticket').length]).toEqual([1, 0]);
});

test('another fault beside an outage still pages', () => {
  const firing = [
    fire('ServiceDown', { service: 'payout' }),
    fire('OutcomeUnrecorded', { service: 'card-processing' }),
  ];
  expect(told(firing, 'page')).toHaveLength(2);
});

test('every alert that the example names is one', () => {
  const named = alertmanagerFile().inhibit_rules.flatMap(({ source_matchers: source, target_matchers: target }) =>
    [...source, ...target].flatMap((matcher) => /^alertname=~?"(.+)"$/.exec(matcher)?.[1]?.split('|') ?? []),
  );
  expect(named.length).toBeGreaterThan(8);
  for (const name of named) expect([name, alerts.some((alert) => alert.name === name)]).toEqual([name, true]);
});
