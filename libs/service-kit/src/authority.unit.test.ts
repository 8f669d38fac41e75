import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Certificate, HttpsServer } from '@gateway/testing';
import { createCertificate, startHttpsServer } from '@gateway/testing';
import type { AxiosInstance } from 'axios';
import { closeHttpClient, createHttpClient } from './http-client';

/** Each certificate is its own authority. */
let bank: Certificate;
let other: Certificate;
let server: HttpsServer;
let directory: string;
let caFile: string;
let http: AxiosInstance | undefined;

beforeAll(async () => {
  [bank, other] = await Promise.all([createCertificate(), createCertificate('other')]);
  // Without kept connections each call shows what its own connection trusts.
  server = await startHttpsServer(bank, (_request, response) => response.setHeader('connection', 'close').end('here'));
  directory = mkdtempSync(join(tmpdir(), 'gateway-authority-'));
  caFile = join(directory, 'ca.pem');
});
afterEach(() => {
  if (http !== undefined) closeHttpClient(http);
  http = undefined;
});
afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true });
});

/** What the counterpart answers, or the code of the failure. */
async function answer(): Promise<unknown> {
  try {
    return (await http?.get<unknown>('/'))?.data;
  } catch (error) {
    return (error as { code?: string; message: string }).code ?? (error as Error).message;
  }
}

function trust(content: string): void {
  writeFileSync(caFile, content);
  http ??= createHttpClient({ baseUrl: server.url, timeoutMs: 5_000, caFile });
}

test('a counterpart is reached by its own authority, and by no other', async () => {
  trust(bank.cert);
  expect(await answer()).toBe('here');
  trust(other.cert);
  expect(await answer()).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
});

test.each([
  ['localhost', 'here'],
  ['elsewhere', 'ERR_TLS_CERT_ALTNAME_INVALID'],
])('at an address, the certificate must have the name %s that led there', async (serverName, expected) => {
  writeFileSync(caFile, bank.cert);
  const baseUrl = server.url.replace('localhost', '127.0.0.1');
  http = createHttpClient({ baseUrl, timeoutMs: 5_000, caFile, serverName });
  expect(await answer()).toBe(expected);
});

test("Node's authorities do not count beside it, nor it for another counterpart", async () => {
  trust(`${other.cert}\n${bank.cert}`);
  expect(await answer()).toBe('here');
  http = createHttpClient({ baseUrl: server.url, timeoutMs: 5_000 });
  expect(await answer()).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
});

test('a renewed authority is used from the next connection on', async () => {
  trust(other.cert);
  expect(await answer()).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
  trust(bank.cert);
  expect(await answer()).toBe('here');
});

test.each(['', 'no certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'])(
  'a file with %j is refused at the start, and fails each later connection',
  async (content) => {
    expect(() => trust(content)).toThrow(`Configuration: the authority in ${caFile} cannot be used: `);
    trust(bank.cert);
    trust(content);
    expect(await answer()).toMatch(/cannot be used/);
  },
);

test('a missing file is refused at the start', () => {
  const missing = join(directory, 'missing.pem');
  expect(() => createHttpClient({ baseUrl: server.url, timeoutMs: 5_000, caFile: missing })).toThrow(
    /the authority in .+missing\.pem cannot be used: .*ENOENT/,
  );
});
