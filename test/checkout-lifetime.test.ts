import { formsOf, get, submit } from './support/form-client';
import type { Merchant } from './support/merchant';
import { startMerchant } from './support/merchant';
import type { Body, System } from './support/system';
import { CARD, checkOf, CREDENTIALS, pageRequest, recordsOf, startSystem } from './support/system';

let system: System;
let merchant: Merchant;
beforeAll(async () => {
  merchant = await startMerchant();
  system = await startSystem('checkout-lifetime');
  await system.startDispatcher(merchant.ca);
});
afterAll(async () => {
  await system.stop();
  await merchant.close();
});

test('a session that expires after a decline reports it by one callback', async () => {
  const brief = await system.startEdge({ PORT: '0', CHECKOUT_LIFETIME_SECONDS: '2' });
  const urls = { redirect_url: `${merchant.url}/back`, callback_url: `${merchant.url}/callback` };
  const { data } = await system.http.post<Body>(`http://127.0.0.1:${brief.ports.api}/api/pf/checkout`, {
    ...CREDENTIALS,
    ...pageRequest('SALE', { amount: '31.01' }),
    ...urls,
  });
  const url = String(data['checkout_url']);
  const [form] = formsOf(await get(url));
  const typed = { card_number: CARD.card_number, card_exp: '12 / 30', cvv: '123', card_holder: 'Ann Lee' };
  await submit(String(form?.action), { ...form?.fields, ...typed });
  const checked = await system.send(checkOf({ transaction_unique_id: data['transaction_unique_id'] }));
  const [record] = recordsOf(checked.data);
  expect(record).toMatchObject({ status: 'DECLINE', code: 3101 });
  expect((await merchant.callbackOf(record?.reference)).get('code')).toBe('3101');
  expect(await get(url)).toMatchObject({ status: 303 });
});
