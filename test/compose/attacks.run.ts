import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect as connectPlain } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { createHttpClient } from '@gateway/service-kit';
import { until } from '@gateway/testing';
import { composed } from '../support/composed-system';
import { formsOf, get, submit } from '../support/form-client';
import type { Body, System } from '../support/system';
import { CARD_PATH, checkOf, CREDENTIALS, pageRequest, startSystem } from '../support/system';
import type { RunningContainer } from './project';
import { openProject } from './project';

if (composed === undefined) throw new Error('run these with npm run test:compose');
const { urls } = composed;
const project = openProject(composed);

const KIB = 1024;
const MIB = 1024 * KIB;
const UNKNOWN_PAGE = 'A'.repeat(22);
const BODIES_AT_ONCE = 200;
const BODY_BYTES = 62 * KIB;
const FORMS_AT_ONCE = 40;
const FORM_BYTES = 15 * KIB;
const UNREAD_CONNECTIONS = 2_400;
const OPENED_AT_ONCE = 100;
const SENT_TOGETHER = 15;
const TIMEOUT_MS = 60_000;
/** What the chart allows a process. Compose allows some of them more. */
const MEMORY_LIMITS_MIB = { 'api-edge': 512, threeds: 384 } as const;

let system: System;
let before: RunningContainer[];
beforeAll(async () => {
  system = await startSystem('attacks');
  before = await project.ready();
}, 240_000);

/** Runs an attack without credentials while a merchant at the same address sends requests. None of them may fail. */
async function besideMerchant(attack: () => Promise<void>): Promise<void> {
  let isOver = false;
  const codes = new Set<unknown>();
  async function send(): Promise<void> {
    do codes.add((await system.send(checkOf({ reference: 'A'.repeat(20) }))).data['code']);
    while (!isOver);
  }
  const merchant = send();
  await attack().finally(() => (isOver = true));
  await merchant;
  expect(codes).toEqual(new Set([3014]));
}

function connectTo(url: string): Socket {
  const { protocol, hostname: host, port } = new URL(url);
  const to = { host, port: Number(port) };
  const client = protocol === 'https:' ? connectTls({ ...to, servername: host }) : connectPlain(to);
  // A server that has had enough ends the connection.
  return client.on('error', () => undefined);
}

const connected = (client: Socket, url: string): Promise<unknown> =>
  once(client, url.startsWith('https:') ? 'secureConnect' : 'connect');

const targets = () =>
  [
    [urls.api, `/checkout/${UNKNOWN_PAGE}`],
    [urls.threeds, `/challenge/${UNKNOWN_PAGE}`],
  ] as const;

const getOf = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

test(
  `${BODIES_AT_ONCE} bodies at once of arrays within arrays`,
  () =>
    besideMerchant(async () => {
      const http = createHttpClient({ baseUrl: urls.api, timeoutMs: TIMEOUT_MS, maxSockets: BODIES_AT_ONCE });
      const body = `{"a":${'['.repeat(BODY_BYTES / 2)}${']'.repeat(BODY_BYTES / 2)}}`;
      const headers = { 'content-type': 'application/json' };
      const sent = Array.from({ length: BODIES_AT_ONCE }, () => http.post<Body>(CARD_PATH, body, { headers }));
      const codes = (await Promise.all(sent)).map(({ data }) => data['code']);
      expect(new Set(codes)).toEqual(new Set([1001]));
    }),
  120_000,
);

test(
  `${FORMS_AT_ONCE} card-entry forms at once of an expiry date that is mostly spaces`,
  () =>
    besideMerchant(async () => {
      const opening = { ...CREDENTIALS, ...pageRequest('SALE', { redirect_url: 'https://localhost/back' }) };
      const { data } = await system.http.post<Body>('/api/pf/checkout', opening);
      const page = await get(String(data['checkout_url']));
      const [form] = formsOf(page);
      const fields = { ...form?.fields, card_exp: `1${' '.repeat(FORM_BYTES)}1` };
      const sent = Array.from({ length: FORMS_AT_ONCE }, () => submit(form?.action ?? '', fields));
      const statuses = (await Promise.all(sent)).map(({ status }) => status);
      expect(statuses.filter((status) => status >= 500)).toEqual([]);
    }),
  120_000,
);

test(
  '1 MiB of requests for unknown pages on a connection',
  () =>
    besideMerchant(async () => {
      for (const [url, path] of targets()) {
        const client = connectTo(url);
        await connected(client, url);
        client.write(getOf(path).repeat(Math.floor(MIB / getOf(path).length)));
        const received = await text(client).catch(() => 'HTTP/1.1 404');
        expect(received.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 404']);
      }
    }),
  120_000,
);

test(
  `${UNREAD_CONNECTIONS} connections that read nothing`,
  () =>
    besideMerchant(async () => {
      for (const [url, path] of targets()) {
        const clients: Socket[] = [];
        while (clients.length < UNREAD_CONNECTIONS) {
          const opened = Array.from({ length: OPENED_AT_ONCE }, () => connectTo(url));
          clients.push(...opened);
          await Promise.all(opened.map((client) => connected(client, url)));
          for (const client of opened) client.pause().write(getOf(path).repeat(SENT_TOGETHER));
        }
        await until('all is sent', () => clients.every((client) => client.destroyed || client.writableLength === 0));
        for (const client of clients) client.destroy();
      }
    }),
  240_000,
);

test('no container has started again, and none has had more memory than the chart allows', async () => {
  const after = await project.ready();
  const startsOf = (containers: readonly RunningContainer[]): [string, string][] =>
    containers.map(({ service, startedAt }) => [service, startedAt]);
  expect(startsOf(after)).toEqual(startsOf(before));
  for (const [service, limitMiB] of Object.entries(MEMORY_LIMITS_MIB)) {
    const container = after.find((one) => one.service === service);
    if (container === undefined) throw new Error(`there is no ${service}`);
    // The service is a child of the container's first process.
    const peaks = await project.exec(container, 'sh', '-c', 'grep -h VmHWM /proc/[0-9]*/status');
    const peaksMiB = [...peaks.matchAll(/(\d+) kB/g)].map(([, kib]) => Number(kib) / 1024);
    expect(Math.max(...peaksMiB)).toBeLessThan(limitMiB);
  }
}, 240_000);
