import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, get } from 'node:https';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import tls, { connect } from 'node:tls';
import type { Certificate } from '@gateway/testing';
import { createCertificate, recordingLogger, until } from '@gateway/testing';
import { Registry } from 'prom-client';
import type { ReloadedCertificate } from './certificates';
import { openCertificate, openInternalCertificate } from './certificates';
import { DEFAULT_CONNECTION_LIMITS } from './connection-limits';
import type { ListeningServer } from './http-server';
import { listen } from './http-server';
import { PUBLIC_SOCKETS } from './listening-sockets';

const LOOK_EVERY_MS = 50;
const DAY_MS = 86_400_000;

let first: Certificate;
let second: Certificate;
let directory: string;
let settings: { TLS_CERT_FILE: string; TLS_KEY_FILE: string };
let lines: string[];
let metrics: Registry;
let certificate: ReloadedCertificate | undefined;
let server: ListeningServer;

const { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS } = tls;
beforeAll(async () => {
  // As with `--tls-min-v1.0`: what Node allows by itself must not matter.
  Object.assign(tls, { DEFAULT_MIN_VERSION: 'TLSv1', DEFAULT_CIPHERS: 'DEFAULT:@SECLEVEL=0' });
  first = await createCertificate();
  second = await createCertificate();
});
afterAll(() => void Object.assign(tls, { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS }));
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'gateway-tls-'));
  settings = { TLS_CERT_FILE: join(directory, 'cert.pem'), TLS_KEY_FILE: join(directory, 'key.pem') };
  write(first);
  lines = [];
  metrics = new Registry();
  certificate = openCertificate(settings, { logger: recordingLogger(lines), metrics, lookEveryMs: LOOK_EVERY_MS });
  certificate?.start();
  server = await listen({
    listener: (_request, response) => void response.end('answered'),
    port: 0,
    host: '127.0.0.1',
    tls: certificate,
    connections: DEFAULT_CONNECTION_LIMITS,
  });
});
afterEach(async () => {
  await certificate?.stop();
  await server.close(0);
  rmSync(directory, { recursive: true });
});

function write({ cert, key }: Certificate): void {
  writeFileSync(settings.TLS_CERT_FILE, cert);
  writeFileSync(settings.TLS_KEY_FILE, key);
}

/** By default on a new connection. Throws unless the server shows this certificate on a new one. */
async function ask(ca: string, agent: Agent | false = false): Promise<number | undefined> {
  const request = get({ host: '127.0.0.1', port: server.port, ca, agent });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

const trusts = (ca: string): Promise<boolean> =>
  ask(ca).then(
    () => true,
    () => false,
  );

test('a new pair is served on every socket without a restart; open connections stay', async () => {
  const open = new Agent({ keepAlive: true });
  expect(await ask(first.cert, open)).toBe(200);
  write(second);
  await until('the new certificate', () => trusts(second.cert));
  const asked = Array.from({ length: PUBLIC_SOCKETS }, () => ask(second.cert));
  expect(new Set(await Promise.all(asked))).toEqual(new Set([200]));
  expect(await trusts(first.cert)).toBe(false);
  expect(await ask(first.cert, open)).toBe(200);
  open.destroy();
});

test.each<[string, () => Certificate]>([
  ['a key of another certificate', () => ({ cert: second.cert, key: first.key })],
  ['a certificate that is none', () => ({ cert: 'none', key: first.key })],
])('a new pair with %s is logged, and the old one stays', async (_what, broken) => {
  write(broken());
  await until('the error', () => lines.some((line) => /cannot be used.*"files":"certificate"/.test(line)));
  expect(await ask(first.cert)).toBe(200);
  expect(await metrics.metrics()).toContain('gateway_reload_failed{files="certificate"} 1');
  expect(lines.join()).not.toContain('PRIVATE KEY');
});

async function protocolWith(maxVersion: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3', ca: string): Promise<string | null> {
  // Without this, the client itself would refuse the old protocol.
  const old = { minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  const socket: TLSSocket = connect({ host: '127.0.0.1', port: server.port, ca, maxVersion, ...old });
  try {
    await once(socket, 'secureConnect');
    return socket.getProtocol();
  } finally {
    socket.destroy();
  }
}

test('TLS 1.2 is the oldest protocol, after a change too', async () => {
  const check = async (ca: string) => {
    await expect(protocolWith('TLSv1.1', ca)).rejects.toThrow(/protocol version|handshake failure/i);
    expect(await protocolWith('TLSv1.2', ca)).toBe('TLSv1.2');
    expect(await protocolWith('TLSv1.3', ca)).toBe('TLSv1.3');
  };
  await check(first.cert);
  write(second);
  await until('the new certificate', () => trusts(second.cert));
  await check(second.cert);
});

test('a metric shows the days until it expires, beside those of the internal ports', async () => {
  const short = await createCertificate('localhost', 3 * DAY_MS);
  const internal = {
    INTERNAL_TLS_CERT_FILE: join(directory, 'in.pem'),
    INTERNAL_TLS_KEY_FILE: join(directory, 'in.key'),
  };
  writeFileSync(internal.INTERNAL_TLS_CERT_FILE, short.cert);
  writeFileSync(internal.INTERNAL_TLS_KEY_FILE, short.key);
  openInternalCertificate(internal, { logger: recordingLogger(lines), metrics });
  const shown = (await metrics.getSingleMetric('gateway_tls_certificate_days_left')?.get())?.values ?? [];
  const { validTo } = new X509Certificate(first.cert);
  expect(shown).toEqual([
    { labels: { port: 'public' }, value: expect.closeTo((Date.parse(validTo) - Date.now()) / DAY_MS, 1) as number },
    { labels: { port: 'internal' }, value: expect.closeTo(3, 1) as number },
  ]);
});

test('the settings name both files of a pair, or none', () => {
  const open = (own: Partial<typeof settings>) =>
    openCertificate(own, { logger: recordingLogger(lines), metrics: new Registry() });
  expect(open({})).toBeUndefined();
  const { TLS_CERT_FILE, TLS_KEY_FILE } = settings;
  for (const half of [{ TLS_CERT_FILE }, { TLS_KEY_FILE }]) expect(() => open(half)).toThrow('belong together');
  const half = { INTERNAL_TLS_KEY_FILE: TLS_KEY_FILE };
  const openInternal = () => openInternalCertificate(half, { logger: recordingLogger(lines), metrics: new Registry() });
  expect(openInternal).toThrow('INTERNAL_TLS_CERT_FILE and INTERNAL_TLS_KEY_FILE belong together');
  writeFileSync(TLS_KEY_FILE, second.key);
  expect(() => open(settings)).toThrow(/^Configuration: certificate in .*key values mismatch/);
});
