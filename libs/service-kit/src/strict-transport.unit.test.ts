import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:http';
import { get as getByTls } from 'node:https';
import type { Certificate } from '@gateway/testing';
import { createCertificate } from '@gateway/testing';
import express from 'express';
import type { ListeningServer } from './http-server';
import { listen } from './http-server';
import { strictTransport } from './strict-transport';

const EVERY_ANSWER = 'max-age=31536000';
const FROM_BROWSER = { 'x-forwarded-proto': 'https' };

let certificate: Certificate;
let server: ListeningServer;
beforeAll(async () => {
  certificate = await createCertificate();
});
afterEach(() => server.close(0));

/** The header in the answer of an app with these trusted proxies, asked from 127.0.0.1. */
async function headerOf(options: { tls?: boolean; proxies?: string[]; headers?: Record<string, string> }) {
  const app = express().set('trust proxy', options.proxies ?? []);
  app.use(strictTransport, (_request, response) => void response.status(404).end());
  const { cert, key } = certificate;
  const current = { cert: Buffer.from(cert), key: Buffer.from(key) };
  const tls = options.tls === true ? { current, onChange: () => undefined } : undefined;
  server = await listen({ listener: app as never, port: 0, host: '127.0.0.1', tls });
  const asked = { host: '127.0.0.1', port: server.port, headers: options.headers ?? {}, agent: false as const };
  const request = tls === undefined ? get(asked) : getByTls({ ...asked, ca: cert });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  return response.headers['strict-transport-security'];
}

test('answers over TLS have it', async () => {
  expect(await headerOf({ tls: true })).toBe(EVERY_ANSWER);
});

test('answers behind a trusted proxy that was asked over TLS have it', async () => {
  expect(await headerOf({ proxies: ['127.0.0.1'], headers: FROM_BROWSER })).toBe(EVERY_ANSWER);
});

test.each([
  ['over plain HTTP', {}],
  ['behind a proxy that is not trusted', { headers: FROM_BROWSER }],
  ['behind another proxy', { proxies: ['192.0.2.1'], headers: FROM_BROWSER }],
  [
    'behind a trusted proxy that was asked over plain HTTP',
    { proxies: ['127.0.0.1'], headers: { 'x-forwarded-proto': 'http' } },
  ],
])('answers %s have none', async (_where, options) => {
  expect(await headerOf(options)).toBeUndefined();
});
