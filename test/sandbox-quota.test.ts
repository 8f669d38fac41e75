import { Secret } from '@gateway/contracts';
import { until } from '@gateway/testing';
import { payout, PAYOUT_PATH, payoutClient } from './support/payouts';
import type { Body, System } from './support/system';
import {
  cardRequest,
  checkOf,
  clientOf,
  CREDENTIALS,
  followUp,
  pageRequest,
  post,
  startSystem,
} from './support/system';

/** No published test card: those are declined in real currencies. */
const IN_EUR = { currency: 'EUR', card_number: '4242424242424242' };
const QUOTA = 3;
const REFUSED = { status: 'error', code: 1007 };
const LIVE = { merchant_account: 'live_account', merchant_password: 'live_password' };
const OTHER = { merchant_account: 'other_account', merchant_password: 'live_password' };

const URLS = { callback_url: 'https://shop.example/callback', redirect_url: 'https://shop.example/back' };

let system: System;
beforeAll(async () => {
  system = await startSystem('sandbox-quota', {
    withPayouts: true,
    settings: { SANDBOX_DAILY_RECORDS: String(QUOTA) },
  });
  const { administration } = system.accounts;
  for (const { merchant_account: merchantAccount, merchant_password: password } of [LIVE, OTHER]) {
    await administration.create({
      merchantAccount,
      password: new Secret(password),
      settings: { transactionTypes: ['AUTH', 'SALE', 'REFUND', 'VOID', 'CHECK'] },
      terminals: [{ currency: 'EUR' }],
    });
    await administration.changeState(merchantAccount, 'activate');
  }
}, 60_000);
afterAll(() => system.stop());

const real = (account: Body): Body => ({ ...cardRequest('SALE', IN_EUR), ...account });
const tried = (account: Body): Body => ({ ...cardRequest('SALE'), ...account });

test('beyond its quota an account gets 1007 in XTS, and is served in other currencies', async () => {
  const { data: sale } = await system.send(tried(LIVE));
  const repeated = { ...cardRequest('AUTH'), ...LIVE };
  const { data: auth } = await system.send(repeated, { 'idempotency-key': 'a-key' });
  await system.send(tried(LIVE));

  const refused = await system.send(tried(LIVE));
  expect(refused.status).toBe(429);
  expect(refused.data).toMatchObject(REFUSED);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect((await system.send({ ...followUp('REFUND', sale['reference']), ...LIVE })).data).toMatchObject(REFUSED);
  const page = { ...CREDENTIALS, ...pageRequest('SALE', URLS), ...LIVE };
  expect((await system.http.post<Body>('/api/pf/checkout', page)).data).toMatchObject(REFUSED);

  // What is on record is answered again.
  const again = await system.send(repeated, { 'idempotency-key': 'a-key' });
  expect(again.data).toMatchObject({ code: 0, reference: auth['reference'] });
  expect((await system.send({ ...checkOf({ reference: auth['reference'] }), ...LIVE })).data).toMatchObject({
    code: 0,
  });
  const { data: paid } = await system.send(real(LIVE));
  expect(paid).toMatchObject({ code: 0 });
  const refund = { ...followUp('REFUND', paid['reference']), ...LIVE, currency: 'EUR' };
  expect((await system.send(refund)).data).toMatchObject({ code: 0 });
  expect((await system.send(tried(OTHER))).data).toMatchObject({ code: 0 });
});

test('the quota of a sandbox account holds for all that it sends, payouts and requests without a currency too', async () => {
  const payouts = payoutClient(system);
  await payouts.pay({});
  const { data: auth } = await system.send(cardRequest('AUTH'));
  const voided = followUp('VOID', auth['reference']);
  expect((await system.send(voided)).data).toMatchObject({ code: 0 });
  expect((await system.send(followUp('VOID', 'ABCDEFGHIJKLMNOP0001'))).data).toMatchObject(REFUSED);
  expect((await system.http.post<Body>(PAYOUT_PATH, payout())).data).toMatchObject(REFUSED);
});

test('replicas share the quota', async () => {
  const second = clientOf((await system.startEdge({ PORT: '0' })).ports.api);
  expect((await system.send(tried(OTHER))).data).toMatchObject({ code: 0 });
  await until('the replicas have exchanged counts', async () => {
    const { data } = await post(second, tried(OTHER));
    return data['code'] === REFUSED.code;
  });
  expect((await post(second, real(OTHER))).data).toMatchObject({ code: 0 });
});

test('without disk for XTS, XTS alone is refused', async () => {
  const edge = await system.startEdge({ PORT: '0', SANDBOX_DAILY_RECORDS: '1000', SANDBOX_DISK_GIB: '0' });
  const http = clientOf(edge.ports.api);
  expect((await post(http, tried(LIVE))).data).toMatchObject(REFUSED);
  expect((await post(http, real(LIVE))).data).toMatchObject({ code: 0 });
  const { data: metrics } = await clientOf(edge.ports.ops).get<string>('/metrics');
  expect(metrics).toContain('gateway_sandbox_refused_total{limit="disk",service="api-edge"} 1');
  expect(metrics).toContain('gateway_sandbox_disk_ratio{service="api-edge"} 1');
});
