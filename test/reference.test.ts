import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { createReferenceListener } from '@gateway/api-edge/dist/adapters/http/reference-page';
import type { AxeResults } from 'axe-core';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import type { OpenBrowser, Visitor } from './support/browser';
import { openBrowser } from './support/browser';

/** The API reference in a browser. */

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 375, height: 667 };

let server: Server;
let url: string;
let browser: OpenBrowser;
/** Requests to the API: method, path and body. */
const sent: unknown[] = [];

beforeAll(async () => {
  const api = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    sent.push([request.method, request.url, await json(request)]);
    response.setHeader('content-type', 'application/json').end('{"status":"success","code":0}');
  };
  const listener = createReferenceListener('https://pay.example', (request, response) => void api(request, response));
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await openBrowser();
}, 60_000);
afterAll(async () => {
  await browser.close();
  server.closeAllConnections();
  server.close();
});

/** The policy of the page admits no script of others, so axe comes in by the debugger. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations, incomplete } = await page.evaluate<AxeResults>(
    `axe.run(document, { resultTypes: ['violations', 'incomplete'] })`,
  );
  return [...violations, ...incomplete].map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

async function pathsOf(page: Page): Promise<string[]> {
  await page.goto(url);
  const links = await page.evaluate<string[]>(
    `[...document.querySelectorAll('a')].map((link) => link.getAttribute('href'))`,
  );
  return [...new Set(links)].filter((path) => path !== '/openapi.json');
}

/** With a record of requests that leave the origin. */
async function visit(options: Parameters<OpenBrowser['visitor']>[0]): Promise<Visitor & { left: string[] }> {
  const visitor = await browser.visitor(options);
  const left: string[] = [];
  visitor.page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`) && !request.url().startsWith('data:')) left.push(request.url());
  });
  return { ...visitor, left };
}

test.each([
  ['light, on a desktop', 'light', DESKTOP],
  ['dark, on a phone', 'dark', PHONE],
] as const)(
  'nothing leaves the origin, nothing is too wide, and axe-core finds nothing: %s',
  async (_look, colorScheme, viewport) => {
    const { page, complaints, left } = await visit({ colorScheme, viewport });
    const paths = await pathsOf(page);
    expect(paths).toContain('/operations/Payout');
    for (const path of paths) {
      await page.goto(`${url}${path}`);
      const width = await page.evaluate<number>(
        `document.querySelectorAll('details').forEach((one) => (one.open = true)), document.documentElement.scrollWidth`,
      );
      expect([path, width]).toEqual([path, viewport.width]);
      expect([path, await findings(page)]).toEqual([path, []]);
    }
    expect([...left, ...complaints]).toEqual([]);
  },
  120_000,
);

test('dark mode is dark', async () => {
  const grounds: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page } = await visit({ colorScheme });
    await page.goto(url);
    grounds.push(await page.evaluate<string>('getComputedStyle(document.body).backgroundColor'));
  }
  expect(grounds).toEqual(['rgb(255, 255, 255)', 'rgb(15, 20, 32)']);
});

test('an example is sent to this origin under a new id, and its answer shown', async () => {
  const { page, left } = await visit({});
  await page.goto(`${url}/operations/Sale`);
  const declined = page.locator('section', { has: page.getByRole('heading', { name: 'declined', exact: true }) });
  await declined.getByRole('button', { name: 'Try this' }).click();
  await page.getByRole('button', { name: 'Send' }).click();
  const answer = page.getByLabel('Answer');
  await answer.filter({ hasText: 'HTTP 200' }).waitFor();
  expect(await answer.textContent()).toBe('HTTP 200\n{\n  "status": "success",\n  "code": 0\n}');
  expect(left).toEqual([]);
  const body = expect.objectContaining({
    transaction_type: 'SALE',
    amount: '31.01',
    transaction_unique_id: expect.stringMatching(/^try-\d+$/) as unknown,
  }) as unknown;
  expect(sent).toEqual([['POST', '/api/pf/host-to-host', body]]);
});
