import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyCallback } from '@payment-gateway/client';
import { TEST_CARDS } from '@gateway/contracts';
import { until } from '@gateway/testing';
import type { GatewayCommand, LocalShop } from './support/gateway-command';
import { endCommands, runCommand, startCommand, startLocalShop } from './support/gateway-command';
import type { Merchant } from './support/merchant';
import { isSigned, startMerchant } from './support/merchant';
import { freePort } from './support/free-port';
import { build } from './support/processes';
import type { Body, System } from './support/system';
import { cardRequest, CREDENTIALS, startSystem } from './support/system';

const CARD_PASSWORD = CREDENTIALS.merchant_password;
const WEBHOOK_SECRET = 'whsec_ZGVtbyB3ZWJob29rIHNlY3JldCBvZiAzMiBieXRlcyE=';
/** Accepted, and nobody listens there: how a merchant without a server of its own fills the field. */
const NOWHERE = 'https://localhost:65535/callback';

let system: System;
let merchant: Merchant;
let shop: LocalShop;
let folder: string;
let env: Record<string, string>;
let positions = 0;

beforeAll(async () => {
  await build();
  folder = mkdtempSync(join(tmpdir(), 'gateway-listen-'));
  merchant = await startMerchant();
  system = await startSystem('listen', { withPayouts: true });
  await system.startThreeds();
  await system.startDispatcher(merchant.ca);
  env = {
    GATEWAY_URL: `http://127.0.0.1:${system.edge.ports.api}`,
    GATEWAY_ACCOUNT: CREDENTIALS.merchant_account,
    GATEWAY_PASSWORD: CARD_PASSWORD,
    XDG_STATE_HOME: folder,
  };
}, 120_000);
afterAll(async () => {
  await system.stop();
  await merchant.close();
  rmSync(folder, { recursive: true });
});
beforeEach(async () => {
  shop = await startLocalShop();
});
afterEach(async () => {
  await endCommands();
  await shop.close();
});

function newPositionFile(): string {
  positions += 1;
  return join(folder, `position-${positions}.json`);
}

function listenTo({ port }: { port: number }, positionFile: string, ...more: string[]): GatewayCommand {
  return startCommand(
    env,
    'listen',
    '--forward-to',
    `http://127.0.0.1:${port}/hook?a=1`,
    '--position-file',
    positionFile,
    ...more,
  );
}

/** A listener that begins now, and has ended again. */
async function listened(positionFile: string): Promise<void> {
  const listener = listenTo(shop, positionFile);
  await until('it has a position', async () => existsSync(positionFile));
  listener.kill('SIGTERM');
  expect(await listener.ended).toBe(0);
}

async function sale3d(more: Body = {}): Promise<string> {
  const urls = { callback_url: NOWHERE, redirect_url: 'https://localhost/back' };
  const { data } = await system.send(
    cardRequest('SALE3D', { card_number: TEST_CARDS.frictionless.visa, ...urls, ...more }),
  );
  expect(data).toMatchObject({ status: 'success', code: 0 });
  return String(data['reference']);
}

/** Their callbacks, in the order of the feed. */
async function payments(count: number, more: Body = {}): Promise<string[]> {
  const references: string[] = [];
  for (let paid = 0; paid < count; paid += 1) {
    const reference = await sale3d(more);
    await isInFeed(reference);
    references.push(reference);
  }
  return references;
}

async function isInFeed(reference: string): Promise<void> {
  const fields = { ...CREDENTIALS, since: 0, wait: 0, limit: 100 };
  await until('its callback', async () => {
    const { data } = await system.http.post<Body>('/api/pf/callbacks/events', fields);
    return (data['events'] as Body[]).some((event) => event['reference'] === reference);
  });
}

async function callbacksOf(fields: Body): Promise<Body[]> {
  const { data } = await system.http.post<Body>('/api/pf/callbacks', { ...CREDENTIALS, ...fields });
  expect(data).toMatchObject({ code: 0 });
  return data['callbacks'] as Body[];
}

const forwarded = (): string[] => shop.received.map(({ reference }) => reference);
const isForwarded = (references: readonly string[]) =>
  until('all are forwarded', async () => references.every((reference) => forwarded().includes(reference)));

test('off during five payments, on, five forwarded, as they were sent to their address', async () => {
  const positionFile = newPositionFile();
  await listened(positionFile);
  const references = await payments(5, { callback_url: `${merchant.url}/callback` });
  listenTo(shop, positionFile);
  await isForwarded(references);
  expect(forwarded()).toEqual(references);
  for (const { path, headers, body, reference } of shop.received) {
    expect(path).toBe('/hook?a=1');
    expect(headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(isSigned(new URLSearchParams(body), CARD_PASSWORD)).toBe(true);
    // Signed when it was read, so it is not too old.
    const verified = verifyCallback({ body: Buffer.from(body), headers }, { webhookSecret: WEBHOOK_SECRET });
    expect(verified).toMatchObject({ verified: true, callback: { reference, sequence: 1 } });
    expect(body).toBe((await merchant.callbackOf(reference)).toString());
  }
});

test('killed midway it continues: nothing is lost, nothing is out of order', async () => {
  const positionFile = newPositionFile();
  await listened(positionFile);
  const references = await payments(8);
  const release = shop.hold(4);
  const first = listenTo(shop, positionFile);
  await until('the fourth is under way', async () => shop.received.length === 4);
  first.kill('SIGKILL');
  expect(await first.ended).toBe('SIGKILL');
  release();
  listenTo(shop, positionFile);
  await isForwarded(references);
  // At least once: the one that was under way comes again.
  expect(forwarded()).toEqual([...references.slice(0, 4), ...references.slice(3)]);
});

test('--since fills the gap after a break', async () => {
  const references = await payments(2);
  const listener = listenTo(shop, newPositionFile(), '--since', '1h');
  await isForwarded(references);
  expect(new Set(forwarded()).size).toBe(shop.received.length);
  expect(forwarded().slice(-2)).toEqual(references);
  expect(listener.output()).toMatch(/Forwarding the callbacks of demo_merchant .* since 20/);
  // A line follows its answer.
  await until('the lines', () => references.every((reference) => listener.output().includes(reference)));
});

test('it waits for a server that is not there yet, and repeats what was not acknowledged', async () => {
  const positionFile = newPositionFile();
  await listened(positionFile);
  const [first = '', second = ''] = await payments(2);
  const port = await freePort();
  const listener = listenTo({ port }, positionFile);
  await until('it says so', async () => listener.output().includes('does not answer'));
  await shop.close();
  shop = await startLocalShop(port);
  shop.statuses.push(500);
  await isForwarded([first, second]);
  expect(forwarded()).toEqual([first, first, second]);
  expect(listener.output()).toMatch(new RegExp(`${first} .*-> 500, not acknowledged`));
});

test('an unknown position is given up for its time', async () => {
  const positionFile = newPositionFile();
  const at = Math.floor(Date.now() / 1_000);
  const [reference = ''] = await payments(1);
  writeFileSync(positionFile, JSON.stringify({ cursor: '999:of-another-database', at }));
  const listener = listenTo(shop, positionFile);
  await isForwarded([reference]);
  expect(listener.output()).toContain('does not know the saved position');
  await until('the new position is saved', async () => !readFileSync(positionFile, 'utf8').includes('999'));
});

test.each([
  ['sale3d-success', { status: 'success', code: '0' }],
  ['sale3d-decline', { status: 'decline', code: '3101' }],
  ['sale3d-fraud', { status: 'decline', code: '3200' }],
  ['payout-success', { status: 'SUCCESS', code: '0' }],
  ['payout-decline', { status: 'DECLINED', code: '3101' }],
  ['payout-fraud', { status: 'FRAUDED', code: '3200' }],
  ['payout-error', { status: 'ERROR', code: '3300' }],
])('trigger %s makes a payment whose callback comes', async (scenario, outcome) => {
  const positionFile = newPositionFile();
  await listened(positionFile);
  const { code, output } = await runCommand(env, 'trigger', scenario);
  expect([code, output]).toEqual([0, expect.stringMatching(new RegExp(`^${scenario}: [0-9A-Z]{20}, trigger-`))]);
  const [reference = ''] = /[0-9A-Z]{20}/.exec(output) ?? [];
  listenTo(shop, positionFile);
  await isForwarded([reference]);
  const callback = shop.received.find((one) => one.reference === reference);
  expect(Object.fromEntries(new URLSearchParams(callback?.body))).toMatchObject({ reference, ...outcome });
});

test('events lists a callback with its attempts, and resend sends it again', async () => {
  const reference = await sale3d({ callback_url: `${merchant.url}/callback` });
  await merchant.callbackOf(reference);
  await until('it is delivered', async () => (await callbacksOf({ reference }))[0]?.['state'] === 'delivered');
  const listed = await runCommand(env, 'events', '--reference', reference);
  expect([listed.code, listed.output]).toEqual([
    0,
    expect.stringMatching(new RegExp(`${reference} .*delivered.* HTTP 200`)),
  ]);
  const { output } = await runCommand(env, 'events', '--json', '--limit', '1', '--since', '1h');
  const [latest] = JSON.parse(output) as Body[];
  expect(latest).toMatchObject({
    reference,
    type: 'card',
    state: 'delivered',
    attempts: [{ acknowledged: true, http_status: 200 }],
  });

  const positionFile = newPositionFile();
  await listened(positionFile);
  const resent = await runCommand(env, 'resend', String(latest?.['callback_id']));
  expect([resent.code, resent.output]).toEqual([0, expect.stringContaining(reference)]);
  listenTo(shop, positionFile);
  await isForwarded([reference]);
  await until(
    'its address gets it too',
    async () => merchant.callbacks.filter((one) => one.get('reference') === reference).length === 2,
  );
  expect(await runCommand(env, 'resend', 'none')).toMatchObject({
    code: 1,
    output: expect.stringContaining('no callback "none"'),
  });
});

test('what is wrong is said in one sentence, and the password is no argument', async () => {
  const onLine = await runCommand(env, 'events', '--password', CARD_PASSWORD);
  expect(onLine).toMatchObject({ code: 2, output: expect.stringContaining('does not belong on the command line') });
  expect(onLine.output).not.toContain(CARD_PASSWORD);
  const wrong = await runCommand({ ...env, GATEWAY_PASSWORD: 'wrong_password' }, 'listen', '--forward-to', '9');
  expect(wrong).toMatchObject({ code: 1, output: expect.stringMatching(/\(2001\)\. Check GATEWAY_ACCOUNT/) });
  const nobody = { ...env, GATEWAY_URL: 'http://127.0.0.1:9' };
  expect(await runCommand(nobody, 'events')).toMatchObject({
    code: 1,
    output: expect.stringContaining('does not answer'),
  });

  const { administration } = system.accounts;
  const { password } = await administration.create({ merchantAccount: 'live_shop' });
  await administration.changeState('live_shop', 'activate');
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, `${password.expose()}\n`);
  const { GATEWAY_PASSWORD: _password, ...others } = env;
  const live = { ...others, GATEWAY_ACCOUNT: 'live_shop', GATEWAY_PASSWORD_FILE: passwordFile };
  expect(await runCommand(live, 'listen', '--forward-to', '9')).toMatchObject({
    code: 1,
    output: expect.stringContaining('(2004). Send it for a sandbox account'),
  });
  expect(await runCommand(live, 'events')).toEqual({ code: 0, output: 'No callbacks.\n' });
});
