import { gzipSync } from 'node:zlib';
import type { CallbackEventPage, CallbackPage, CallbackView } from '@gateway/contracts';
import { queries, Secret } from '@gateway/contracts';
import { until } from '@gateway/testing';
import type { CallbackDispatcher } from '../src/app';
import type { World } from './dispatcher-fixture';
import { isSignedWith, MERCHANT, openWorld, outcome, PASSWORD, payoutOutcome } from './dispatcher-fixture';
import type { Answer, Receiver } from './receiver';
import { acknowledge, fail, newCertificate, startReceiver } from './receiver';

const OTHER = 'other_merchant';
const LIVE = 'live_merchant';
/** Allowed, and nobody listens there: like a merchant without a server of its own. */
const NOWHERE = 'https://127.0.0.1:65535/callback';

const certificate = newCertificate();
let world: World;
let dispatchers: CallbackDispatcher[];
let receiver: Receiver;

beforeAll(async () => {
  world = await openWorld('merchant-view', certificate);
  for (const merchantAccount of [OTHER, LIVE]) {
    await world.accounts.create({ merchantAccount, password: new Secret(PASSWORD) });
  }
  await world.accounts.changeState(LIVE, 'activate');
  receiver = await startReceiver(certificate);
  // Either may accept an outcome or answer.
  dispatchers = [await world.start(), await world.start()];
});
afterAll(async () => {
  await world.close();
  await receiver.close();
});
beforeEach(() => receiver.answer(acknowledge));

let asked = 0;
async function ask<Body>(path: string, parameters: Record<string, string> = {}, method = 'GET') {
  const port = dispatchers[(asked += 1) % dispatchers.length]?.ports.admin;
  const query = new URLSearchParams(parameters).toString();
  const response = await fetch(`http://127.0.0.1:${port}${path}?${query}`, { method });
  return { status: response.status, body: (await response.json()) as Body };
}

const list = (parameters: Record<string, string>) => ask<CallbackPage>('/callbacks', { limit: '50', ...parameters });
const events = (parameters: Record<string, string>) =>
  ask<CallbackEventPage>('/callbacks/events', { limit: '100', account: MERCHANT, ...parameters });
const endOfFeed = async (account = MERCHANT) => (await events({ account })).body.cursor;
const idsAfter = async (cursor: string, account = MERCHANT) =>
  (await events({ account, after: cursor })).body.events.map(({ id }) => id);
const isIn = (id: string, state: string) =>
  until(`${id} ${state}`, async () => (await world.deliveries.load(id))?.progress.state === state);

describe('the list', () => {
  it('shows a merchant its own callbacks with their attempts, newest first', async () => {
    const answered = [fail, acknowledge];
    receiver.answer((received, response) => (answered.shift() ?? acknowledge)(received, response));
    const record = outcome(`${receiver.url}/done?secret=abc`);
    const first = await world.publish(record);
    await until('the first attempt', async () => (await world.deliveries.load(first))?.attempts === 1);
    world.pass(2_000);
    await isIn(first, 'delivered');
    const second = await world.publish(outcome(`${receiver.url}/done`));
    await isIn(second, 'delivered');
    await isIn(await world.publish(outcome(`${receiver.url}/done`, { merchantAccount: OTHER })), 'delivered');

    const { body } = await list({ account: MERCHANT });
    expect(queries.callbacks.problem(body)).toBeUndefined();
    expect(body.callbacks.map(({ id }) => id)).toEqual([second, first]);
    expect(body.callbacks[1]).toEqual({
      id: first,
      kind: 'card',
      reference: record.reference,
      transactionUniqueId: record.transactionUniqueId,
      url: `${receiver.url}/done?secret=abc`,
      state: 'delivered',
      createdAt: expect.any(Number),
      endedAt: expect.any(Number),
      attempts: [
        {
          startedAt: expect.any(Number),
          acknowledged: false,
          httpStatus: 500,
          error: 'wrong_status',
          bodyStart: 'no',
          durationMs: expect.any(Number),
        },
        { startedAt: expect.any(Number), acknowledged: true, httpStatus: 200, durationMs: expect.any(Number) },
      ],
    });
    expect(JSON.stringify(body)).not.toContain('127.0.0.1"');
    const others = (await list({ account: OTHER })).body.callbacks;
    expect(others).toHaveLength(1);
    expect(others[0]?.id).not.toBe(first);
  });

  it('has pages, a beginning, and payments', async () => {
    const account = 'paged_merchant';
    await world.accounts.create({ merchantAccount: account, password: new Secret(PASSWORD) });
    const records = Array.from({ length: 5 }, () => outcome(NOWHERE, { merchantAccount: account }));
    const ids: string[] = [];
    for (const record of records) ids.unshift(await world.publish(record));
    await until('all', async () => (await list({ account })).body.callbacks.length === 5);

    const pages: string[][] = [];
    let next: string | undefined;
    do {
      const { body } = await list({ account, limit: '2', ...(next === undefined ? {} : { before: next }) });
      pages.push(body.callbacks.map(({ id }) => id));
      next = body.next;
    } while (next !== undefined);
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(new Set(pages.flat())).toEqual(new Set(ids));

    const [one, other] = records;
    const payment = `${one?.paymentId},${other?.paymentId}`;
    const found = (await list({ account, payment })).body.callbacks.map(({ reference }) => reference);
    expect(new Set(found)).toEqual(new Set([one?.reference, other?.reference]));
    expect((await list({ account: OTHER, payment })).body.callbacks).toEqual([]);
    expect((await list({ account, from: String(world.now() + 60_000) })).body.callbacks).toEqual([]);
  });

  it.each(['x', '1', '1:', ':a', `1:${'a'.repeat(65)}`])('does not know the page %j', async (before) => {
    expect((await list({ account: MERCHANT, before })).status).toBe(404);
  });

  const plain = (status: number, text: string, more: object = {}): Answer => {
    return (_received, response) => void response.writeHead(status, { ...more }).end(text);
  };

  it.each<[string, Answer, object]>([
    ['quotes', plain(200, '"OK"'), { httpStatus: 200, error: 'body_not_ok', bodyStart: '"OK"' }],
    ['an object', plain(200, '{"status":"OK"}'), { error: 'body_not_ok', bodyStart: '{"status":"OK"}' }],
    ['UTF-16', plain(200, 'O\0K\0'), { error: 'body_not_ok', bodyStart: 'O\\u{0}K\\u{0}' }],
    ['nothing', plain(200, ''), { error: 'body_not_ok', bodyStart: '' }],
    ['a created resource', plain(201, 'OK'), { httpStatus: 201, error: 'wrong_status', bodyStart: 'OK' }],
    ['no content', plain(204, ''), { httpStatus: 204, error: 'wrong_status', bodyStart: '' }],
    ['a redirect', plain(302, '', { location: '/login' }), { httpStatus: 302, error: 'redirected' }],
    ['a long body', plain(200, 'OK'.padEnd(5_000)), { error: 'body_too_long', bodyStart: 'OK'.padEnd(100) }],
    ['an encoding', plain(200, 'no', { 'content-encoding': 'zstd' }), { error: 'body_unreadable', bodyStart: 'no' }],
  ])('says why an answer is no acknowledgement: %s', async (_title, answer, expected) => {
    receiver.answer(answer);
    const id = await world.publish(outcome(`${receiver.url}/why`));
    await until('an attempt', async () => (await world.deliveries.load(id))?.attempts === 1);
    const { callbacks } = (await list({ account: MERCHANT, limit: '1' })).body;
    expect(callbacks[0]).toMatchObject({ id, attempts: [{ acknowledged: false, ...expected }] });
    // No retry is left for the tests after this one.
    receiver.answer(acknowledge);
    world.pass(2_000);
    await isIn(id, 'delivered');
  });

  it('takes a compressed OK for what it says', async () => {
    receiver.answer((_received, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('OK'));
    });
    await isIn(await world.publish(outcome(`${receiver.url}/gzip`)), 'delivered');
  });

  it('says that an address is refused, not which: its name may be one of our network', async () => {
    const id = await world.publish(outcome('https://10.0.0.1/done'));
    await until('an attempt', async () => (await world.deliveries.load(id))?.attempts === 1);
    const { callbacks } = (await list({ account: MERCHANT, limit: '1' })).body;
    expect(callbacks[0]?.attempts[0]?.error).toBe('address_refused');
    expect(JSON.stringify(callbacks[0]?.attempts)).not.toContain('10.0.0.1');
  });

  it.each([
    {},
    { account: MERCHANT, limit: '51' },
    { account: MERCHANT, limit: '0' },
    { account: MERCHANT, from: '-1' },
    { account: MERCHANT, payment: 'A,B,C' },
  ])('refuses %j', async (parameters) => {
    expect((await list(parameters)).status).toBe(400);
  });
});

describe('the feed', () => {
  it('has a callback once, with the bytes that an attempt sends, although its address cannot be reached', async () => {
    const before = await endOfFeed();
    const record = outcome(NOWHERE, { message: 'Müller & Söhne=ok|1' });
    const id = await world.publish(record);
    const [event, ...others] = await until('the event', async () => {
      const found = (await events({ after: before })).body.events;
      return found.length > 0 && found;
    });
    expect(others).toEqual([]);
    expect(event).toMatchObject({ id, kind: 'card', reference: record.reference });
    expect(event?.headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(isSignedWith(PASSWORD, Object.fromEntries(new URLSearchParams(event?.body)))).toBe(true);
    // The event that comes again is known.
    await world.publish(record, { id });
    await world.publish(outcome(NOWHERE));
    await until('the next one', async () => (await idsAfter(before)).length > 1);
    expect((await idsAfter(before)).filter((one) => one === id)).toEqual([id]);
  });

  it('has the body that was sent', async () => {
    const before = await endOfFeed();
    await isIn(await world.publishPayout(payoutOutcome(`${receiver.url}/payout`)), 'delivered');
    const [event] = (await events({ after: before })).body.events;
    expect(event?.kind).toBe('payout');
    expect(receiver.received.at(-1)?.body).toBe(event?.body);
  });

  it('keeps the order of a payment, and is read on from any event', async () => {
    const before = await endOfFeed();
    const first = outcome(NOWHERE);
    const ids: string[] = [];
    for (let count = 0; count < 6; count += 1) ids.push(await world.publish({ ...first, code: 0 }));
    await until('all', async () => (await idsAfter(before)).length === 6);
    const { events: found, cursor } = (await events({ after: before })).body;
    expect(found.map(({ id }) => id)).toEqual(ids);
    expect(cursor).toBe(found.at(-1)?.cursor);
    expect(await idsAfter(found[2]?.cursor ?? '')).toEqual(ids.slice(3));
    const since = String(found[0]?.at ?? 0);
    expect((await events({ since })).body.events.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
    expect((await events({ since: String(world.now() + 60_000) })).body).toEqual({ events: [], cursor });
  });

  it('belongs to sandbox accounts, each its own', async () => {
    const before = await endOfFeed();
    const id = await world.publish(outcome(NOWHERE, { merchantAccount: LIVE }));
    await until('it is stored', async () => (await world.deliveries.load(id)) !== null);
    const other = await world.publish(outcome(NOWHERE, { merchantAccount: OTHER }));
    await until('it is there', async () => (await events({ account: OTHER, since: '0' })).body.events.length > 0);
    expect((await events({ account: LIVE, since: '0' })).body.events).toEqual([]);
    expect(await idsAfter(before)).not.toContain(other);
    expect((await events({ account: OTHER, after: before })).status).toBe(404);
  });

  it.each([{ after: 'x' }, { after: '999:abc' }, { after: '7' }, { after: '' }])(
    'does not know the cursor %j',
    async (parameters) => {
      expect((await events(parameters)).status).toBe(404);
    },
  );

  it.each([{ since: 'x' }, { limit: '101' }])('refuses %j', async (parameters) => {
    expect((await events(parameters)).status).toBe(400);
  });
});

describe('a resend', () => {
  it('sends the callback again, and shows it in the feed once more', async () => {
    const start = await endOfFeed();
    const id = await world.publish(outcome(`${receiver.url}/again`));
    await isIn(id, 'delivered');
    await until('the feed has it', async () => (await idsAfter(start)).includes(id));
    const before = await endOfFeed();
    const received = receiver.received.length;
    const { status, body } = await ask<CallbackView>(`/callbacks/${id}/resend`, { account: MERCHANT }, 'POST');
    expect([status, body.id, body.state]).toEqual([200, id, 'pending']);
    await until('it comes again', async () => receiver.received.length > received);
    expect(await idsAfter(before)).toEqual([id]);
  });

  it.each([{ account: OTHER }, {}])('is refused for %j', async (parameters) => {
    const id = await world.publish(outcome(`${receiver.url}/own`));
    await isIn(id, 'delivered');
    expect((await ask(`/callbacks/${id}/resend`, parameters, 'POST')).status).toBe(404);
    expect((await world.deliveries.load(id))?.progress.state).toBe('delivered');
  });
});
