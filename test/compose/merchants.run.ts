import { TEST_CARDS } from '@gateway/contracts';
import { createHttpClient } from '@gateway/service-kit';
import { until } from '@gateway/testing';
import { composed } from '../support/composed-system';
import type { Merchant } from '../support/merchant';
import { startMerchant } from '../support/merchant';
import type { Body, System } from '../support/system';
import { cardRequest, CREDENTIALS, startSystem } from '../support/system';

if (composed === undefined) throw new Error('run these with npm run test:compose');
const { name, environment } = composed;

/** What merchants and their developers get beside payments, across the edges, identities and roles of this system. */
let system: System;
let merchant: Merchant;
beforeAll(async () => {
  merchant = await startMerchant();
  system = await startSystem('merchants');
});
afterAll(() => merchant.close());

async function ask(path: string, fields: Body): Promise<Body> {
  const { data } = await system.http.post<Body>(path, { ...CREDENTIALS, ...fields });
  expect(data).toMatchObject({ status: 'success', code: 0 });
  return data;
}

async function paid(): Promise<string> {
  const urls = { callback_url: `${merchant.url}/callback`, redirect_url: `${merchant.url}/back` };
  const { data } = await system.send(cardRequest('SALE3D', { card_number: TEST_CARDS.frictionless.visa, ...urls }));
  expect(data).toMatchObject({ status: 'success', code: 0 });
  await merchant.callbackOf(data['reference']);
  return String(data['reference']);
}

test('a merchant finds its callback, and has it sent again', async () => {
  const reference = await paid();
  const callback = await until('it is delivered', async () => {
    const { callbacks } = await ask('/api/pf/callbacks', { reference });
    return (callbacks as Body[]).find(({ state }) => state === 'delivered');
  });
  expect(callback).toMatchObject({ reference, attempts: [{ acknowledged: true, http_status: 200 }] });

  await ask('/api/pf/callbacks/resend', { callback_id: callback['callback_id'] });
  await until(
    'it comes again',
    async () => merchant.callbacks.filter((one) => one.get('reference') === reference).length === 2,
  );
});

test('a sandbox account follows its callbacks', async () => {
  const { cursor } = await ask('/api/pf/callbacks/events', {});
  const reference = await paid();
  const found = await until('it is in the feed', async () => {
    const { events } = await ask('/api/pf/callbacks/events', { cursor, wait: 0 });
    return (events as Body[]).find((event) => event['reference'] === reference);
  });
  expect(found).toMatchObject({ type: 'card', body: expect.stringContaining(reference) as string });
});

test('a sandbox account moves its clock, and every service follows', async () => {
  expect(await ask('/api/sandbox/clock', { advance: 1 })).toMatchObject({ followed: true });
});

test('the API reference is open, but not in the closed system', async () => {
  const http = createHttpClient({ baseUrl: `http://127.0.0.1:${environment['REFERENCE_PORT']}`, timeoutMs: 10_000 });
  const found = http.get<{ openapi?: string }>('/openapi.json').then(
    ({ data }) => data.openapi,
    (error: { code?: string }) => error.code,
  );
  expect(await found).toBe(name === 'production' ? 'ECONNREFUSED' : '3.1.1');
});
