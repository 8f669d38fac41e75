import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TEST_CARDS } from '@gateway/contracts';
import type { Page } from 'playwright-core';
import type { OpenBrowser, Visitor } from './support/browser';
import { keepPicture, openBrowser, PHONE } from './support/browser';
import { LOGO } from './support/logo';
import type { Merchant } from './support/merchant';
import { startMerchant } from './support/merchant';
import type { Body, CheckRecord, System } from './support/system';
import { cardRequest, checkOf, CREDENTIALS, CUSTOM, pageRequest, recordsOf, startSystem } from './support/system';
import { until } from '@gateway/testing';

let system: System;
let merchant: Merchant;
let browser: OpenBrowser;
beforeAll(async () => {
  [merchant, browser] = await Promise.all([startMerchant(), openBrowser()]);
  system = await startSystem('browser');
  await system.accounts.administration.change(CUSTOM.merchant_account, {
    displayName: 'Blumen Müller & Söhne',
    logo: LOGO,
  });
  await system.startThreeds();
  await system.startDispatcher(merchant.ca);
});
afterAll(async () => {
  await browser.close();
  await system.stop();
  await merchant.close();
});

const PLAIN = TEST_CARDS.notEnrolled.visa;
const CHALLENGED = TEST_CARDS.challenged.visa;

async function checkoutUrl(type: 'SALE' | 'SALE3D', more: Body = {}): Promise<{ url: string; id: unknown }> {
  const fields = pageRequest(type);
  const urls = { redirect_url: `${merchant.url}/back`, callback_url: `${merchant.url}/callback` };
  const { data } = await system.http.post<Body>('/api/pf/checkout', { ...CREDENTIALS, ...fields, ...urls, ...more });
  return { url: String(data['checkout_url']), id: fields['transaction_unique_id'] };
}

async function send(fields: Body): Promise<Body> {
  return (await system.send(fields)).data;
}
async function lastRecord(by: Body): Promise<CheckRecord | undefined> {
  return recordsOf(await send(checkOf(by))).at(-1);
}
const ended = (by: Body) =>
  until('the end', async () => {
    const record = await lastRecord(by);
    return record?.status === 'PENDING' ? undefined : record;
  });

/** As someone who does not see the page: fields by their labels, buttons by their names. */
async function enterCard(page: Page, card_number: string): Promise<void> {
  await page.getByLabel(/card number/i).pressSequentially(card_number);
  await page.getByLabel(/expiry/i).fill('12/30');
  await page.getByLabel(/security code/i).fill('123');
  await page.getByLabel(/name on card/i).fill('Ann Lee');
  await page.getByRole('button', { name: /pay/i }).click();
}

const backInShop = (page: Page) => page.waitForURL(`${merchant.url}/**`);

/** Through our page to the issuer's: automatically if scripts run, else by its button. */
async function toIssuer({ page }: Visitor, withScripts: boolean): Promise<void> {
  if (!withScripts) await page.getByRole('button', { name: /continue/i }).click();
  await page.getByRole('button', { name: /success/i }).waitFor();
}

test('SALE through the card-entry page, with a typing error first', async () => {
  const { page, complaints } = await browser.visitor();
  const { url, id } = await checkoutUrl('SALE');
  await page.goto(url);
  await keepPicture(page, 'card-entry');
  await enterCard(page, '4111111111111112');
  expect(await page.getByLabel(/card number/i).getAttribute('aria-invalid')).toBe('true');
  expect(await page.getByLabel(/card number/i).inputValue()).toBe('');
  expect(await page.getByLabel(/name on card/i).inputValue()).toBe('Ann Lee');
  await enterCard(page, PLAIN);
  await backInShop(page);
  expect(await ended({ transaction_unique_id: id })).toMatchObject({ transaction_type: 'SALE', status: 'SUCCESS' });
  expect(complaints).toEqual([]);
});

test('going back or reopening the page after a payment leads to the shop, without a charge', async () => {
  const { page, complaints } = await browser.visitor();
  const { url, id } = await checkoutUrl('SALE');
  await page.goto(url);
  await enterCard(page, PLAIN);
  await backInShop(page);
  await page.goBack();
  await backInShop(page);
  await page.goto(url);
  await backInShop(page);
  expect(recordsOf(await send(checkOf({ transaction_unique_id: id })))).toMatchObject([{ status: 'SUCCESS' }]);
  expect(complaints).toEqual([]);
});

test('after a decline the cardholder can try again on the page', async () => {
  const { page, complaints } = await browser.visitor({ viewport: PHONE });
  const { url, id } = await checkoutUrl('SALE', { amount: '31.01' });
  await page.goto(url);
  await enterCard(page, PLAIN);
  await page.getByText(/declined/i).waitFor();
  const valueOf = (label: RegExp): Promise<string> => page.getByLabel(label).inputValue();
  expect([await valueOf(/name on card/i), await valueOf(/expiry/i)]).toEqual(['Ann Lee', '12/30']);
  expect([await valueOf(/card number/i), await valueOf(/security code/i)]).toEqual(['', '']);
  await keepPicture(page, 'card-entry-declined-phone');
  expect(await lastRecord({ transaction_unique_id: id })).toMatchObject({ status: 'DECLINE', code: 3101 });
  expect(complaints).toEqual([]);
});

describe.each([
  ['with scripts', true],
  ['without scripts', false],
])('a browser %s', (_name, javaScriptEnabled) => {
  test.each([
    [/success/i, 'SUCCESS', 0],
    [/fail/i, 'DECLINE', 3103],
    [/cancel/i, 'DECLINE', 3023],
  ])('SALE3D through the card-entry page, and %s at the issuer', async (button, status, code) => {
    const visitor = await browser.visitor({ javaScriptEnabled });
    const { page, complaints } = visitor;
    const { url, id } = await checkoutUrl('SALE3D');
    await page.goto(url);
    await enterCard(page, CHALLENGED);
    await toIssuer(visitor, javaScriptEnabled);
    if (javaScriptEnabled && code === 0) await keepPicture(page, 'issuer');
    await page.getByRole('button', { name: button }).click();
    if (code === 0) await backInShop(page);
    else await page.getByLabel(/card number/i).waitFor();
    if (code !== 0)
      expect(await page.getByLabel(/name on card/i).inputValue()).toBe(javaScriptEnabled ? 'Ann Lee' : '');
    expect(await ended({ transaction_unique_id: id })).toMatchObject({ status, code });
    expect(complaints).toEqual([]);
  });

  test.each([
    ['there', '/term', () => merchant.url],
    ['and on to another origin of the shop', '/onward', () => merchant.otherUrl],
  ])("AUTH3D from the merchant's page, PaRes back %s, then a SALE with it", async (_where, path, endOf) => {
    const visitor = await browser.visitor({ javaScriptEnabled, viewport: PHONE });
    const { page, complaints } = visitor;
    const first = await send(cardRequest('AUTH3D', { card_number: CHALLENGED }));
    const fields = { PaReq: String(first['pareq']), TermUrl: merchant.url + path, MD: String(first['reference']) };
    merchant.offer({ acsUrl: String(first['acs_url']), fields });
    await page.goto(`${merchant.url}/pay`);
    await page.getByRole('button', { name: 'Pay' }).click();
    await toIssuer(visitor, javaScriptEnabled);
    await page.getByRole('button', { name: /success/i }).click();
    if (!javaScriptEnabled) await page.getByRole('button', { name: /continue|return/i }).click();
    await page.waitForURL(`${endOf()}/**`);
    const returned = merchant.returns.find((form) => form.get('MD') === first['reference']);
    const proof = { pares: returned?.get('PaRes'), reference: first['reference'] };
    const sale = await send(cardRequest('SALE', { card_number: CHALLENGED, ...proof }));
    expect(sale).toMatchObject({ status: 'success', code: 0 });
    expect(complaints).toEqual([]);
  });
});

test('SALE through the card-entry page, for a shop that redirects to another origin', async () => {
  const { page, complaints } = await browser.visitor();
  const { url, id } = await checkoutUrl('SALE', { redirect_url: `${merchant.url}/onward` });
  await page.goto(url);
  await enterCard(page, PLAIN);
  await page.waitForURL(`${merchant.otherUrl}/thanks`);
  expect(await ended({ transaction_unique_id: id })).toMatchObject({ transaction_type: 'SALE', status: 'SUCCESS' });
  expect(complaints).toEqual([]);
});

/** The pages that merchant.md offers to shops: the one that opens the card-entry page, and the one at `redirect_url`. */
function documentedPages(): string[] {
  const document = readFileSync(join(__dirname, '..', 'docs', 'merchant.md'), 'utf8');
  return [...document.matchAll(/^```html\n([^]*?)^```$/gm)].map(([, markup = '']) => markup);
}

describe('a shop that stays on its own page', () => {
  test('opens the card-entry page in a window, as merchant.md says, and hears of the end', async () => {
    const visitor = await browser.visitor();
    const { page, complaints } = visitor;
    const { url, id } = await checkoutUrl('SALE3D', { redirect_url: `${merchant.url}/returned` });
    const [shop = '', returned = ''] = documentedPages();
    merchant.show('/shop', shop.replaceAll('CHECKOUT_URL', url));
    merchant.show('/returned', returned);
    merchant.show('/order', '<title>Shop</title><h1>Your order</h1>');
    await page.goto(`${merchant.url}/shop`);
    const opened = page.waitForEvent('popup');
    await page.getByRole('button', { name: 'Pay' }).click();
    const popup = await opened;
    await enterCard(popup, CHALLENGED);
    await toIssuer({ ...visitor, page: popup }, true);
    const closed = popup.waitForEvent('close');
    await popup.getByRole('button', { name: /success/i }).click();
    await Promise.all([closed, page.waitForURL(`${merchant.url}/order?id=${String(id)}`)]);
    expect(await ended({ transaction_unique_id: id })).toMatchObject({ status: 'SUCCESS' });
    expect(complaints).toEqual([]);
  });

  test('sees nothing of it in a frame', async () => {
    const { page, complaints } = await browser.visitor();
    const { url } = await checkoutUrl('SALE');
    merchant.show('/framed', `<title>Shop</title><iframe src="${url}"></iframe>`);
    await page.goto(`${merchant.url}/framed`);
    await until('the browser refuses it', () => complaints.some((complaint) => /frame-ancestors/.test(complaint)));
    expect(
      await page
        .frameLocator('iframe')
        .getByLabel(/card number/i)
        .count(),
    ).toBe(0);
  });
});

test("a browser's language and the merchant's display name are on every page, up to the issuer's", async () => {
  const { page, complaints } = await browser.visitor({ locale: 'de-AT', colorScheme: 'dark', viewport: PHONE });
  const { url, id } = await checkoutUrl('SALE3D', CUSTOM);
  await page.goto(url);
  expect(await page.title()).toBe('Zahlung an Blumen Müller & Söhne');
  const width = await page.evaluate<number>("document.querySelector('img').naturalWidth");
  expect(width).toBe(48);
  await keepPicture(page, 'card-entry-german-dark-phone');
  await page.getByLabel('Kartennummer').fill(CHALLENGED);
  await page.getByLabel('Gültig bis').fill('12/30');
  await page.getByLabel('Sicherheitscode').fill('123');
  await page.getByLabel('Name auf der Karte').fill('Ann Lee');
  await page.getByRole('button', { name: '10,00 XTS bezahlen' }).click();
  await page.getByRole('button', { name: 'Zahlung bestätigen (Erfolg)' }).waitFor();
  // Banks get names in EMV's characters.
  expect(await page.locator('dd').first().textContent()).toBe('Blumen Muller & Sohne');
  expect(await page.locator('html').getAttribute('lang')).toBe('de');
  await keepPicture(page, 'issuer-german-dark-phone');
  await page.getByRole('button', { name: 'Zahlung bestätigen (Erfolg)' }).click();
  await backInShop(page);
  const by = { transaction_unique_id: id };
  await until('the end', async () => {
    const record = recordsOf(await send({ ...checkOf(by), ...CUSTOM })).at(-1);
    return record?.status === 'SUCCESS';
  });
  expect(complaints).toEqual([]);
});

test('an unknown page shows a readable error', async () => {
  const { page } = await browser.visitor();
  await page.goto(`${system.env['THREEDS_PUBLIC_URL']}/challenge/unknown`);
  expect(await page.getByRole('heading').textContent()).toMatch(/\w/);
});
