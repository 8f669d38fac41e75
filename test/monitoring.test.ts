import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Secret, TEST_CARDS } from '@gateway/contracts';
import { topicOf } from '@gateway/messaging';
import { alerts, dashboards, ruleFile } from '@gateway/monitoring';
import type { TestCallers } from '@gateway/testing';
import { createCallers, createCertificate, until } from '@gateway/testing';
import { testSettings } from '../services/payout/src/adapters/banks/iso20022/iso20022.fixture';
import { get, press } from './support/form-client';
import type { GatewayProcesses } from './support/gateway-processes';
import { startGateway } from './support/gateway-processes';
import type { Merchant } from './support/merchant';
import { startMerchant } from './support/merchant';
import { payout, PAYOUT_PATH, QUERY_PATH, STATUS_PATH } from './support/payouts';
import type { Prometheus } from './support/prometheus';
import { prometheusPrograms, startPrometheus } from './support/prometheus';
import type { Body } from './support/system';
import { cardRequest, checkOf, clientOf, CREDENTIALS, followUp, post, recordsOf, tokenRequest } from './support/system';
import { publishAgain } from './support/topics';

const START_TIMEOUT_MS = 240_000;
const CHALLENGE_SECONDS = '8';
const UNKNOWN_OUTCOME = 11;
const BRIEF = ['gateway_outbound_party_calls', 'callback_in_flight_by_account', 'gateway_account_requests_concurrent'];
const PASSWORD = 'the_password';

let callers: TestCallers;
let files: Record<string, string>;
let merchant: Merchant;
let gateway: GatewayProcesses;
let prometheus: Prometheus;

beforeAll(async () => {
  const { prometheus: program } = await prometheusPrograms();
  callers = createCallers();
  files = testSettings();
  merchant = await startMerchant();
  const caFile = `${callers.file}.ca.pem`;
  writeFileSync(caFile, merchant.ca);
  gateway = await startGateway('monitoring', {
    settings: {
      ...files,
      PAYOUT_BANK: 'iso20022',
      CALLERS_FILE: callers.file,
      CALLBACK_RETRY_SCHEDULE: '1',
      CHALLENGE_TIMEOUT_SECONDS: CHALLENGE_SECONDS,
      REPLY_TIMEOUT_MS: '4000',
      SIMULATOR_TIMEOUT_MS: '3000',
      NODE_EXTRA_CA_CERTS: caFile,
    },
    settingsOf: (service) => ({
      IDENTITY_TOKEN: callers.token(service === 'callback-dispatcher' ? 'callback-dispatcher' : 'api-edge'),
      // Reached from other machines, its metrics are for those with a token.
      ...(service === 'payout' ? { INTERNAL_HOST: '0.0.0.0', DEVELOPMENT_REACH: 'network' } : {}),
    }),
  });
  await startEdgeWithCertificate();
  await workload();
  prometheus = await startPrometheus({
    program,
    rules: ruleFile(),
    token: callers.token('metrics'),
    targets: gateway.all().map(([service, { opsUrl }]) => ({ service, port: Number(new URL(opsUrl).port) })),
  });
  await until('answers of all replicas', allAnswer, 60_000);
  await callsUnderWay();
  await until('rates of the recorded objectives', async () => (await prometheus.query('slo:burn_rate:3d')).length >= 4);
}, START_TIMEOUT_MS);

afterAll(async () => {
  await prometheus.stop();
  await gateway.stop();
  await merchant.close();
  rmSync(dirname(files['ISO20022_OUTBOX_DIR'] ?? ''), { recursive: true, force: true });
  callers.remove();
});

async function startEdgeWithCertificate(): Promise<void> {
  const { cert, key } = await createCertificate();
  const settings = { PORT: '0', TLS_CERT_FILE: `${callers.file}.cert.pem`, TLS_KEY_FILE: `${callers.file}.key.pem` };
  writeFileSync(settings.TLS_CERT_FILE, cert);
  writeFileSync(settings.TLS_KEY_FILE, key);
  await gateway.start({ service: 'api-edge', settings });
}

/** The same in each run, and everything that has series of its own. */
async function workload(): Promise<void> {
  await withoutProcessor();
  await Promise.all([cardOperations(), authentications(), payouts(), velocityDeclines(), refusals()]);
}

const send = async (fields: Body): Promise<Body> => (await post(gateway.http, fields)).data;

/** An outcome that the edge does not learn in time. */
async function withoutProcessor(): Promise<void> {
  await gateway.running('card-processing').end('SIGTERM');
  expect(await send(cardRequest('SALE'))).toMatchObject({ code: UNKNOWN_OUTCOME });
  await gateway.start({ service: 'card-processing' });
}

async function cardOperations(): Promise<void> {
  expect(await send(cardRequest('SALE'))).toMatchObject({ code: 0 });
  expect(await send(cardRequest('SALE', { amount: '31.01' }))).toMatchObject({ code: 3101 });
  expect(await send(cardRequest('SALE', { amount: '31.24' }))).toMatchObject({ code: 3124 });
  const settled = await send(cardRequest('AUTH'));
  const { reference } = await send(followUp('SETTLE', settled['reference']));
  expect(await send(followUp('REFUND', reference))).toMatchObject({ code: 0 });
  const voided = await send(cardRequest('AUTH'));
  expect(await send(followUp('VOID', voided['reference']))).toMatchObject({ code: 0 });
  expect(await send(tokenRequest('SALE', voided['token']))).toMatchObject({ code: 0 });
  expect(await send(checkOf({ reference }))).toMatchObject({ code: 0 });
  expect(await send({ transaction_type: 'NOTHING' })).not.toMatchObject({ code: 0 });
}

/** With a challenge that succeeds, one that nobody answers, none, and a callback that nobody takes. */
async function authentications(): Promise<void> {
  const sale3d = (card_number: string, path = '/callback') =>
    send(
      cardRequest('SALE3D', {
        card_number,
        callback_url: `${merchant.url}${path}`,
        redirect_url: `${merchant.url}/back`,
      }),
    );
  const left = await sale3d(TEST_CARDS.challenged.visa);
  const challenged = await sale3d(TEST_CARDS.challenged.visa);
  await press(await press(await get(String(challenged['acs_url']))), /success/i);
  await merchant.callbackOf(challenged['reference']);
  expect(await sale3d(TEST_CARDS.frictionless.visa, '/nowhere')).toMatchObject({ code: 0 });
  await sale3d(TEST_CARDS.unavailable.visa);
  await until(
    'the end of the challenge that nobody answers',
    async () => recordsOf(await send(checkOf({ reference: left['reference'] })))[0]?.status !== 'PENDING',
    60_000,
  );
}

async function payouts(): Promise<void> {
  const to = async (path: string, fields: Body) =>
    (await gateway.http.post<Body>(path, { ...CREDENTIALS, ...fields })).data;
  for (const amount of ['10.00', '31.01', '31.24']) {
    const { reference } = await to(PAYOUT_PATH, payout({ amount, callback_url: `${merchant.url}/callback` }));
    if (amount !== '31.24') await merchant.callbackOf(reference);
    await to(STATUS_PATH, checkOf({ reference }));
  }
  await to(QUERY_PATH, { qod_type: 'transactions', time_from: 0, time_to: 4_102_444_800 });
  // A report that is none.
  writeFileSync(join(files['ISO20022_INBOX_DIR'] ?? '', 'report.xml'), '<nothing/>');
}

async function velocityDeclines(): Promise<void> {
  const { administration } = gateway.accounts;
  const merchantAccount = 'guarded_shop';
  const testCardRules = [{ kind: 'attempts', by: 'account', max: 1, windowSeconds: 3_600 }] as const;
  await administration.create({ merchantAccount, password: new Secret(PASSWORD), settings: { testCardRules } });
  await administration.changeState(merchantAccount, 'activate');
  const own = { merchant_account: merchantAccount, merchant_password: PASSWORD };
  const answers = [await send(cardRequest('SALE', own)), await send(cardRequest('SALE', own))];
  expect(answers).toMatchObject([{ code: 0 }, { code: 3202 }]);
}

/** A message that is none, a caller without an identity, a page that does not exist. */
async function refusals(): Promise<void> {
  const { topicPrefix } = gateway.space;
  const topic = topicOf(topicPrefix, 'cardCommands');
  await publishAgain(gateway.space, [{ topic, partition: 0, offset: '0', key: 'nothing', value: '{}', headers: {} }]);
  const stranger = await fetch(`${gateway.env['CARD_QUERY_URL']}/operations/X`);
  expect(stranger.status).toBe(401);
  expect((await gateway.http.get('/checkout/AAAAAAAAAAAAAAAAAAAAAA')).status).toBe(404);
  const { port } = new URL(gateway.running('card-processing').opsUrl);
  const isSetAside = async () =>
    /messages_consumed_total\{[^}]*outcome="dead_lettered"[^}]*\} [1-9]/.test(
      (await clientOf(Number(port)).get<string>('/metrics')).data,
    );
  await until('the dead letter', isSetAside);
}

async function allAnswer(): Promise<boolean> {
  const answering = (await prometheus.query('up')).filter(({ value }) => value === 1);
  return answering.length === gateway.all().length;
}

/** Some series last only as long as a call to an acquirer, a bank or a merchant. Both banks stay silent for 31.09. */
async function callsUnderWay(): Promise<void> {
  const release = merchant.hold();
  const callback_url = `${merchant.url}/callback`;
  const redirect_url = `${merchant.url}/back`;
  await send(cardRequest('SALE3D', { card_number: TEST_CARDS.frictionless.visa, callback_url, redirect_url }));
  const silent = send(cardRequest('SALE', { amount: '31.09' }));
  await gateway.http.post(PAYOUT_PATH, { ...CREDENTIALS, ...payout({ amount: '31.09', callback_url }) });
  for (const calls of BRIEF)
    await until(`a sample of ${calls}`, async () => (await prometheus.lasting(calls)).length > 0);
  release();
  await silent;
}

/** What Grafana puts in place of a dashboard's variables. */
const filledIn = (expression: string): string =>
  expression.replaceAll(/\$(service|instance)\b/g, '.+').replaceAll('$__rate_interval', '1m');

/** The selectors of an expression: an `or` must not hide a metric that does not exist. */
function selectorsOf(expression: string): string[] {
  const bare = expression
    .replaceAll(/([=~]?)"[^"]*"/g, (quoted, operator: string) => (operator === '' ? '""' : quoted))
    .replaceAll(/\b(by|on|without|ignoring) \([^)]*\)/g, '');
  return Array.from(
    bare.matchAll(/\b(?:up|slo:[\w:]+|[a-z][a-z0-9]*_[a-z0-9_]+)\b(?![\w:]*\()(?:\{[^}]*\})?/g),
    ([selector]) => selector,
  );
}

/** Of an installation with client certificates, and of kube-state-metrics. promtool tries what compares them. */
const ELSEWHERE = ['gateway_client_certificate_days_left', 'kube_job_failed'];
const isElsewhere = (expression: string): boolean => ELSEWHERE.some((metric) => expression.includes(metric));

/** Those of these expressions, and of their selectors, that have no series. */
async function withoutSeries(expressions: readonly string[]): Promise<string[]> {
  const all = [...new Set(expressions.map(filledIn).flatMap((expression) => [expression, ...selectorsOf(expression)]))];
  const missing: string[] = [];
  for (const expression of all) if ((await prometheus.lasting(expression)).length === 0) missing.push(expression);
  return missing;
}

test.each(dashboards.map((dashboard) => [dashboard.title, dashboard] as const))(
  'every query of "%s" has series',
  async (_title, { rows, variables = [] }) => {
    const queries = rows.flatMap(({ panels }) => panels.flatMap((panel) => panel.queries.map(({ expr }) => expr)));
    expect(await withoutSeries([...queries, ...variables.map(({ of }) => of)])).toEqual([]);
  },
);

test('everything that an alert compares has series', async () => {
  const values = alerts.flatMap(({ when }) => when.flat().map(({ value }) => value));
  expect(values.filter(isElsewhere)).toHaveLength(ELSEWHERE.length);
  expect(await withoutSeries(values.filter((value) => !isElsewhere(value)))).toEqual([]);
});

test('everything that is recorded has series', async () => {
  const recorded = ruleFile().groups.flatMap(({ rules }) => rules.flatMap((rule) => ('record' in rule ? [rule] : [])));
  expect(await withoutSeries(recorded.flatMap(({ record, expr }) => [record, expr]))).toEqual([]);
});

test('a replica that requires a token gives its metrics to no one else', async () => {
  const { opsUrl } = gateway.running('payout');
  expect((await fetch(`${opsUrl}/metrics`)).status).toBe(401);
});

test('a metric that does not exist is noticed', async () => {
  expect(await withoutSeries(['sum(rate(gateway_no_such_total{a="b"}[5m])) or vector(0)'])).toEqual([
    'gateway_no_such_total{a="b"}',
  ]);
});
