import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import type { NewAccount } from '@gateway/accounts';
import { until } from '@gateway/testing';
import type { EdgeFixture, Response } from './edge-fixture';
import { CREDENTIALS, SALE, startEdgeFixture } from './edge-fixture';

const PATH = '/api/pf/host-to-host';
const CHECK = { transaction_type: 'CHECK', transaction_unique_id: 'never-used-before' };
const NOTHING_FOUND = { code: 3014 };

let fixture: EdgeFixture;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await fixture.close();
});

/** Sends the beginning of a request, and then one byte at a time. */
async function trickle(path: string, contentType: string, localAddress: string, client = localAddress): Promise<void> {
  const socket = connect({ port: fixture.edge.ports.api, host: '127.0.0.1', localAddress });
  sockets.push(socket.on('error', () => undefined));
  await once(socket, 'connect');
  const headers = ['host: x', `content-type: ${contentType}`, 'content-length: 1000', `x-forwarded-for: ${client}`];
  socket.write(`POST ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n{`);
  const timer = setInterval(() => socket.write(' '), 20);
  socket.once('close', () => clearInterval(timer));
}

const openConnections = async (): Promise<number> => {
  const response = await fetch(`http://127.0.0.1:${fixture.edge.ports.ops}/metrics`);
  return Number(/gateway_connections_open\S* (\d+)/.exec(await response.text())?.[1]);
};

test('slow bodies take no slots of requests or pages', async () => {
  fixture = await startEdgeFixture('slow', { MAX_CONCURRENT_REQUESTS: '1' });
  const page = '/checkout/AAAAAAAAAAAAAAAAAAAAAA';
  for (let count = 0; count < 20; count += 1) {
    await trickle(PATH, 'application/json', '127.0.0.2');
    await trickle(page, 'application/x-www-form-urlencoded', '127.0.0.2');
  }
  await until('all are connected', async () => (await openConnections()) === 40);
  expect(await fixture.merchant(PATH, CHECK)).toMatchObject(NOTHING_FOUND);
  expect(await fixture.request('GET', page)).toMatchObject({ status: 404 });
});

test("a source at its connection limit loses its own connections, not a merchant's", async () => {
  fixture = await startEdgeFixture('crowd', { MAX_CONNECTIONS_PER_SOURCE: '5' });
  for (let count = 0; count < 20; count += 1) await trickle(PATH, 'application/json', '127.0.0.1');
  for (const headers of [{}, { connection: 'close' }]) {
    expect(await fixture.merchant(PATH, CHECK, headers)).toMatchObject(NOTHING_FOUND);
  }
  expect(await openConnections()).toBeLessThanOrEqual(5);
});

test('behind a trusted proxy X-Forwarded-For identifies clients', async () => {
  fixture = await startEdgeFixture('proxy', {
    MAX_CONNECTIONS_PER_SOURCE: '1',
    TRUSTED_PROXY_CIDRS: '127.0.0.0/8',
  });
  await fixture.accounts.administration.change(CREDENTIALS.merchant_account, { ipAllowlist: ['192.0.2.7'] });
  for (const client of ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.3', '192.0.2.3']) {
    await trickle(PATH, 'application/json', '127.0.0.1', client);
  }
  const from = (address: string) => fixture.merchant(PATH, CHECK, { 'x-forwarded-for': address });
  expect(await from('192.0.2.7')).toMatchObject(NOTHING_FOUND);
  expect(await from('192.0.2.8')).toMatchObject({
    code: 2008,
    message: 'Access from this IP-address is not available',
    errors: [
      { field: 'IP address', code: 2008, reason: 'address-not-allowed', hint: expect.stringContaining('192.0.2.8') },
    ],
  });
  await until('each client has one body under way', async () => (await openConnections()) === 3);
});

/** A SALE that its owner does not answer, so it keeps its slot until the reply times out. */
async function hangingSale(as: object): Promise<Response> {
  fixture.owner.answers.push('silence');
  const answer = await post({ ...SALE, ...as, transaction_unique_id: randomUUID() });
  expect(JSON.parse(answer.text)).toMatchObject({ code: answer.status === 200 ? 11 : 1007 });
  return answer;
}

async function post(fields: object, headers: Record<string, string> = {}): Promise<Response> {
  const body = JSON.stringify({ ...CREDENTIALS, ...fields });
  return fixture.request('POST', PATH, body, { 'content-type': 'application/json', ...headers });
}

const held = async (account: string): Promise<number> => {
  const metrics = await (await fetch(`http://127.0.0.1:${fixture.edge.ports.ops}/metrics`)).text();
  return Number(
    new RegExp(`gateway_account_requests_concurrent{account="${account}".* (\\d+)`).exec(metrics)?.[1] ?? 0,
  );
};

async function createAccount(merchantAccount: string, settings: NewAccount['settings'] = {}) {
  const { password } = await fixture.accounts.administration.create({ merchantAccount, settings });
  return { merchant_account: merchantAccount, merchant_password: password.expose() };
}

test('each account has its own limit of concurrent requests', async () => {
  fixture = await startEdgeFixture('share');
  const loud = await createAccount('loud_merchant', { maxConcurrentRequests: 2 });
  const hanging = [hangingSale(loud), hangingSale(loud)];
  await until('both are under way', async () => (await held('loud_merchant')) === 2);
  const refused = await post({ ...CHECK, ...loud });
  expect([refused.status, refused.headers['retry-after'], JSON.parse(refused.text)]).toEqual([
    429,
    '1',
    expect.objectContaining({
      status: 'error',
      code: 1007,
      message: 'Too many requests',
      errors: [
        {
          field: 'request',
          code: 1007,
          message: 'Too many requests',
          reason: 'too-many-at-once',
          hint: expect.stringMatching(/^Wait/),
          docs: expect.stringMatching(/\/errors#too-many-at-once$/),
        },
      ],
    }),
  ]);
  // Unknown accounts hold no slots.
  const stranger = await post({ ...CHECK, ...loud, merchant_password: 'wrong_password' });
  expect(JSON.parse(stranger.text)).toMatchObject({ code: 2001 });
  expect(await fixture.merchant(PATH, CHECK)).toMatchObject(NOTHING_FOUND);
  await Promise.all(hanging);
  expect(JSON.parse((await post({ ...CHECK, ...loud })).text)).toMatchObject(NOTHING_FOUND);
  expect(await held('loud_merchant')).toBe(0);
});

test('a sandbox account has 32 concurrent requests unless an operator allows more', async () => {
  fixture = await startEdgeFixture('sandbox');
  const sandbox = await createAccount('sandbox_one');
  const account = await fixture.accounts.administration.get('sandbox_one');
  expect(account).toMatchObject({ rateLimitPerSecond: 100, maxConcurrentRequests: 32 });
  const answers = await Promise.all(Array.from({ length: 40 }, () => hangingSale(sandbox)));
  const statuses = answers.map(({ status }) => status);
  expect([statuses.filter((status) => status === 200), statuses.filter((status) => status === 429)]).toMatchObject([
    { length: 32 },
    { length: 8 },
  ]);
});

test('a free slot goes to the account that holds the fewest', async () => {
  fixture = await startEdgeFixture('fair', { MAX_CONCURRENT_REQUESTS: '4' });
  const accounts = await Promise.all(['loud_merchant', 'busy_merchant'].map((name) => createAccount(name)));
  const hanging = accounts.flatMap((account) => [hangingSale(account), hangingSale(account)]);
  await until('all slots are taken', async () => (await held('loud_merchant')) + (await held('busy_merchant')) === 4);
  // Neither has more than half, waiting included.
  for (const account of accounts) expect((await post({ ...CHECK, ...account })).status).toBe(429);
  const quiet = fixture.merchant(PATH, CHECK);
  expect((await Promise.all(hanging)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(await quiet).toMatchObject(NOTHING_FOUND);
});

test('guessers are throttled, and learn nothing from a right guess; the merchant is served meanwhile', async () => {
  fixture = await startEdgeFixture('guess', { TRUSTED_PROXY_CIDRS: '127.0.0.0/8' });
  const neighbour = await createAccount('neighbour_one');
  const guesser = { 'x-forwarded-for': '192.0.2.66' };
  const merchant = { 'x-forwarded-for': '192.0.2.7' };
  let merchantIsAnswered = false;
  let guesses = 0;
  const codes = new Set<number>();
  async function guess(): Promise<void> {
    do {
      guesses += 1;
      const { text } = await post({ ...CHECK, merchant_password: `wrong_password_${guesses}` }, guesser);
      codes.add((JSON.parse(text) as { code: number }).code);
    } while (!merchantIsAnswered);
  }
  const guessers = Array.from({ length: 200 }, guess);
  expect(await fixture.merchant(PATH, CHECK, merchant)).toMatchObject(NOTHING_FOUND);
  // Behind the guessers' address too.
  expect(await fixture.merchant(PATH, { ...CHECK, ...neighbour }, guesser)).toMatchObject(NOTHING_FOUND);
  await until('a right guess is throttled like a wrong one', async () => {
    const { status, text } = await post(CHECK, guesser);
    return status === 429 && (JSON.parse(text) as { code: number }).code === 1007;
  });
  expect(await fixture.merchant(PATH, CHECK, merchant)).toMatchObject(NOTHING_FOUND);
  merchantIsAnswered = true;
  await Promise.all(guessers);
  expect(codes).toEqual(new Set([2001, 1007]));
});
