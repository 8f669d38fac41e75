import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Reading } from '../src/answers';
import { listen } from '../src/cli/listen';
import { runCli } from '../src/cli/run';
import { printable } from '../src/cli/terminal';
import type { FakeGateway } from './fake-gateway';
import { answer, CHECKED_OK, refusal, startFakeGateway } from './fake-gateway';

/** What `gateway listen` does with answers that are not as the gateway's. */

let pauses: number[] = [];
jest.mock('node:timers/promises', () => ({ setTimeout: async (ms: number) => void pauses.push(ms) }));

let gateway: FakeGateway;
let shop: Server;
let received: { url: string | undefined; headers: IncomingHttpHeaders; body: string }[];
let folder: string;
let positionFile: string;
let lines: string[];
let shopAnswer: { status: number; text: string };
const terminal = { print: (line: string) => void lines.push(line), warn: (line: string) => void lines.push(line) };

beforeAll(async () => {
  gateway = await startFakeGateway();
  shop = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ url: request.url, headers: request.headers, body: Buffer.concat(chunks).toString() });
      response.writeHead(shopAnswer.status).end(shopAnswer.text);
    });
  }).listen(0, '127.0.0.1');
  await once(shop, 'listening');
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-listen-'));
  positionFile = join(folder, 'position.json');
  [received, lines, pauses] = [[], [], []];
  shopAnswer = { status: 200, text: 'OK' };
});
afterEach(() => rmSync(folder, { recursive: true }));
afterAll(async () => {
  await gateway.close();
  shop.closeAllConnections();
  shop.close();
  await once(shop, 'close');
});

const portOfShop = (): number => (shop.address() as AddressInfo).port;
const STOPPED = refusal(2001, 'Incorrect value');
const EVENT = {
  callback_id: 'one',
  type: 'card',
  reference: '0123456789ABCDEF0001',
  transaction_unique_id: 'order-2026-0001',
  timestamp: 1_800_000_000,
  headers: { 'content-type': 'application/x-www-form-urlencoded', 'webhook-id': 'one', 'gateway-sequence': '1' },
  body: 'status=success&code=0',
  cursor: '1:one',
};
const page = (...events: object[]) => answer({ ...CHECKED_OK, events, cursor: '1:one' });

/** Until the gateway refuses. */
async function listened(): Promise<number> {
  const env = { GATEWAY_URL: gateway.url, GATEWAY_ACCOUNT: 'demo_merchant', GATEWAY_PASSWORD: 'demo_password' };
  const target = `http://127.0.0.1:${portOfShop()}/hook?a=1`;
  return runCli(['listen', '--forward-to', target, '--position-file', positionFile], env, terminal);
}

test('a callback goes to the address that the merchant has named, with the headers of callbacks alone', async () => {
  const headers = {
    ...EVENT.headers,
    host: 'admin.internal',
    'transfer-encoding': 'chunked',
    authorization: 'Basic x',
    cookie: 'a=b',
    'x-forwarded-for': '127.0.0.1',
    'webhook-signature': 'v1,a\r\nx-more: 1',
  };
  gateway.play(page({ ...EVENT, headers }), STOPPED);
  expect(await listened()).toBe(1);
  expect(received).toEqual([
    {
      url: '/hook?a=1',
      body: EVENT.body,
      headers: {
        ...EVENT.headers,
        host: `127.0.0.1:${portOfShop()}`,
        connection: 'keep-alive',
        'content-length': String(EVENT.body.length),
      },
    },
  ]);
});

test.each([
  ['in quotes', 200, '"OK"\u001b[2J', '-> 200, not acknowledged: the body is "\\"OK\\"\\u001b[2J", not OK'],
  ['at length', 200, 'x'.repeat(9_000), `-> 200, not acknowledged: the body is "${'x'.repeat(100)}", not OK`],
  ['201', 201, 'OK', '-> 201, not acknowledged: the status is not 200'],
])('a shop that answers %s is told why that is no acknowledgement', async (_how, status, text, why) => {
  shopAnswer = { status, text };
  gateway.play(page(EVENT), STOPPED);
  expect(await listened()).toBe(1);
  expect(lines.filter((line) => line.endsWith(why))).toHaveLength(4);
  const shopUrl = `http://127.0.0.1:${portOfShop()}/hook?a=1`;
  expect(lines).toContain(`${shopUrl} did not acknowledge it. To send it again: gateway resend one`);
});

test.each([
  ['a body that is no text', page({ ...EVENT, body: 7 })],
  ['no headers', page({ ...EVENT, headers: null })],
  ['an event that is none', page(['callback'])],
  ['no cursor', answer({ ...CHECKED_OK, events: [] })],
])('an answer with %s is reported in one sentence, and nothing is forwarded', async (_what, tampered) => {
  gateway.play(tampered, STOPPED);
  expect(await listened()).toBe(1);
  expect(lines.at(-1)).toBe(`${gateway.url}: The gateway answers something else.`);
  expect([received, existsSync(positionFile)]).toEqual([[], false]);
});

/** Runs until the gateway has refused, which is the last reading. */
async function listenTo(...readings: Reading[]): Promise<void> {
  const target = new URL(`http://127.0.0.1:${portOfShop()}/`);
  const send = async (): Promise<Reading> => (readings.length > 1 ? readings.shift() : readings[0]) as Reading;
  const ending = listen({ target, positionFile, url: gateway.url, account: 'demo_merchant', send, terminal });
  await expect(ending).rejects.toThrow('The gateway refuses');
}

const refused = (code: number, field?: string): Reading => ({
  kind: 'answer',
  answer: { status: 'error', code, message: 'no', ...(field === undefined ? {} : { errors: [{ field }] }) },
});

test('a gateway that wants to be asked in a year is asked in a minute', async () => {
  const message = { status: 'error', code: 1007, message: 'Too many requests' };
  await listenTo({ kind: 'refused', answer: message, retryAfterMs: 31_536_000_000 }, refused(2001));
  expect(pauses).toEqual([60_000]);
  expect(lines).toContain(`${gateway.url} does not answer (Too many requests (1007)). Trying until it does.`);
});

test('a gateway that knows no cursor, and none for a time either, is not asked for ever', async () => {
  writeFileSync(positionFile, JSON.stringify({ cursor: '999:gone', at: 1_800_000_000 }));
  await listenTo(refused(1004, 'cursor'));
  expect(lines.filter((line) => line.startsWith(`${gateway.url} does not know the saved position`))).toHaveLength(1);
});

test('wrong usage is reported in one sentence, and where help is', async () => {
  expect(await runCli(['events'], { GATEWAY_PASSWORD: 'demo_password' }, terminal)).toBe(2);
  expect(lines.join('\n').split('\n')).toEqual([
    'The account at http://127.0.0.1:8080 is missing: set GATEWAY_ACCOUNT or --account.',
    '"gateway help" lists the commands and their options.',
  ]);
});

test('what others said cannot operate the terminal', () => {
  expect(printable('\u001b[2J\u009b0m\u0007\ra\u202eb\tc\n')).toBe('\ufffd[2J\ufffd0m\ufffd\ufffda\ufffdb\tc\n');
  expect(printable('Müller & Söhne → 東京 👟')).toBe('Müller & Söhne → 東京 👟');
});
