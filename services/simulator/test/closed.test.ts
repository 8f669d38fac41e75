import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallerKind } from '@gateway/service-kit';
import { CALLER_KINDS } from '@gateway/service-kit';
import type { Certificate, TestCallers } from '@gateway/testing';
import { createCallers, createCertificate } from '@gateway/testing';
import type { Simulator } from '../src/app';
import { bodyOf, dropDatabase, newDatabasePrefix, newKey, payoutBodyOf, startSimulator } from './simulator-fixture';
import { authenticationRequest, challengeRequest } from './threeds-server-fixture';

const prefix = newDatabasePrefix();
const THREEDS_SERVER = { url: 'https://3ds.example' };

let directory: string;
let certificate: Certificate;
let callers: TestCallers;
let simulator: Simulator;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'simulator-closed-'));
  certificate = await createCertificate();
  const files = { TLS_CERT_FILE: join(directory, 'cert.pem'), TLS_KEY_FILE: join(directory, 'key.pem') };
  writeFileSync(files.TLS_CERT_FILE, certificate.cert);
  writeFileSync(files.TLS_KEY_FILE, certificate.key);
  callers = createCallers();
  simulator = await startSimulator(prefix, { ...files, CALLERS_FILE: callers.file, SIMULATOR_INTERNAL_PORT: '0' });
});
afterAll(async () => {
  await simulator.stop();
  await dropDatabase(prefix);
  callers.remove();
  rmSync(directory, { recursive: true });
});

interface Asked {
  port?: 'http' | 'internal';
  method?: string;
  path: string;
  token?: string;
  key?: string;
  json?: unknown;
  form?: Record<string, string>;
}

async function ask({ port = 'internal', method = 'GET', path, token, key, json, form }: Asked) {
  const [type, body] = form === undefined ? ['application/json', JSON.stringify(json)] : [FORM, formOf(form)];
  const headers = {
    'content-type': type,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(key === undefined ? {} : { 'idempotency-key': key }),
  };
  const options = { host: '127.0.0.1', port: simulator.ports[port], method, path, headers, agent: false as const };
  const request = tlsRequest({ ...options, ca: certificate.cert });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString() };
}

const FORM = 'application/x-www-form-urlencoded';
const formOf = (form: Record<string, string>): string => new URLSearchParams(form).toString();

const sale = (): Asked => {
  const key = newKey();
  return { method: 'POST', path: '/acquirer/v1/operations', key, json: bodyOf('sale', key) };
};
const payout = (): Asked => {
  const key = newKey();
  return { method: 'POST', path: '/bank/v1/payouts', key, json: payoutBodyOf(key) };
};
const areq = (): Asked => ({
  method: 'POST',
  path: '/ds/v2/authenticate',
  json: authenticationRequest(THREEDS_SERVER),
});

/** Every route of the counterparts, a request of it, and who may use it. */
const ROUTES: [string, () => Asked, readonly CallerKind[]][] = [
  ['an operation of the acquirer', sale, ['card-processing', 'operator']],
  ['its inquiry', () => ({ path: `/acquirer/v1/operations/${newKey()}` }), ['card-processing', 'operator']],
  [
    'its cancellation',
    () => ({ method: 'POST', path: `/acquirer/v1/operations/${newKey()}/cancel` }),
    ['card-processing', 'operator'],
  ],
  ['a payout', payout, ['payout', 'operator']],
  ['its inquiry', () => ({ path: `/bank/v1/payouts/${newKey()}` }), ['payout', 'operator']],
  ['its cancellation', () => ({ method: 'POST', path: `/bank/v1/payouts/${newKey()}/cancel` }), ['payout', 'operator']],
  [
    'its return',
    () => ({ method: 'POST', path: `/bank/v1/payouts/${newKey()}/return`, json: { reasonCode: 'AC04' } }),
    ['operator'],
  ],
  ['returns', () => ({ path: '/bank/v1/returns' }), ['payout', 'operator']],
  [
    'an acknowledgement',
    () => ({ method: 'POST', path: `/bank/v1/returns/${newKey()}/acknowledgement` }),
    ['payout', 'operator'],
  ],
  ['an authentication', areq, ['threeds', 'operator']],
  ['the ledger', () => ({ path: `/ledger?reference=${newKey()}` }), ['api-edge', 'operator']],
  ['the ledger of a payment', () => ({ path: '/ledger?payment=ABCDEFGHIJKLMNOP' }), ['api-edge', 'operator']],
];

describe('on the internal port', () => {
  test.each(ROUTES)('%s is for those who need it, by TLS', async (_what, request, allowed) => {
    const refused: CallerKind[] = [];
    for (const kind of CALLER_KINDS) {
      const { status } = await ask({ ...request(), token: callers.token(kind) });
      expect([kind, status]).not.toEqual([kind, 401]);
      if (status === 403) refused.push(kind);
    }
    expect(refused).toEqual(CALLER_KINDS.filter((kind) => !allowed.includes(kind)));
    for (const stranger of [request(), { ...request(), token: 'x'.repeat(32) }]) {
      expect((await ask(stranger)).status).toBe(401);
    }
  });

  test('a refused operation leaves no trace', async () => {
    const refused = sale();
    for (const token of [undefined, callers.token('threeds')]) {
      await ask({ ...refused, ...(token === undefined ? {} : { token }) });
    }
    const ledger = await ask({ path: `/ledger?reference=${String(refused.key)}`, token: callers.token('operator') });
    expect(JSON.parse(ledger.text)).toEqual({ entries: [] });
  });

  test('there are no pages, and strangers learn no path', async () => {
    const page = { method: 'POST', path: '/acs/v2/challenge', form: {} };
    expect((await ask(page)).status).toBe(401);
    expect((await ask({ ...page, token: callers.token('operator') })).status).toBe(404);
    expect((await ask({ path: '/nowhere' })).status).toBe(401);
  });

  test.each(['http', 'internal'] as const)('and on the port %s nothing is said in clear', async (port) => {
    const request = plainRequest({ host: '127.0.0.1', port: simulator.ports[port], path: '/ledger?reference=A' });
    request.end();
    await expect(once(request, 'response')).rejects.toThrow();
  });
});

describe('on the public port', () => {
  const challenged = async () => {
    const { text } = await ask({ ...areq(), token: callers.token('threeds') });
    return JSON.parse(text) as Record<string, unknown>;
  };

  test('a cardholder answers a challenge, with the headers of our pages', async () => {
    const form = { creq: challengeRequest(await challenged()), threeDSSessionData: 'c2Vzc2lvbg' };
    const page = await ask({ port: 'http', method: 'POST', path: '/acs/v2/challenge', form });
    expect(page.status).toBe(200);
    expect(page.headers).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': expect.stringContaining("default-src 'none'") as unknown,
      'referrer-policy': 'no-referrer',
      'strict-transport-security': 'max-age=31536000',
      'x-content-type-options': 'nosniff',
    });
  });

  test.each(ROUTES)('there is no %s, whoever asks', async (_what, request) => {
    for (const token of [undefined, ...CALLER_KINDS.map((kind) => callers.token(kind))]) {
      const asked = { ...request(), port: 'http' as const, ...(token === undefined ? {} : { token }) };
      const { status, headers } = await ask(asked);
      expect([status, headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    }
  });

  test.each(['GET', 'PUT', 'DELETE', 'OPTIONS'])('a page takes no %s', async (method) => {
    for (const path of ['/acs/v2/challenge', '/acs/v2/challenge/x/decision']) {
      const { status, headers } = await ask({ port: 'http', method, path });
      expect([status, headers.allow, headers['content-type']]).toEqual([405, 'POST', 'text/html; charset=utf-8']);
    }
  });

  test('a body of more than 64 KiB is refused', async () => {
    const form = { creq: 'a'.repeat(64 * 1024) };
    expect((await ask({ port: 'http', method: 'POST', path: '/acs/v2/challenge', form })).status).toBe(413);
  });
});
