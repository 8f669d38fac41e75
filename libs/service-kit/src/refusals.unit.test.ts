import { Registry } from 'prom-client';
import { openRefusals, REFUSAL_REASONS } from './refusals';

it('logs a refusal with its source and reason, and counts it', async () => {
  const warn = jest.fn();
  const metrics = new Registry();
  const refuseLogin = openRefusals('login', { logger: { warn }, metrics });
  const refusePage = openRefusals('page', { logger: { warn }, metrics });
  refuseLogin('wrong-credentials', { source: '192.0.2.1', merchantAccount: 'acme_shop' });
  refusePage('foreign-form', { source: '192.0.2.2' });
  expect(warn.mock.calls).toEqual([
    ['a login was refused', { reason: 'wrong-credentials', source: '192.0.2.1', merchantAccount: 'acme_shop' }],
    ['a page was refused', { reason: 'foreign-form', source: '192.0.2.2' }],
  ]);
  const text = await metrics.metrics();
  expect(text).toContain('gateway_refusals_total{kind="login",reason="wrong-credentials"} 1');
  expect(text).toContain('gateway_refusals_total{kind="page",reason="foreign-form"} 1');
});

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8::1', '2001:db8::1'],
  ['fe80::1%4111111111111111', 'fe80::1'],
  ['4111111111111111', 'no address'],
  ['', 'no address'],
])('logs of the source %s the address alone: %s', (source, logged) => {
  const warn = jest.fn();
  openRefusals('page', { logger: { warn }, metrics: new Registry() })('unknown-page', { source });
  expect(warn.mock.calls).toEqual([['a page was refused', { reason: 'unknown-page', source: logged }]]);
});

it('has a series for each reason from the start, so that the first refusal shows as an increase', async () => {
  const metrics = new Registry();
  openRefusals('login', { logger: { warn: jest.fn() }, metrics });
  const text = await metrics.metrics();
  for (const reason of REFUSAL_REASONS.login) expect(text).toContain(`reason="${reason}"} 0`);
});
