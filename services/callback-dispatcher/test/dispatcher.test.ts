import { openAudit } from '@gateway/audit';
import { Secret } from '@gateway/contracts';
import { createDeadLetters } from '@gateway/messaging';
import { createCallers, silentLogger, until } from '@gateway/testing';
import type { CallbackDispatcher } from '../src/app';
import { runCli } from '../src/cli';
import type { DeliveryDetails, DeliveryList } from '../src/adapters/http/admin-api';
import type { World } from './dispatcher-fixture';
import {
  isSignedWith,
  MERCHANT,
  metricsOf,
  openWorld,
  outcome,
  PASSWORD,
  PAYOUT_SECRET,
  payoutOutcome,
  startQueries,
} from './dispatcher-fixture';
import type { Answer, Receiver } from './receiver';
import { acknowledge, fail, newCertificate, startReceiver } from './receiver';

const HANDLERS = 128;
const MAX_HELD = 200;
const OWN_TOKEN = 'the-own-identity-token-of-the-dispatcher';
const callers = createCallers();
const certificate = newCertificate();
let world: World;
type Queries = Awaited<ReturnType<typeof startQueries>>;
let queries: Queries;
let payoutQueries: Queries;
let dispatcher: CallbackDispatcher;
let receiver: Receiver;
const receivers: Receiver[] = [];

async function newReceiver(): Promise<Receiver> {
  const started = await startReceiver(certificate);
  receivers.push(started);
  return started;
}

beforeAll(async () => {
  world = await openWorld('callbacks', certificate);
  queries = await startQueries();
  payoutQueries = await startQueries();
  const env = {
    CALLBACK_RETRY_SCHEDULE: '10,30',
    CARD_QUERY_URL: queries.url,
    PAYOUT_QUERY_URL: payoutQueries.url,
    CALLERS_FILE: callers.file,
    IDENTITY_TOKEN: OWN_TOKEN,
  };
  dispatcher = await world.start(env, { maxHeldEvents: MAX_HELD });
});
afterAll(async () => {
  await world.close();
  await queries.close();
  await payoutQueries.close();
  callers.remove();
});
beforeEach(async () => {
  receiver = await newReceiver();
});
afterEach(async () => {
  for (const one of receivers.splice(0)) await one.close();
});

const stateOf = async (id: string) => (await world.deliveries.load(id))?.progress.state;
const isIn = (id: string, state: string) => until(`${id} ${state}`, async () => (await stateOf(id)) === state);
const attemptsMade = (id: string, count: number) =>
  until(`${count} attempts`, async () => (await world.deliveries.load(id))?.attempts === count);

function admin(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${callers.token('operator')}` };
  return fetch(`http://127.0.0.1:${dispatcher.ports.admin}${path}`, { headers, ...init });
}

async function cli(...args: string[]): Promise<{ code: number; text: string }> {
  const lines: string[] = [];
  const env = {
    CALLBACK_ADMIN_URL: `http://127.0.0.1:${dispatcher.ports.admin}`,
    IDENTITY_TOKEN: callers.token('operator'),
  };
  const code = await runCli(args, env, (line) => lines.push(line));
  return { code, text: lines.join('\n') };
}

describe('a final outcome', () => {
  it('is sent as committed, signed with the API password', async () => {
    const record = outcome(`${receiver.url}/done?secret=abc`, {
      message: 'Müller & Söhne=ok|1',
      code: 3101,
      status: 'decline',
    });
    const id = await world.publish(record, { type: 'OperationDeclined' });
    await isIn(id, 'delivered');
    const [received, ...others] = receiver.received;
    expect(others).toHaveLength(0);
    expect(received?.path).toBe('/done?secret=abc');
    expect(Object.entries(received?.fields ?? {})).toEqual([
      ['token', record.token],
      ['reference', record.reference],
      ['transaction_unique_id', record.transactionUniqueId],
      ['status', 'decline'],
      ['code', '3101'],
      ['message', 'Müller & Söhne=ok|1'],
      ['checkSum', expect.stringMatching(/^[0-9a-f]{64}$/)],
    ]);
    expect(isSignedWith(PASSWORD, received?.fields ?? {})).toBe(true);
  });

  it('is stored with its first attempt in one document, and publishes events', async () => {
    const record = outcome(`${receiver.url}/done?secret=abc`);
    const id = await world.publish(record);
    await until('the events', () => world.eventsOf(id).length === 2);
    expect(world.eventsOf(id)).toEqual(['CallbackAttempted', 'CallbackDelivered']);
    const [attempted] = world.events.filter(({ data }) => data.deliveryId === id);
    expect(attempted).toMatchObject({
      key: record.paymentId,
      subject: id,
      causationId: id,
      data: {
        kind: 'card',
        reference: record.reference,
        merchantAccount: MERCHANT,
        origin: receiver.url,
        attempts: 1,
        acknowledged: true,
        httpStatus: 200,
      },
    });
    // Written when it was accepted, and after the attempt.
    expect(await world.stored('deliveries', id)).toMatchObject({ version: 2 });
    expect(await world.storedAttempts(id)).toEqual([]);
    expect(await world.attemptsOf(id)).toEqual([
      {
        startedAt: expect.any(Number),
        endedAt: expect.any(Number),
        acknowledged: true,
        durationMs: expect.any(Number),
        address: '127.0.0.1',
        httpStatus: 200,
      },
    ]);
    await until('the outbox is drained', async () => (await world.deliveries.load(id))?.outbox.length === 0);
  });

  it('is sent once, however often its event comes', async () => {
    const record = outcome(receiver.url);
    const id = await world.publish(record);
    await isIn(id, 'delivered');
    await world.publish(record, { id });
    const later = await world.publish({ ...record, reference: `${record.paymentId}ZZZZ` });
    await isIn(later, 'delivered');
    expect(receiver.received.filter(({ fields }) => fields['reference'] === record.reference)).toHaveLength(1);
  });

  it('is not sent without a callback address', async () => {
    const silent = outcome(undefined);
    const id = await world.publish(silent);
    const later = await world.publish({ ...silent, reference: `${silent.paymentId}ZZZZ`, callbackUrl: receiver.url });
    await isIn(later, 'delivered');
    expect(await world.deliveries.load(id)).toBeNull();
    expect(receiver.received).toHaveLength(1);
  });

  it('has no token if the operation has none', async () => {
    const { token: _token, ...record } = outcome(receiver.url);
    await isIn(await world.publish(record), 'delivered');
    expect(Object.keys(receiver.received[0]?.fields ?? {})).not.toContain('token');
    expect(isSignedWith(PASSWORD, receiver.received[0]?.fields ?? {})).toBe(true);
  });

  it('goes to the dead letters if it is not final, and blocks no others', async () => {
    const poison = outcome(receiver.url, { status: 'pending' });
    const id = await world.publish(poison);
    const later = await world.publish({ ...poison, status: 'error', reference: `${poison.paymentId}ZZZZ` });
    await isIn(later, 'delivered');
    expect(await world.deliveries.load(id)).toBeNull();
    const { topicPrefix } = world.space;
    const letters = await createDeadLetters({ kafka: world.kafka, topicPrefix, publisher: world.publisher }).list({
      limit: 10,
    });
    expect(letters.map(({ reason }) => reason).join()).toContain('not final');
  });
});

describe("a payout's final outcome", () => {
  it('is sent in upper case, signed with the payout secret, and acknowledged by any 200', async () => {
    receiver.answer((_received, response) => void response.end('<html>thanks</html>'));
    const record = payoutOutcome(`${receiver.url}/paid`, {
      status: 'declined',
      code: 3101,
      message: 'Insufficient funds',
    });
    const id = await world.publishPayout(record, 'PayoutDeclined');
    await isIn(id, 'delivered');
    const [received, ...others] = receiver.received;
    expect(others).toHaveLength(0);
    expect(Object.entries(received?.fields ?? {})).toEqual([
      ['token', record.token],
      ['reference', record.reference],
      ['transaction_unique_id', record.transactionUniqueId],
      ['status', 'DECLINED'],
      ['code', '3101'],
      ['message', 'Insufficient funds'],
      ['checkSum', expect.stringMatching(/^[0-9a-f]{64}$/)],
    ]);
    expect(isSignedWith(PAYOUT_SECRET, received?.fields ?? {})).toBe(true);
    expect(isSignedWith(PASSWORD, received?.fields ?? {})).toBe(false);
    await until('the events', () => world.eventsOf(id).length === 2);
    const [attempted] = world.events.filter(({ data }) => data.deliveryId === id);
    expect(attempted).toMatchObject({ key: record.payoutId, data: { kind: 'payout', reference: record.reference } });
  });

  it.each([
    ['PayoutSettled', 'success', 'SUCCESS'],
    ['PayoutFailed', 'error', 'ERROR'],
    ['PayoutFrauded', 'frauded', 'FRAUDED'],
  ] as const)('%s: %s is sent as %s', async (type, status, sent) => {
    await isIn(await world.publishPayout(payoutOutcome(receiver.url, { status }), type), 'delivered');
    expect(receiver.received[0]?.fields).toMatchObject({ status: sent });
  });

  it('is sent again after any other status, even 204', async () => {
    receiver.answer((_received, response) => void response.writeHead(204).end());
    const id = await world.publishPayout(payoutOutcome(receiver.url));
    await attemptsMade(id, 1);
    expect(await stateOf(id)).toBe('pending');
    receiver.answer(acknowledge);
    world.pass(31_000);
    await isIn(id, 'delivered');
  });

  it('is the only callback of a payout; earlier states and a return have none', async () => {
    const { callbackUrl: _callbackUrl, ...others } = payoutOutcome(receiver.url);
    const silent = [
      await world.publishPayout({ ...others, status: 'pending', code: 11 }, 'PayoutSubmitted'),
      await world.publishPayout(others, 'PayoutScreened', { passed: true }),
      await world.publishPayout(others, 'PayoutReturned', { returnReason: 'AC04' }),
    ];
    const last = await world.publishPayout({ ...others, callbackUrl: receiver.url });
    await isIn(last, 'delivered');
    for (const id of silent) expect(await world.deliveries.load(id)).toBeNull();
    expect(receiver.received).toHaveLength(1);
  });

  it('goes to the dead letters if it is not final, and blocks no others', async () => {
    const poison = payoutOutcome(receiver.url, { status: 'pending' });
    const id = await world.publishPayout(poison);
    await isIn(await world.publishPayout({ ...poison, status: 'error' }, 'PayoutFailed'), 'delivered');
    expect(await world.deliveries.load(id)).toBeNull();
    const { topicPrefix } = world.space;
    const letters = await createDeadLetters({ kafka: world.kafka, topicPrefix, publisher: world.publisher }).list({
      limit: 10,
    });
    expect(letters).toContainEqual(
      expect.objectContaining({
        topic: expect.stringContaining('payout.events') as unknown,
        reason: expect.stringContaining('not final') as unknown,
      }),
    );
  });
});

describe('a callback that is not acknowledged', () => {
  it('is sent again on schedule, then given up; an operator sends it again, and it is recovered', async () => {
    receiver.answer(fail);
    const id = await world.publish(outcome(receiver.url));
    await attemptsMade(id, 1);
    const first = await world.deliveries.load(id);
    const [{ endedAt = 0 } = {}] = await world.attemptsOf(id);
    const dueAt = first?.progress.state === 'pending' ? first.progress.nextAttemptAt : 0;
    // 10 s and half of the jitter of one tenth.
    expect(Math.abs(dueAt - endedAt - 10_500)).toBeLessThan(100);
    world.pass(10_600);
    await attemptsMade(id, 2);
    expect(await stateOf(id)).toBe('pending');
    world.pass(31_600);
    await isIn(id, 'exhausted');
    await until('the events', () => world.eventsOf(id).length === 4);
    expect(world.eventsOf(id)).toEqual([
      'CallbackAttempted',
      'CallbackAttempted',
      'CallbackAttempted',
      'CallbackExhausted',
    ]);
    world.pass(1_000_000);
    receiver.answer(acknowledge);
    const resent = await cli('resend', id);
    expect(resent).toMatchObject({ code: 0, text: expect.stringContaining(`${id}\tpending`) });
    await isIn(id, 'delivered');
    await until('the events', () => world.eventsOf(id).length === 6);
    expect(world.eventsOf(id).slice(4)).toEqual(['CallbackAttempted', 'CallbackRecovered']);
    expect(receiver.received).toHaveLength(4);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  });

  const answers: [string, Answer][] = [
    ['200 without OK', (_received, response) => void response.end('Thanks')],
    ['a redirect', (_received, response) => void response.writeHead(307, { location: '/' }).end('OK')],
  ];
  it.each(answers)('by %s stays pending', async (_what, answer) => {
    receiver.answer(answer);
    const id = await world.publish(outcome(receiver.url));
    await attemptsMade(id, 1);
    expect(await stateOf(id)).toBe('pending');
    expect(receiver.received).toHaveLength(1);
  });

  it('is signed with the current password', async () => {
    receiver.answer(fail);
    const merchantAccount = 'rotating_merchant';
    await world.accounts.create({ merchantAccount, password: new Secret('the_old_password') });
    const id = await world.publish(outcome(receiver.url, { merchantAccount }));
    await attemptsMade(id, 1);
    await world.accounts.rotatePassword(merchantAccount, { password: new Secret('the_new_password') });
    receiver.answer(acknowledge);
    world.pass(31_000);
    await isIn(id, 'delivered');
    const [before, after] = receiver.received;
    expect(isSignedWith('the_old_password', before?.fields ?? {})).toBe(true);
    expect(isSignedWith('the_new_password', after?.fields ?? {})).toBe(true);
  });

  it('is kept while its account is unknown, and sent once the account exists', async () => {
    const merchantAccount = 'late_merchant';
    const id = await world.publish(outcome(receiver.url, { merchantAccount }));
    await attemptsMade(id, 1);
    expect(await world.attemptsOf(id)).toMatchObject([{ error: 'the account is unknown', acknowledged: false }]);
    expect(receiver.received).toHaveLength(0);
    await world.accounts.create({ merchantAccount, password: new Secret(PASSWORD) });
    world.pass(31_000);
    await isIn(id, 'delivered');
  });

  it('is not dialled at a private address', async () => {
    const id = await world.publish(outcome('https://10.0.0.1/done'));
    await attemptsMade(id, 1);
    const [attempt] = await world.attemptsOf(id);
    expect(attempt).toMatchObject({ error: 'the address is refused (private)', address: '10.0.0.1' });
  });
});

describe('custom parameters', () => {
  it('come from card-processing, only those that the account has activated', async () => {
    const merchantAccount = 'custom_merchant';
    await world.accounts.create({
      merchantAccount,
      password: new Secret(PASSWORD),
      settings: { customParameters: ['custom_bank_id', 'custom_card_last', 'custom_mid_name'] },
    });
    queries.answer(503, {});
    const record = outcome(receiver.url, { merchantAccount });
    const id = await world.publish(record);
    await until('card-processing is asked', () => queries.asked.length > 1);
    expect(await world.deliveries.load(id)).toBeNull();
    queries.answer(200, {
      ...record,
      timestamp: record.acceptedAt,
      authcode: null,
      status: 'error',
      message: 'a later state',
      custom: { custom_card_last: '1111', custom_bank_id: '42', custom_card_bin: '411111' },
    });
    await isIn(id, 'delivered');
    expect(queries.asked[0]).toEqual({
      path: `/operations/${record.reference}?account=${merchantAccount}`,
      authorization: `Bearer ${OWN_TOKEN}`,
    });
    const { fields = {} } = receiver.received[0] ?? {};
    expect(Object.entries(fields).slice(-3, -1)).toEqual([
      ['custom_bank_id', '42'],
      ['custom_card_last', '1111'],
    ]);
    expect(fields).toMatchObject({ status: 'success', message: record.message });
    expect(fields).not.toHaveProperty('custom_card_bin');
    expect(isSignedWith(PASSWORD, fields)).toBe(true);
  });

  it('of a payout come from payout', async () => {
    const merchantAccount = 'custom_payer';
    await world.accounts.create({
      merchantAccount,
      password: new Secret(PASSWORD),
      payoutSecret: new Secret(PAYOUT_SECRET),
      settings: { customParameters: ['custom_bank_name', 'custom_bank_reason_code'] },
    });
    payoutQueries.answer(503, {});
    const record = payoutOutcome(receiver.url, { merchantAccount });
    const id = await world.publishPayout(record);
    await until('payout is asked', () => payoutQueries.asked.length > 1);
    expect(await world.deliveries.load(id)).toBeNull();
    payoutQueries.answer(200, {
      ...record,
      timestamp: record.acceptedAt,
      custom: { custom_bank_name: 'Sandbox SEPA Bank', custom_bank_id: '990002' },
    });
    await isIn(id, 'delivered');
    expect(payoutQueries.asked[0]).toEqual({
      path: `/payouts/${record.reference}?account=${merchantAccount}`,
      authorization: `Bearer ${OWN_TOKEN}`,
    });
    const { fields = {} } = receiver.received[0] ?? {};
    expect(fields).toMatchObject({ status: 'SUCCESS', custom_bank_name: 'Sandbox SEPA Bank' });
    expect(fields).not.toHaveProperty('custom_bank_id');
    expect(isSignedWith(PAYOUT_SECRET, fields)).toBe(true);
  });

  it('are left out if their owner does not know the outcome', async () => {
    payoutQueries.answer(404, {});
    const id = await world.publishPayout(payoutOutcome(receiver.url, { merchantAccount: 'custom_payer' }));
    await isIn(id, 'delivered');
    expect(Object.keys(receiver.received[0]?.fields ?? {}).join()).not.toContain('custom_');
    expect(world.lines.join()).toContain('the owner of an outcome does not know what it has published');
  });

  describe('that their owner does not name', () => {
    const CUSTOM = { custom_bank_name: 'Sandbox SEPA Bank' };
    const merchantAccount = 'waiting_payer';
    const record = () => payoutOutcome(receiver.url, { merchantAccount });
    const publishMany = (count: number) =>
      Promise.all(Array.from({ length: count }, () => world.publishPayout(record())));
    const incomplete = () => world.mongo.collection('incomplete').countDocuments();
    const payoutsAsked = () => new Set(payoutQueries.asked.map(({ path }) => path)).size;

    /** Payout names them again. */
    async function areDelivered(ids: readonly string[]): Promise<void> {
      payoutQueries.answer(200, { ...record(), timestamp: Date.now(), custom: CUSTOM });
      const done = { _id: { $in: [...ids] }, 'progress.state': 'delivered' };
      const deliveries = world.mongo.collection<{ _id: string }>('deliveries');
      await until('all are delivered', async () => (await deliveries.countDocuments(done)) === ids.length, 60_000);
      expect(receiver.received).toHaveLength(ids.length + 1);
      expect(receiver.received.slice(1).filter(({ fields }) => fields['custom_bank_name'] === undefined)).toEqual([]);
      await until('none is left', async () => (await incomplete()) === 0);
    }

    beforeAll(async () => {
      await world.accounts.create({
        merchantAccount,
        password: new Secret(PASSWORD),
        payoutSecret: new Secret(PAYOUT_SECRET),
        settings: { customParameters: ['custom_bank_name'] },
      });
    });
    beforeEach(() => {
      payoutQueries.asked.length = 0;
      payoutQueries.answer(500, {});
    });

    it('delay no callback of another account, however many they are', async () => {
      const ids = await publishMany(MAX_HELD + 50);
      await until('all are taken', async () => (await incomplete()) === ids.length);
      const other = await world.publish(outcome(receiver.url));
      await isIn(other, 'delivered');
      expect(receiver.received).toHaveLength(1);
      await areDelivered(ids);
    });

    it('because it hangs, leave handlers for other accounts', async () => {
      let answer = (): void => undefined;
      payoutQueries.hold(new Promise((resolve) => (answer = resolve)));
      const ids = await publishMany(2 * HANDLERS);
      await until('payout is asked', () => payoutsAsked() > 0);
      const other = await world.publish(outcome(receiver.url));
      await isIn(other, 'delivered');
      expect(payoutsAsked()).toBeLessThanOrEqual(HANDLERS / 2);
      answer();
      await areDelivered(ids);
    });
  });
});

describe('operators', () => {
  it('list, page, filter and look at deliveries', async () => {
    const merchantAccount = 'listed_merchant';
    await world.accounts.create({ merchantAccount, password: new Secret(PASSWORD) });
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      const id = await world.publish(outcome(`${receiver.url}/done?secret=abc`, { merchantAccount }));
      await isIn(id, 'delivered');
      ids.push(id);
    }
    const list = async (query: string) => (await (await admin(`/deliveries?${query}`)).json()) as DeliveryList;
    const first = await list(`account=${merchantAccount}&limit=2`);
    expect(first.deliveries.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
    const second = await list(`account=${merchantAccount}&limit=2&before=${first.next}`);
    expect(second).toEqual({ deliveries: [expect.objectContaining({ id: ids[0], state: 'delivered' })] });
    expect((await list(`account=${merchantAccount}&state=exhausted`)).deliveries).toEqual([]);
    expect((await list('state=delivered&limit=1')).deliveries).toHaveLength(1);

    const shown = (await (await admin(`/deliveries/${ids[0]}`)).json()) as DeliveryDetails;
    expect(shown).toMatchObject({
      id: ids[0],
      url: `${receiver.url}/done?secret=abc`,
      fields: { status: 'success' },
      attemptList: [{ acknowledged: true, httpStatus: 200 }],
    });
    expect(await cli('list', '--account', merchantAccount, '--limit', '2')).toMatchObject({
      code: 0,
      text: expect.stringMatching(/2 deliveries\nmore: --before \d+:/),
    });
    expect((await cli('show', ids[0] ?? '')).text).toContain('"attemptList"');
  });

  it('read why an attempt was not acknowledged, as the merchant does', async () => {
    receiver.answer((_received, response) => void response.end('"OK" \u009b2J 4111111111111111'));
    const id = await world.publish(outcome(receiver.url));
    await attemptsMade(id, 1);
    const failed = { reason: 'body_not_ok', bodyStart: '"OK" \\u{9b}2J 411111******1111' };
    expect((await world.attemptsOf(id))[0]).toMatchObject(failed);
    const shown = (await (await admin(`/deliveries/${id}`)).json()) as DeliveryDetails;
    expect(shown.attemptList).toEqual([expect.objectContaining({ acknowledged: false, httpStatus: 200, ...failed })]);
    const shownByCli = JSON.parse((await cli('show', id)).text) as DeliveryDetails;
    expect(shownByCli.attemptList).toEqual(shown.attemptList);
  });

  it('find ended deliveries for 90 days, and pending ones without limit', async () => {
    receiver.answer(fail);
    const id = await world.publish(outcome(receiver.url));
    await attemptsMade(id, 1);
    expect(await world.stored('deliveries', id)).not.toHaveProperty('endedAt');
    receiver.answer(acknowledge);
    world.pass(31_000);
    await isIn(id, 'delivered');
    const { progress } = (await world.deliveries.load(id)) ?? {};
    expect(await world.stored('deliveries', id)).toMatchObject({
      endedAt: new Date((progress as { at: number }).at),
    });
    receiver.answer(fail);
    await admin(`/deliveries/${id}/resend`, { method: 'POST' });
    expect(await world.stored('deliveries', id)).not.toHaveProperty('endedAt');
    const [second] = await world.storedAttempts(id);
    expect(second).toMatchObject({ startedAt: expect.any(Date) });
    const expiring = { expireAfterSeconds: 90 * 86_400 };
    expect(await world.indexes('deliveries')).toContainEqual(
      expect.objectContaining({ key: { endedAt: 1 }, ...expiring }),
    );
    expect(await world.indexes('attempts')).toContainEqual(
      expect.objectContaining({ key: { startedAt: 1 }, ...expiring }),
    );
  });

  it('send a delivered callback again', async () => {
    const id = await world.publish(outcome(receiver.url));
    await isIn(id, 'delivered');
    expect((await admin(`/deliveries/${id}`)).status).toBe(200);
    expect((await admin(`/deliveries/${id}/resend`, { method: 'POST' })).status).toBe(200);
    await attemptsMade(id, 2);
    expect(await stateOf(id)).toBe('delivered');
    expect(receiver.received).toHaveLength(2);
    const { mongoUri: uri, databasePrefix } = world.space;
    const audit = await openAudit({ uri, databasePrefix, logger: silentLogger });
    expect(await audit.list({ subject: id, limit: 9 })).toMatchObject([
      { operator: 'operator', phase: 'done', after: { state: 'pending' } },
      { operator: 'operator', phase: 'intent', action: 'callback.resend', before: { state: 'delivered' } },
      { operator: 'operator', phase: 'done', action: 'callback.show' },
      { operator: 'operator', phase: 'intent', action: 'callback.show' },
    ]);
    await audit.close();
  });

  it('get an error that names the mistake', async () => {
    expect((await admin('/deliveries/none')).status).toBe(404);
    expect((await admin('/deliveries/none/resend', { method: 'POST' })).status).toBe(404);
    for (const query of ['state=lost', 'limit=0', 'limit=501', 'limit=x', 'before=x', 'account=a&account=b']) {
      expect((await admin(`/deliveries?${query}`)).status).toBe(400);
    }
    expect((await admin('/deliveries', { headers: {} })).status).toBe(401);
    const headers = { authorization: `Bearer ${callers.token('api-edge')}` };
    expect((await admin('/deliveries/none/resend', { method: 'POST', headers })).status).toBe(403);
    expect(await cli('show', 'none')).toEqual({ code: 1, text: 'show failed: no such delivery' });
    expect(await cli('list', '--state', 'lost')).toMatchObject({
      code: 2,
      text: expect.stringContaining('state is one of'),
    });
  });

  it('see the activity in the metrics', async () => {
    const text = await metricsOf(dispatcher);
    expect(text).toMatch(/^callback_attempts_total\{kind="card",outcome="acknowledged",\S* [1-9]/m);
    expect(text).toMatch(/^callback_attempts_total\{kind="card",outcome="not_acknowledged",\S* [1-9]/m);
    expect(text).toMatch(/^callback_attempts_total\{kind="card",outcome="failed",\S* [1-9]/m);
    expect(text).toMatch(/^callback_deliveries_total\{kind="card",end="delivered",\S* [1-9]/m);
    expect(text).toMatch(/^callback_deliveries_total\{kind="card",end="exhausted",\S* [1-9]/m);
    expect(text).toMatch(/^callback_deliveries_total\{kind="card",end="recovered",\S* [1-9]/m);
    expect(text).toMatch(/^callback_attempt_seconds_count/m);
    expect(text).toMatch(/^callback_open_circuits\S* 0$/m);
  });

  it('find neither addresses nor secrets in logs and events', () => {
    const written = world.lines.join('\n') + JSON.stringify(world.events);
    expect(written).not.toMatch(/secret=abc|\/done|the_old_password|the_new_password|callback_password/);
  });
});
