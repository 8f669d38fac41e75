import type { CallerKind } from '@gateway/service-kit';
import { CALLER_KINDS } from '@gateway/service-kit';
import type { TestCallers } from '@gateway/testing';
import { createCallers, until } from '@gateway/testing';
import type { Merchant } from './support/merchant';
import { startMerchant } from './support/merchant';
import { payout, payoutClient, PAYOUT_PATH } from './support/payouts';
import type { Body, System } from './support/system';
import { cardRequest, checkOf, CREDENTIALS, startSystem } from './support/system';

let callers: TestCallers;
let merchant: Merchant;
let system: System;
let ports: Record<'card-processing' | 'payout' | 'callback-dispatcher', string>;

beforeAll(async () => {
  callers = createCallers();
  merchant = await startMerchant();
  const settings = { CALLERS_FILE: callers.file, IDENTITY_TOKEN: callers.token('api-edge') };
  system = await startSystem('ids', { withPayouts: true, settings });
  const own = { IDENTITY_TOKEN: callers.token('callback-dispatcher') };
  const dispatcher = await system.startDispatcher(merchant.ca, own);
  ports = {
    'card-processing': system.env['CARD_QUERY_URL'] ?? '',
    payout: system.env['PAYOUT_QUERY_URL'] ?? '',
    'callback-dispatcher': `http://127.0.0.1:${dispatcher.ports.admin}`,
  };
});
afterAll(async () => {
  await system.stop();
  await merchant.close();
  callers.remove();
});

const BOTH_QUERIERS: readonly CallerKind[] = ['api-edge', 'callback-dispatcher'];

test.each<[keyof typeof ports, string, string, readonly CallerKind[]]>([
  ['card-processing', 'GET', '/operations/X', BOTH_QUERIERS],
  ['card-processing', 'GET', '/operations/X/payment', ['api-edge']],
  ['payout', 'GET', '/payouts/on-record', ['api-edge']],
  ['payout', 'GET', '/payouts/X', BOTH_QUERIERS],
  ['payout', 'GET', '/payouts', ['api-edge']],
  ['payout', 'GET', '/admin/payouts', ['operator']],
  ['payout', 'GET', '/admin/payouts/X', ['operator']],
  ['payout', 'POST', '/admin/payouts/X/retry', ['operator']],
  ['payout', 'GET', '/admin/batches', ['operator']],
  ['payout', 'GET', '/admin/exceptions', ['operator']],
  ['payout', 'POST', '/admin/batches/cut', ['operator']],
  ['payout', 'POST', '/admin/batches/X/rewrite', ['operator']],
  ['payout', 'GET', '/admin/holds', ['operator']],
  ['payout', 'POST', '/admin/holds', ['operator']],
  ['payout', 'POST', '/admin/holds/release', ['operator']],
  ['payout', 'POST', '/admin/holds/cancel', ['operator']],
  ['callback-dispatcher', 'GET', '/callbacks', ['api-edge']],
  ['callback-dispatcher', 'GET', '/callbacks/events', ['api-edge']],
  ['callback-dispatcher', 'POST', '/callbacks/X/resend', ['api-edge']],
  ['callback-dispatcher', 'GET', '/deliveries', ['operator']],
  ['callback-dispatcher', 'GET', '/deliveries/X', ['operator']],
  ['callback-dispatcher', 'POST', '/deliveries/X/resend', ['operator']],
])('%s: %s %s is for %j alone', async (service, method, path, allowed) => {
  const statusOf = async (headers: Record<string, string>) =>
    (await fetch(ports[service] + path, { method, headers })).status;
  const refused: CallerKind[] = [];
  for (const kind of CALLER_KINDS) {
    const status = await statusOf({ authorization: `Bearer ${callers.token(kind)}` });
    expect(status).not.toBe(401);
    if (status === 403) refused.push(kind);
  }
  expect(refused).toEqual(CALLER_KINDS.filter((kind) => !allowed.includes(kind)));
  expect(await statusOf({})).toBe(401);
  expect(await statusOf({ authorization: `Bearer ${'x'.repeat(32)}` })).toBe(401);
});

const DEMO_CUSTOM = { ...CREDENTIALS, merchant_account: 'demo_custom' };
const callbackUrl = () => ({ callback_url: `${merchant.url}/callback` });

test('services query each other with identities of their own', async () => {
  const { data: sale } = await system.send(cardRequest('SALE', { ...DEMO_CUSTOM }));
  expect(sale).toMatchObject({ code: 0 });
  const { data: checked } = await system.send({ ...checkOf({ reference: sale['reference'] }), ...DEMO_CUSTOM });
  expect(checked).toMatchObject({ transactions: [{ status: 'SUCCESS' }] });

  const { data: paid } = await system.http.post<Body>(PAYOUT_PATH, { ...payout(callbackUrl()), ...DEMO_CUSTOM });
  expect(paid).toMatchObject({ status: 'pending', code: 0 });
  const { reference } = paid;
  expect(await payoutClient(system, DEMO_CUSTOM).ended({ reference })).toMatchObject({ status: 'SUCCESS' });
  const callback = await merchant.callbackOf(reference);
  expect([...callback.keys()].filter((name) => name.startsWith('custom_'))).not.toEqual([]);
});

test('a service whose identity is revoked gets no answers, until it has a new one', async () => {
  const { data: sale } = await system.send(cardRequest('SALE'));
  const check = async () => (await system.send(checkOf({ reference: sale['reference'] }))).data;
  const foundIn = ({ transactions = [] }: Body) => (transactions as unknown[]).length > 0;
  expect(foundIn(await check())).toBe(true);
  const all = CALLER_KINDS.map((kind) => ({ name: kind, kind, token: callers.token(kind) }));
  callers.write(all.filter(({ kind }) => kind !== 'api-edge'));
  await until('the refusal', async () => !foundIn(await check()));
  callers.write(all);
  await until('the answer', async () => foundIn(await check()));
});
