import type { ServerResponse } from 'node:http';
import type { CallbackDispatcher } from '@gateway/callback-dispatcher';
import { TEST_CARDS } from '@gateway/contracts';
import { until } from '@gateway/testing';
import type { Certificate, HttpsServer } from '@gateway/testing';
import { createCertificate, startHttpsServer } from '@gateway/testing';
import { runCli } from '../services/callback-dispatcher/src/cli';
import { isSigned } from './support/merchant';
import type { Body, System } from './support/system';
import { cardRequest, startSystem } from './support/system';
import type { TopicRecord } from './support/topics';
import { eventsOf, readOnce } from './support/topics';

/** The answers of a merchant's server to its callbacks, in order; the last one repeats. */
type Script = readonly { status: number; body?: string; location?: string }[];
const OK: Script[number] = { status: 200, body: ' OK\n' };

let system: System;
let certificate: Certificate;
let server: HttpsServer;
let dispatcher: CallbackDispatcher;
const scripts = new Map<string, Script>();
/** Output of a script with status 0. */
const unanswered = new Set<ServerResponse>();
const received = new Map<string, URLSearchParams[]>();

beforeAll(async () => {
  certificate = await createCertificate();
  server = await startHttpsServer(certificate, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url ?? '';
      const bodies = [...(received.get(path) ?? []), new URLSearchParams(Buffer.concat(chunks).toString())];
      received.set(path, bodies);
      const script = scripts.get(path) ?? [OK];
      const { status, body = '', location } = script[Math.min(bodies.length, script.length) - 1] ?? OK;
      if (status === 0) return void unanswered.add(response);
      response.writeHead(status, location === undefined ? {} : { location }).end(body);
    });
  });
  system = await startSystem('callbacks');
  await system.startThreeds();
  dispatcher = await system.startDispatcher(certificate.cert, { CALLBACK_RETRY_SCHEDULE: '1,1,1' });
});
afterAll(async () => {
  await system.stop();
  await server.close();
});

let paths = 0;
/** A SALE3D that ends at once, with the callbacks about it. */
async function sale(script: Script, more: Body = {}): Promise<{ answer: Body; path: string }> {
  paths += 1;
  const path = `/callback/${paths}?merchant=1`;
  scripts.set(path, script);
  const urls = { callback_url: server.url + path, redirect_url: `${server.url}/back` };
  const { data } = await system.send(
    cardRequest('SALE3D', { card_number: TEST_CARDS.frictionless.visa, ...urls, ...more }),
  );
  expect(data).toMatchObject({ status: 'success', code: 0 });
  return { answer: data, path };
}

const callbacks = (path: string, count: number) =>
  until(`${count} callbacks to ${path}`, async () => {
    const found = received.get(path) ?? [];
    return found.length < count ? undefined : found;
  });

const eventsAbout = async (reference: unknown): Promise<TopicRecord[]> => {
  const events = await readOnce(system.space, 'callbackEvents');
  return events.filter(({ value }) => (JSON.parse(value) as Body)['reference'] === reference);
};

const eventTypes = async (reference: unknown): Promise<(string | undefined)[]> =>
  (await eventsAbout(reference)).map(({ headers }) => headers['ce_type']);

test.each<[string, Script]>([
  ['an error', [{ status: 500 }, OK]],
  ['a redirect, which is not followed', [{ status: 302, location: '/elsewhere' }, OK]],
  ['200 without OK', [{ status: 200, body: 'thanks' }, OK]],
  ['another success status', [{ status: 202, body: 'OK' }, OK]],
])('%s is not an acknowledgement: the callback is repeated', async (_what, script) => {
  const { answer, path } = await sale(script);
  const [first, second] = await callbacks(path, 2);
  expect(Object.fromEntries(second ?? [])).toEqual(Object.fromEntries(first ?? []));
  expect(received.has('/elsewhere')).toBe(false);
  const types = await until('the end of the delivery', async () => {
    const found = await eventTypes(answer['reference']);
    return found.includes('CallbackDelivered') ? found : undefined;
  });
  expect(types).toEqual(['CallbackAttempted', 'CallbackAttempted', 'CallbackDelivered']);
  expect(received.get(path)).toHaveLength(2);
});

test('after the last retry it is exhausted, until an operator sends it again', async () => {
  const { answer, path } = await sale([{ status: 503 }]);
  const types = await until('the end of the delivery', async () => {
    const found = await eventTypes(answer['reference']);
    return found.includes('CallbackExhausted') ? found : undefined;
  });
  expect(types).toEqual([...Array.from({ length: 4 }, () => 'CallbackAttempted'), 'CallbackExhausted']);
  expect(received.get(path)).toHaveLength(4);

  scripts.set(path, [OK]);
  const [last] = await eventsAbout(answer['reference']);
  const { deliveryId = '' } = JSON.parse(last?.value ?? '{}') as { deliveryId?: string };
  const env = { CALLBACK_ADMIN_URL: `http://127.0.0.1:${dispatcher.ports.admin}` };
  expect(await runCli(['resend', deliveryId], env, () => undefined)).toBe(0);
  await until('its end', async () => (await eventTypes(answer['reference'])).includes('CallbackRecovered'));
});

test("unanswered callbacks of one merchant do not delay another's on the same host", async () => {
  for (let count = 0; count < 6; count += 1) await sale([{ status: 0 }]);
  await until('calls that hang', async () => unanswered.size === 4);
  const { path } = await sale([OK], { merchant_account: 'demo_custom' });
  await callbacks(path, 1);
  expect([...unanswered].filter(({ destroyed }) => !destroyed)).toHaveLength(4);
});

test('an account with custom parameters gets them, covered by the signature', async () => {
  const { path } = await sale([OK], { merchant_account: 'demo_custom' });
  const [callback] = await callbacks(path, 1);
  expect(Object.fromEntries(callback ?? [])).toMatchObject({
    status: 'success',
    custom_card_bin: '401200',
    custom_card_last: '1011',
    custom_user_first_name: 'Ann',
    custom_mid_reference: expect.stringMatching(/^MD[0-9A-F]{14}$/),
  });
  expect(isSigned(callback ?? new URLSearchParams(), 'demo_password')).toBe(true);
});

test('the event of an outcome carries the callback address, and no personal data', async () => {
  const { answer, path } = await sale([OK]);
  const events = await until('its event', async () => {
    const found = await eventsOf(system.space, String(answer['reference']).slice(0, 16));
    return found.length === 0 ? undefined : found.map(({ value }) => JSON.parse(value) as Body);
  });
  expect(events).toMatchObject([
    { transactionType: 'SALE3D', status: 'success', code: 0, eci: 5, callbackUrl: server.url + path },
  ]);
  expect(JSON.stringify(events)).not.toMatch(/Ann|Lee|Main Street|example\.com/);
});
