import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IncomingHttpHeaders, IncomingMessage, RequestListener } from 'node:http';
import { createClient, verifyCallback } from '@payment-gateway/client';
import type { HttpsServer } from '@gateway/testing';
import { createCertificate, startHttpsServer, until } from '@gateway/testing';
import { TEST_CARDS } from '@gateway/contracts';
import type { Page } from 'playwright-core';
import type { OpenBrowser } from './support/browser';
import { openBrowser } from './support/browser';
import type { System } from './support/system';
import { ACCOUNTS, startSystem } from './support/system';
import { createShop } from '../examples/shop/src/shop';

const SOURCES = join(__dirname, '..', 'examples', 'shop', 'src');
const LINES_MAX = 200;

let system: System;
let browser: OpenBrowser;
let server: HttpsServer;
/** Set once the shop's address is known. */
let shop: RequestListener;
/** Callbacks are kept here, in place of the shop. */
let dropsCallbacks = false;
const dropped: { body: Buffer; headers: IncomingHttpHeaders }[] = [];
let webhookSecret: string;

beforeAll(async () => {
  const certificate = await createCertificate();
  server = await startHttpsServer(certificate, (request, response) => {
    if (dropsCallbacks && request.url === '/callback') void keep(request).then(() => response.end('OK'));
    else shop(request, response);
  });
  browser = await openBrowser();
  system = await startSystem('shop');
  const { name: account, password } = ACCOUNTS.merchant;
  webhookSecret = (await system.accounts.administration.addWebhookSecret(account)).webhookSecret.expose();
  await system.startThreeds();
  await system.startDispatcher(certificate.cert);
  const baseUrl = `http://127.0.0.1:${system.edge.ports.api}`;
  const client = createClient({ baseUrl, account, password });
  const price = { amount: '25.00', currency: 'XTS' };
  shop = createShop({ client, secrets: { webhookSecret }, publicUrl: server.url, price }) as RequestListener;
}, 120_000);
afterAll(async () => {
  await browser.close();
  await system.stop();
  await server.close();
});

async function keep(request: IncomingMessage): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  dropped.push({ body: Buffer.concat(chunks), headers: request.headers });
}

async function buy(page: Page): Promise<void> {
  await page.goto(server.url);
  await page.getByRole('button', { name: /buy/i }).click();
  await page.getByLabel(/card number/i).pressSequentially(TEST_CARDS.challenged.visa);
  await page.getByLabel(/expiry/i).fill('12/30');
  await page.getByLabel(/security code/i).fill('123');
  await page.getByLabel(/name on card/i).fill('Ann Lee');
  await page.getByRole('button', { name: /pay/i }).click();
}

const title = (page: Page): Promise<string> => page.getByRole('heading', { level: 1 }).innerText();
const inShop = (page: Page): Promise<void> => page.waitForURL(`${server.url}/orders/**`);
/** The callback may come after the browser. */
const reads = (page: Page, heading: string): Promise<true> =>
  until(heading, async () => {
    if ((await title(page)) === heading) return true;
    await page.reload();
    return false;
  });

test.each([
  ['by callback', false],
  ['by CHECK, without a callback', true],
])('a payment with 3-D Secure on the card-entry page, its outcome %s, and a refund', async (_how, drops) => {
  dropsCallbacks = drops;
  const { page } = await browser.visitor();
  await buy(page);
  await page.getByRole('button', { name: /success/i }).click();
  await inShop(page);
  await reads(page, 'Paid');
  await page.getByRole('button', { name: 'Refund' }).click();
  await reads(page, 'Refunded');
});

test("the client verifies the gateway's callbacks by checkSum and by their headers, until they are 5 minutes old", async () => {
  const received = await until('the callback that the shop did not get', () => dropped[0]);
  const { password } = ACCOUNTS.merchant;
  const callback = { kind: 'card', outcome: { kind: 'approved', code: 0 }, sequence: 1 };
  for (const secrets of [{ password }, { webhookSecret }])
    expect(verifyCallback(received, secrets)).toMatchObject({ verified: true, callback });
  expect(verifyCallback(received, { password: 'another' })).toMatchObject({ refusal: 'wrong-signature' });
  const later = new Date(Date.now() + 301_000);
  expect(verifyCallback(received, { webhookSecret }, later)).toMatchObject({ refusal: 'out-of-time' });
});

test('a cardholder whom the issuer refuses stays on the page, for another card', async () => {
  dropsCallbacks = false;
  const { page } = await browser.visitor();
  await buy(page);
  await page.getByRole('button', { name: /fail/i }).click();
  await page.getByText('Your bank could not confirm that it was you.').waitFor();
});

test('a forged callback changes nothing', async () => {
  const { page } = await browser.visitor();
  const form = {
    transaction_unique_id: 'x',
    status: 'success',
    code: '0',
    message: 'm',
    reference: 'r',
    checkSum: 'x',
  };
  const answer = await page.request.post(`${server.url}/callback`, { form });
  expect(answer.status()).toBe(400);
});

test.each([
  ['a name twice', 'name=Ann+Lee&name=Bob&email=ann%40example.com'],
  ['no fields', ''],
  ['markup', 'name=%3Cscript%3Ealert(1)%3C%2Fscript%3E&email=%22%3E%3Cscript%3E'],
])('an order form with %s opens no page, and shows nothing of it', async (_what, data) => {
  const { page } = await browser.visitor();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await page.request.post(`${server.url}/orders`, { headers, data });
  expect([answer.status(), await answer.text()]).toEqual([200, expect.stringContaining('<h1>Not paid</h1>')]);
  expect(await answer.text()).not.toContain('<script>');
});

test.each([
  '/back?transaction_unique_id=__proto__',
  '/back?transaction_unique_id=a&transaction_unique_id=b',
  '/orders/%3Cb%3E',
])('%s names no order', async (path) => {
  const { page } = await browser.visitor();
  const answer = await page.request.get(`${server.url}${path}`);
  expect([answer.status(), await answer.text()]).toEqual([404, expect.not.stringContaining('<b>')]);
});

test('what goes wrong shows no path of this machine', async () => {
  const { page } = await browser.visitor();
  const answer = await page.request.get(`${server.url}/orders/%zz`);
  expect([answer.status(), await answer.text()]).toEqual([500, expect.not.stringContaining('node_modules')]);
});

test(`the shop has at most ${LINES_MAX} lines`, () => {
  const lines = readdirSync(SOURCES).map((file) => readFileSync(join(SOURCES, file), 'utf8').split('\n').length - 1);
  expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(LINES_MAX);
});
