import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeHttpClient, createHttpClient } from '@gateway/service-kit';
import type { Certificate } from '@gateway/testing';
import { createCertificate, until } from '@gateway/testing';
import { runDoctor } from '../deploy/operations/src/doctor/doctor';
import { runCli as runCallbacks } from '../services/callback-dispatcher/src/cli';
import { runCli as runPayouts } from '../services/payout/src/cli';
import type { Merchant } from './support/merchant';
import { startMerchant } from './support/merchant';
import { payout, payoutClient, PAYOUT_PATH } from './support/payouts';
import type { Body, System } from './support/system';
import { cardRequest, checkOf, clientOf, CUSTOM, post, startSystem } from './support/system';

const DAY_MS = 86_400_000;

let directory: string;
let files: Record<'INTERNAL_TLS_CERT_FILE' | 'INTERNAL_TLS_KEY_FILE' | 'INTERNAL_TLS_CA_FILE', string>;
let first: Certificate;
let merchant: Merchant;
let system: System;
/** Internal ports; those without a second word have health and metrics. */
let ports: Record<string, number>;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'gateway-internal-tls-'));
  files = {
    INTERNAL_TLS_CERT_FILE: join(directory, 'cert.pem'),
    INTERNAL_TLS_KEY_FILE: join(directory, 'key.pem'),
    INTERNAL_TLS_CA_FILE: join(directory, 'ca.pem'),
  };
  first = await createCertificate();
  serve(first);
  trust(first.cert);
  merchant = await startMerchant();
  system = await startSystem('internal-tls', { withPayouts: true, settings: files });
  const dispatcher = await system.startDispatcher(merchant.ca);
  const [threeds, expiry] = [await system.startThreeds(), await system.startExpiry()];
  ports = {
    'api-edge': system.edge.ports.ops,
    'card-processing query': portOf('CARD_QUERY_URL'),
    'callback-dispatcher': dispatcher.ports.ops,
    'callback-dispatcher admin': dispatcher.ports.admin,
    'payout query': portOf('PAYOUT_QUERY_URL'),
    simulator: system.simulator.ports.ops,
    threeds: threeds.ports.ops,
    'auth-expiry': expiry.ports.ops,
  };
}, 180_000);
afterAll(async () => {
  await system.stop();
  await merchant.close();
  rmSync(directory, { recursive: true });
});

function serve({ cert, key }: Certificate): void {
  writeFileSync(files.INTERNAL_TLS_CERT_FILE, cert);
  writeFileSync(files.INTERNAL_TLS_KEY_FILE, key);
}

const portOf = (setting: string): number => Number(new URL(system.env[setting] ?? '').port);
const trust = (authorities: string): void => writeFileSync(files.INTERNAL_TLS_CA_FILE, authorities);

/** The status at a path that no port has, or the code of the failure. */
async function answerAt(baseUrl: string): Promise<unknown> {
  const http = createHttpClient({ baseUrl, timeoutMs: 5_000, caFile: files.INTERNAL_TLS_CA_FILE });
  try {
    return (await http.get('/nowhere')).status;
  } catch (error) {
    return (error as { code?: string }).code;
  } finally {
    closeHttpClient(http);
  }
}

test('every internal port answers by TLS alone', async () => {
  for (const [name, port] of Object.entries(ports)) {
    expect([name, await answerAt(`https://127.0.0.1:${port}`)]).toEqual([name, 404]);
    expect([name, await answerAt(`http://127.0.0.1:${port}`)]).toEqual([name, 'ECONNRESET']);
  }
});

async function newSale(): Promise<unknown> {
  const { data: sale } = await system.send(cardRequest('SALE', { ...CUSTOM }));
  expect(sale).toMatchObject({ code: 0 });
  return sale['reference'];
}

async function isFound(reference: unknown, http = system.http): Promise<boolean> {
  const { data } = await post(http, { ...checkOf({ reference }), ...CUSTOM });
  return ((data['transactions'] ?? []) as unknown[]).length > 0;
}

test('services ask each other by TLS: CHECK of a card, and custom values in the callback of a payout', async () => {
  expect(await isFound(await newSale())).toBe(true);
  const to = { callback_url: `${merchant.url}/callback` };
  const { data: paid } = await system.http.post<Body>(PAYOUT_PATH, { ...payout(to), ...CUSTOM });
  const { reference } = paid;
  expect(await payoutClient(system, CUSTOM).ended({ reference })).toMatchObject({ status: 'SUCCESS' });
  const callback = await merchant.callbackOf(reference);
  expect([...callback.keys()].filter((name) => name.startsWith('custom_'))).not.toEqual([]);
});

test("operators' commands ask by TLS, and trust the named authority alone", async () => {
  const commands = [
    (env: Record<string, string>, print: (line: string) => void) => runCallbacks(['list'], env, print),
    (env: Record<string, string>, print: (line: string) => void) => runPayouts(['list'], env, print),
  ];
  for (const run of commands) {
    const lines: string[] = [];
    const print = (line: string) => void lines.push(line);
    expect([await run(system.env, print), lines]).toEqual([0, expect.anything()]);
    const { INTERNAL_TLS_CA_FILE: _, ...withoutAuthority } = system.env;
    expect(await run(withoutAuthority, print)).toBe(1);
    expect(lines.at(-1)).toMatch(/self-signed certificate/);
  }
});

test('the doctor reads replicas by TLS, and says when their certificate ends', async () => {
  const OPS_URLS = `threeds=https://127.0.0.1:${ports['threeds']}`;
  const examine = async () => {
    const lines: string[] = [];
    await runDoctor([], { ...system.env, OPS_URLS }, (line) => lines.push(line));
    return lines.join('\n');
  };
  const text = await examine();
  expect(text).not.toMatch(/threeds at \S+ (does not answer|cannot)/);
  expect(text).not.toContain('The certificate of');
  const short = await createCertificate('localhost', 3 * DAY_MS);
  trust(`${first.cert}\n${short.cert}`);
  serve(short);
  const sentence = 'The certificate of the internal ports of threeds ends in';
  await until('the sentence', async () => (await examine()).includes(sentence), 30_000);
});

test('a port whose certificate nobody trusts gets no queries, until it has another one', async () => {
  const reference = await newSale();
  const queryPort = `https://127.0.0.1:${portOf('CARD_QUERY_URL')}`;
  serve(await createCertificate());
  await until('the new one', async () => (await answerAt(queryPort)) === 'DEPTH_ZERO_SELF_SIGNED_CERT');
  // Connections that are open keep their trust, and this replica has none.
  const edge = clientOf((await system.startEdge({ PORT: '0' })).ports.api);
  expect(await isFound(reference, edge)).toBe(false);
  serve(first);
  await until('the answer', () => isFound(reference, edge));
});

test('during a change-over a port takes HTTP too, callers change when they like, and it shows', async () => {
  const reference = await newSale();
  const { ports: during } = await system.startProcessor({ ALLOW_PLAIN_INTERNAL_PORTS: 'yes', CARD_QUERY_PORT: '0' });
  for (const scheme of ['http', 'https']) {
    const addresses = [during.query, during.ops].map((port) => `${scheme}://127.0.0.1:${port}`);
    expect(await Promise.all(addresses.map(answerAt))).toEqual([404, 404]);
    const caller = await system.startEdge({ PORT: '0', CARD_QUERY_URL: addresses[0] ?? '' });
    expect([scheme, await isFound(reference, clientOf(caller.ports.api))]).toEqual([scheme, true]);
  }
  const ops = createHttpClient({ baseUrl: `http://127.0.0.1:${during.ops}`, timeoutMs: 5_000 });
  expect((await ops.get('/about')).data).toMatchObject({ exceptions: ['ALLOW_PLAIN_INTERNAL_PORTS'] });
  const shown = /^gateway_plain_internal_ports\{[^}]*\} (\d)$/m;
  expect(shown.exec((await ops.get<string>('/metrics')).data)?.[1]).toBe('1');
  closeHttpClient(ops);
  expect((await system.metrics()).filter((page) => shown.exec(page)?.[1] === '1')).toHaveLength(1);
});
