import type { ClientRequest } from 'node:http';
import { request as httpRequest } from 'node:http';
import type { CallbackEvent, CallbackView } from '@gateway/contracts';
import { until } from '@gateway/testing';
import type { CallbackOwner } from './callback-owner';
import { startCallbackOwner } from './callback-owner';
import type { EdgeFixture, Response } from './edge-fixture';
import { CREDENTIALS, startEdgeFixture } from './edge-fixture';

const LIST = '/api/pf/callbacks';
const EVENTS = '/api/pf/callbacks/events';
const RESEND = '/api/pf/callbacks/resend';
const JSON_BODY = { 'content-type': 'application/json' };
const POLLS_PER_ACCOUNT = 4;
const LISTS_PER_ACCOUNT = 3;
const CHECK = { transaction_type: 'CHECK', transaction_unique_id: 'never-used-before' };
const SUCCESS = { status: 'success', code: 0, message: 'Transaction processed successfully' };
const AT = 1_800_000_000_123;
const AT_SECONDS = 1_800_000_000;

let owner: CallbackOwner;
let fixture: EdgeFixture;
let live: object;

beforeAll(async () => {
  owner = await startCallbackOwner();
  // An account gets half of the slots: as many as it may have polls.
  const slots = { MAX_CONCURRENT_REQUESTS: String(2 * POLLS_PER_ACCOUNT) };
  fixture = await startEdgeFixture('callbacks', { CALLBACK_ADMIN_URL: owner.url, ...slots });
  const { administration } = fixture.accounts;
  const { password } = await administration.create({ merchantAccount: 'live_merchant' });
  await administration.changeState('live_merchant', 'activate');
  live = { merchant_account: 'live_merchant', merchant_password: password.expose() };
});
afterAll(async () => {
  await fixture.close();
  await owner.close();
});
beforeEach(() => {
  owner.callbacks.length = 0;
  owner.feeds.clear();
  owner.asked.length = 0;
});

const CALLBACK: CallbackView = {
  id: 'a-callback',
  kind: 'card',
  reference: '0123456789ABCDEF0001',
  transactionUniqueId: 'order-1',
  url: 'https://shop.example/done?key=1',
  state: 'pending',
  createdAt: AT,
  nextAttemptAt: AT + 3_000,
  attempts: [
    { startedAt: AT, acknowledged: false, httpStatus: 200, error: 'body_not_ok', bodyStart: '"OK"', durationMs: 3 },
    { startedAt: AT + 1_000 },
  ],
};

function eventOf(index: number): CallbackEvent {
  return {
    id: `callback-${index}`,
    kind: 'card',
    reference: '0123456789ABCDEF0001',
    transactionUniqueId: 'order-1',
    at: AT,
    cursor: String(index),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `code=0&checkSum=${index}`,
  };
}

describe('the list', () => {
  it('shows callbacks with their attempts, in unix seconds', async () => {
    owner.callbacks.push(CALLBACK);
    const answer = await fixture.merchant(LIST, {});
    expect(answer).toEqual({
      api_version: 1,
      merchant_account: 'demo_merchant',
      sessionid: expect.stringMatching(/^.{36}$/),
      callbacks: [
        {
          callback_id: 'a-callback',
          type: 'card',
          reference: '0123456789ABCDEF0001',
          transaction_unique_id: 'order-1',
          callback_url: 'https://shop.example/done?key=1',
          state: 'pending',
          timestamp: AT_SECONDS,
          next_attempt_at: AT_SECONDS + 3,
          attempts: [
            {
              timestamp: AT_SECONDS,
              acknowledged: false,
              http_status: 200,
              error: 'body_not_ok',
              body_start: '"OK"',
              duration_ms: 3,
            },
            { timestamp: AT_SECONDS + 1 },
          ],
        },
      ],
      cursor: '1:a',
      ...SUCCESS,
    });
    expect(owner.asked).toEqual([
      { method: 'GET', path: '/callbacks', parameters: { account: 'demo_merchant', limit: '20' } },
    ]);
  });

  it('asks for the page, the time and the payment that the merchant names, also in a form', async () => {
    const page = { reference: '0123456789ABCDEF0007', time_from: '17', limit: '3', cursor: '1:a' };
    const form = new URLSearchParams({ ...CREDENTIALS, api_version: '1', ...page });
    const { text } = await fixture.request('POST', LIST, form.toString());
    expect(JSON.parse(text)).toMatchObject({ callbacks: [], ...SUCCESS });
    expect(JSON.parse(text)).not.toHaveProperty('cursor');
    const parameters = {
      account: 'demo_merchant',
      payment: '0123456789ABCDEF',
      from: '17000',
      limit: '3',
      before: '1:a',
    };
    expect(owner.asked).toEqual([{ method: 'GET', path: '/callbacks', parameters }]);
  });

  it('is empty for an unknown id', async () => {
    const answer = await fixture.merchant(LIST, { transaction_unique_id: 'never-used-before' });
    expect(answer).toMatchObject({ callbacks: [], ...SUCCESS });
    expect(owner.asked).toEqual([]);
  });

  it.each(['A,B,C', 'A,B', '0123456789ABCDE', '0123456789abcdef0001', '../payouts/on-record'])(
    'is empty for the reference %j, which names nothing',
    async (reference) => {
      expect(await fixture.merchant(LIST, { reference })).toMatchObject({ callbacks: [], ...SUCCESS });
      expect(owner.asked).toEqual([]);
    },
  );

  it('is read a few times at once for an account; others do not wait', async () => {
    let release = (): void => undefined;
    owner.ready = new Promise((resolve) => (release = resolve));
    const lists = Array.from({ length: LISTS_PER_ACCOUNT }, () => fixture.merchant(LIST, {}));
    await until('all are under way', async () => owner.asked.length === LISTS_PER_ACCOUNT);
    const refused = await fixture.request('POST', LIST, JSON.stringify(CREDENTIALS), JSON_BODY);
    expect([refused.status, refused.headers['retry-after'], JSON.parse(refused.text)]).toMatchObject([
      429,
      '1',
      { code: 1007 },
    ]);
    const other = fixture.merchant(LIST, { merchant_account: 'demo_custom' });
    await until("the other's too", async () => owner.asked.length > LISTS_PER_ACCOUNT);
    release();
    expect(await Promise.all([...lists, other])).toMatchObject(Array(LISTS_PER_ACCOUNT + 1).fill(SUCCESS));
  });

  it('is for every account', async () => {
    expect(await fixture.merchant(LIST, live)).toMatchObject(SUCCESS);
    expect(owner.asked).toMatchObject([{ parameters: { account: 'live_merchant' } }]);
  });

  it.each([
    [{ limit: 51 }, 'limit'],
    [{ limit: '1.5' }, 'limit'],
    [{ cursor: 'x'.repeat(101) }, 'cursor'],
    [{ cursor: 'made up' }, 'cursor'],
    [{ time_from: -1 }, 'time_from'],
    [{ reference: 'x'.repeat(21) }, 'reference'],
  ])('refuses %j', async (fields, name) => {
    const answer = await fixture.merchant(LIST, fields);
    expect(answer).toMatchObject({ status: 'error', code: 1004, message: `Invalid ${name} in request message` });
  });
});

test.each([LIST, EVENTS, RESEND])('%s checks credentials as CHECK does', async (path) => {
  expect(await fixture.merchant(path, { merchant_password: 'wrong_password' })).toMatchObject({ code: 2001 });
  expect(await fixture.merchant(path, { api_version: 2 })).toMatchObject({ code: 1005 });
  expect(await fixture.merchant(path, { merchant_account: '' })).toMatchObject({ code: 1002 });
});

test.each([EVENTS, RESEND])('%s is for sandbox accounts', async (path) => {
  expect(await fixture.merchant(path, { ...live, callback_id: 'a' })).toMatchObject({
    status: 'error',
    code: 2004,
    errors: [{ field: 'path', reason: 'type-not-allowed', hint: expect.stringContaining('sandbox') }],
  });
  expect(owner.asked).toEqual([]);
});

test.each([
  [LIST, {}],
  [EVENTS, { cursor: '0' }],
  [RESEND, { callback_id: 'a-callback' }],
])('%s says so when its owner is away', async (path, fields) => {
  owner.away = true;
  const answer = await fixture.merchant(path, fields).finally(() => (owner.away = false));
  expect(answer).toMatchObject({ status: 'error', code: 10, errors: [{ reason: 'unavailable' }] });
});

describe('a resend', () => {
  it('is passed on, and answers with the callback', async () => {
    owner.callbacks.push(CALLBACK);
    const answer = await fixture.merchant(RESEND, { callback_id: 'a-callback' });
    expect(answer).toMatchObject({ callbacks: [{ callback_id: 'a-callback', state: 'pending' }], ...SUCCESS });
    expect(owner.asked).toEqual([
      { method: 'POST', path: '/callbacks/a-callback/resend', parameters: { account: 'demo_merchant' } },
    ]);
  });

  it('needs an id that there is', async () => {
    expect(await fixture.merchant(RESEND, {})).toMatchObject({
      code: 1002,
      message: 'callback_id not present in request',
    });
    expect(await fixture.merchant(RESEND, { callback_id: '../x' })).toMatchObject({ code: 3014 });
  });
});

describe('events', () => {
  const feed = (account = 'demo_merchant') => {
    const events = owner.feeds.get(account) ?? [];
    owner.feeds.set(account, events);
    return events;
  };

  it('begin at the end of the feed unless the merchant says where', async () => {
    feed().push(eventOf(1));
    expect(await fixture.merchant(EVENTS, {})).toMatchObject({ events: [], cursor: '1', ...SUCCESS });
    const answer = await fixture.merchant(EVENTS, { since: AT_SECONDS });
    expect(answer).toMatchObject({ cursor: '1', ...SUCCESS });
    expect(answer['events']).toEqual([
      {
        callback_id: 'callback-1',
        type: 'card',
        reference: '0123456789ABCDEF0001',
        transaction_unique_id: 'order-1',
        timestamp: AT_SECONDS,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'code=0&checkSum=1',
        cursor: '1',
      },
    ]);
    expect(owner.asked.at(-1)?.parameters).toEqual({
      account: 'demo_merchant',
      since: String(AT_SECONDS * 1_000),
      limit: '50',
    });
  });

  it('that are there come at once; a cursor wins over a time', async () => {
    feed().push(eventOf(1), eventOf(2));
    const answer = await fixture.merchant(EVENTS, { cursor: '1', since: 5, wait: 25 });
    expect(answer).toMatchObject({ events: [{ callback_id: 'callback-2' }], cursor: '2' });
    expect(owner.asked).toHaveLength(1);
  });

  it('are waited for', async () => {
    const waiting = fixture.merchant(EVENTS, { cursor: '0', wait: 25 });
    await until('it waits', async () => owner.asked.length > 2);
    feed().push(eventOf(1));
    expect(await waiting).toMatchObject({ events: [{ callback_id: 'callback-1' }], cursor: '1', ...SUCCESS });
  });

  it('are waited for no longer than asked', async () => {
    expect(await fixture.merchant(EVENTS, { cursor: '0', wait: 0 })).toMatchObject({ events: [], cursor: '0' });
    expect(owner.asked).toHaveLength(1);
    expect(await fixture.merchant(EVENTS, { cursor: '0', wait: 1 })).toMatchObject({ events: [], cursor: '0' });
    expect(owner.asked.length).toBeGreaterThan(2);
  });

  it.each([
    [{ cursor: '7' }, 'cursor'],
    [{ wait: 26 }, 'wait'],
    [{ limit: 101 }, 'limit'],
    [{ since: 'yesterday' }, 'since'],
  ])('refuse %j', async (fields, name) => {
    const answer = await fixture.merchant(EVENTS, fields);
    expect(answer).toMatchObject({ code: 1004, message: `Invalid ${name} in request message` });
  });

  /** A poll that can be cut off. */
  function poll(fields: object): { sent: ClientRequest; answer: Promise<Response> } {
    const options = { host: '127.0.0.1', port: fixture.edge.ports.api, method: 'POST', path: EVENTS, agent: false };
    const sent = httpRequest({ ...options, headers: JSON_BODY });
    const answer = new Promise<Response>((resolve, reject) => {
      sent.once('error', reject);
      sent.once('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('end', () => {
          const { statusCode: status = 0, headers } = response;
          resolve({ status, headers, text: Buffer.concat(chunks).toString() });
        });
      });
    });
    sent.end(JSON.stringify({ ...CREDENTIALS, cursor: '0', wait: 25, ...fields }));
    return { sent, answer };
  }

  const waitingOf = async (account: string): Promise<number> => {
    const response = await fetch(`http://127.0.0.1:${fixture.edge.ports.ops}/metrics`);
    const held = new RegExp(`gateway_account_polls_concurrent{account="${account}".* (\\d+)`);
    return Number(held.exec(await response.text())?.[1] ?? 0);
  };

  it('have a few places for each account; a client that leaves frees its own', async () => {
    const polls = Array.from({ length: POLLS_PER_ACCOUNT }, () => poll({}));
    const ended = polls.map(({ answer }) => answer.catch(() => undefined));
    await until('all wait', async () => (await waitingOf('demo_merchant')) === POLLS_PER_ACCOUNT);
    const refused = await poll({}).answer;
    expect([refused.status, refused.headers['retry-after'], JSON.parse(refused.text)]).toMatchObject([
      429,
      '1',
      { code: 1007 },
    ]);
    // Its other requests find their slots free, and another account does not notice.
    expect(await fixture.merchant('/api/pf/host-to-host', CHECK)).toMatchObject({ code: 3014 });
    feed('demo_custom').push(eventOf(1));
    expect(JSON.parse((await poll({ merchant_account: 'demo_custom' }).answer).text)).toMatchObject({ cursor: '1' });

    for (const { sent } of polls) sent.destroy();
    await Promise.all(ended);
    await until('the places are free', async () => (await waitingOf('demo_merchant')) === 0);
    feed().push(eventOf(1));
    expect(JSON.parse((await poll({}).answer).text)).toMatchObject({ cursor: '1' });
  });

  it('count as no latency', async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${fixture.edge.ports.ops}/metrics`)).text();
    expect(metrics).toMatch(/gateway_operation_seconds_count\{.*operation="CALLBACKS"/);
    expect(metrics).toMatch(/gateway_requests_total\{path="\/api\/pf\/callbacks\/events"/);
    expect(metrics).not.toMatch(/operation="CALLBACK_EVENTS"/);
  });

  it('end when the edge stops', async () => {
    const { answer } = poll({});
    await until('it waits', async () => (await waitingOf('demo_merchant')) === 1);
    await Promise.all([
      fixture.stopServices(),
      answer.then(({ text }) => expect(JSON.parse(text)).toMatchObject({ events: [], cursor: '0', ...SUCCESS })),
    ]);
  });
});
