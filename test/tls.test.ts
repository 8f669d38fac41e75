import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:http';
import { get as getByTls } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Certificate } from '@gateway/testing';
import { createCertificate, until } from '@gateway/testing';
import type { System } from './support/system';
import { startSystem } from './support/system';

const HSTS = 'max-age=31536000';
const FROM_BROWSER = { 'x-forwarded-proto': 'https' };
/** Answered by the merchants' API, the card-entry pages, and the 3-D Secure pages. */
const EDGE_PATHS = ['/api/pf/host-to-host', '/checkout/AAAAAAAAAAAAAAAAAAAAAA', '/nowhere'];
const THREEDS_PATHS = ['/challenge/AAAAAAAAAAAAAAAAAAAAAA', '/nowhere'];

let system: System;
let first: Certificate;
let second: Certificate;
let directory: string;
let files: { TLS_CERT_FILE: string; TLS_KEY_FILE: string };

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'gateway-tls-'));
  files = { TLS_CERT_FILE: join(directory, 'cert.pem'), TLS_KEY_FILE: join(directory, 'key.pem') };
  first = await createCertificate();
  second = await createCertificate();
  system = await startSystem('tls', { withoutProcessor: true });
});
afterAll(async () => {
  await system.stop();
  rmSync(directory, { recursive: true });
});

function write({ cert, key }: Certificate): void {
  writeFileSync(files.TLS_CERT_FILE, cert);
  writeFileSync(files.TLS_KEY_FILE, key);
}

async function headersOf(
  port: number,
  path: string,
  { ca, headers = {} }: { ca?: string; headers?: Record<string, string> },
) {
  const asked = { host: '127.0.0.1', port, path, headers, agent: false as const };
  const request = ca === undefined ? get(asked) : getByTls({ ...asked, ca });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  return response.headers;
}

async function hstsOf(port: number, path: string, how: Parameters<typeof headersOf>[2] = {}) {
  return (await headersOf(port, path, how))['strict-transport-security'];
}

const isServed = ({ cert }: Certificate, port: number): Promise<boolean> =>
  headersOf(port, '/', { ca: cert }).then(
    () => true,
    () => false,
  );

test.each([
  ['api-edge', EDGE_PATHS, async () => (await system.startEdge({ PORT: '0', ...files })).ports.api],
  ['threeds', THREEDS_PATHS, async () => (await system.startThreeds({ THREEDS_PORT: '0', ...files })).ports.http],
])('%s serves HTTPS, tells browsers to stay with it, and takes a new certificate', async (_name, paths, start) => {
  write(first);
  const port = await start();
  for (const path of paths) expect(await hstsOf(port, path, { ca: first.cert })).toBe(HSTS);
  write(second);
  await until('the new certificate', () => isServed(second, port));
  expect(await isServed(first, port)).toBe(false);
});

test.each([
  ['api-edge', EDGE_PATHS, async (own = {}) => (await system.startEdge({ PORT: '0', ...own })).ports.api],
  ['threeds', THREEDS_PATHS, async (own = {}) => (await system.startThreeds({ THREEDS_PORT: '0', ...own })).ports.http],
])('%s believes a trusted proxy alone that browsers use HTTPS', async (_name, paths, start) => {
  const [open, behind] = [await start(), await start({ TRUSTED_PROXY_CIDRS: '127.0.0.0/8' })];
  for (const path of paths) {
    expect(await hstsOf(open, path)).toBeUndefined();
    expect(await hstsOf(open, path, { headers: FROM_BROWSER })).toBeUndefined();
    expect(await hstsOf(behind, path)).toBeUndefined();
    expect(await hstsOf(behind, path, { headers: FROM_BROWSER })).toBe(HSTS);
  }
});
