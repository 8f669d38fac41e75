import { TEST_CARDS } from '@gateway/contracts';
import type { Merchant } from './support/merchant';
import { startMerchant } from './support/merchant';
import { payout, PAYOUT_PATH } from './support/payouts';
import type { Body, System } from './support/system';
import { cardRequest, CREDENTIALS, startSystem } from './support/system';
import type { Tinyproxy } from './support/tinyproxy';
import { startTinyproxy, tinyproxyProgram } from './support/tinyproxy';

let system: System;
let merchant: Merchant;
let proxy: Tinyproxy;
beforeAll(async () => {
  proxy = await startTinyproxy(await tinyproxyProgram());
  merchant = await startMerchant();
  system = await startSystem('outbound', {
    settings: { OUTBOUND_PROXY_URL: `http://127.0.0.1:${proxy.port}` },
    withPayouts: true,
  });
  await system.startThreeds();
  await system.startDispatcher(merchant.ca);
}, 300_000);
afterAll(async () => {
  await system.stop();
  await merchant.close();
  await proxy.stop();
});

/** Services that got a tunnel. */
async function users(): Promise<string[]> {
  const opened = /^gateway_outbound_tunnels_total\{result="opened",service="([\w-]+)"\} [1-9]/m;
  return (await system.metrics()).flatMap((page) => opened.exec(page)?.[1] ?? []).toSorted();
}

test('each service that calls outside does so through the proxy, and no other', async () => {
  const urls = { callback_url: `${merchant.url}/callback`, redirect_url: `${merchant.url}/back` };
  const authenticated = cardRequest('SALE3D', { ...urls, card_number: TEST_CARDS.frictionless.visa });
  const sale = (await system.send(authenticated)).data;
  const { data: paid } = await system.http.post<Body>(PAYOUT_PATH, { ...CREDENTIALS, ...payout(urls) });
  expect([sale['code'], paid['code']]).toEqual([0, 0]);
  for (const { reference } of [sale, paid]) await merchant.callbackOf(reference);

  expect(await users()).toEqual(['callback-dispatcher', 'card-processing', 'payout', 'threeds']);
  const ends = [system.simulator.ports.http, Number(new URL(merchant.url).port)].map((port) => `127.0.0.1:${port}`);
  expect(new Set(proxy.asked())).toEqual(new Set(ends));
});
