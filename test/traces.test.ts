import { randomBytes } from 'node:crypto';
import { TEST_CARDS } from '@gateway/contracts';
import { recordingLogger, startOtlpReceiver, until } from '@gateway/testing';
import type { OtlpReceiver, ReceivedSpan } from '@gateway/testing';
import { get, press } from './support/form-client';
import type { Merchant } from './support/merchant';
import { startMerchant } from './support/merchant';
import { IBAN, payoutClient } from './support/payouts';
import type { Body, System } from './support/system';
import { cardRequest, checkOf, followUp, recordsOf, startSystem } from './support/system';

const CARD_ROUTE = 'POST /api/pf/host-to-host';
const REPLY = 'api-edge: receive OperationReplied';
const EXPORTED_WITHIN_MS = 20_000;

let receiver: OtlpReceiver;
let merchant: Merchant;
beforeAll(async () => {
  receiver = await startOtlpReceiver();
  merchant = await startMerchant();
});
afterAll(async () => {
  await merchant.close();
  await receiver.close();
});

const urls = () => ({ callback_url: `${merchant.url}/callback`, redirect_url: `${merchant.url}/back` });
const label = ({ service, name }: ReceivedSpan): string => `${service}: ${name}`;

/** From the beginning of the trace to this span, by parents. */
function wayTo(span: ReceivedSpan): string[] {
  const parent = receiver.spans.find(({ spanId }) => spanId === span.parentSpanId);
  return [...(parent === undefined ? [] : wayTo(parent)), label(span)];
}

function rootOf(reference: unknown): ReceivedSpan | undefined {
  return receiver.spans.find(
    ({ attributes, service, parentSpanId }) =>
      service === 'api-edge' && parentSpanId === undefined && attributes['gateway.reference'] === reference,
  );
}

/** A span of the operation's own trace, once it and all above it are exported. */
function spanOf(reference: unknown, name: string): Promise<ReceivedSpan> {
  return until(
    `${name} in the trace of ${String(reference)}`,
    async () => {
      const root = rootOf(reference);
      const span = root && receiver.trace(root.traceId).find((one) => label(one) === name);
      return span !== undefined && wayTo(span)[0] === label(root as ReceivedSpan) ? span : undefined;
    },
    EXPORTED_WITHIN_MS,
  );
}

async function startTraced(name: string, settings: Record<string, string>): Promise<System> {
  const system = await startSystem(name, {
    settings: { OTLP_URL: receiver.url, SIMULATOR_TIMEOUT_MS: '1000', ...settings },
    withPayouts: true,
  });
  await system.startThreeds();
  await system.startDispatcher(merchant.ca);
  return system;
}

describe('when all traces are exported', () => {
  let system: System;
  beforeAll(async () => {
    system = await startTraced('traced', { TRACE_SAMPLE_RATIO: '1', AUTH_HOLD_SECONDS: '2' });
    // An edge that owns no reply partition yet asks for the outcome instead.
    await until('replies reach the edge', async () => {
      await system.send(cardRequest('SALE'));
      return receiver.spans.some((span) => label(span) === REPLY);
    });
  });
  afterAll(() => system.stop());

  const send = async (fields: Body, headers?: Record<string, string>): Promise<Body> =>
    (await system.send(fields, headers)).data;

  test('a SALE is one trace: from the request through Kafka to the acquirer, the reply and the event', async () => {
    const { reference } = await send(cardRequest('SALE'));
    const toCall = [
      `api-edge: ${CARD_ROUTE}`,
      'api-edge: publish ChargeCard',
      'card-processing: handle ChargeCard',
      'card-processing: call to an acquirer',
    ];
    const call = await spanOf(reference, 'card-processing: simulator sale');
    expect(wayTo(call)).toEqual([...toCall, 'card-processing: simulator sale']);
    expect(call.attributes).toEqual({
      'gateway.counterpart': 'simulator',
      'gateway.lane': 'merchants',
      'gateway.answer': 'approved',
      'server.address': '127.0.0.1',
      'http.response.status_code': 200,
    });
    expect(wayTo(await spanOf(reference, REPLY))).toEqual([
      ...toCall,
      'card-processing: publish OperationReplied',
      REPLY,
    ]);
    const event = 'card-processing: publish CardCharged';
    expect(wayTo(await spanOf(reference, event))).toEqual([...toCall, event]);
    for (const [name, parent] of [
      ['api-edge: a write to the vault', toCall[0]],
      ['api-edge: a journal insert', toCall[0]],
      ['card-processing: insert payments', toCall[2]],
      ['card-processing: update payments', toCall[3]],
    ] as const) {
      expect(wayTo(await spanOf(reference, name)).at(-2)).toBe(parent);
    }
  });

  test('spans say what was asked, of whom, and what came out', async () => {
    const { reference } = await send(cardRequest('SALE', { amount: '31.04' }));
    const handled = await spanOf(reference, 'card-processing: handle ChargeCard');
    const root = rootOf(reference);
    expect(root?.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/api/pf/host-to-host',
      'http.response.status_code': 200,
      'gateway.account': 'demo_merchant',
      'gateway.reference': reference,
      'gateway.operation': 'SALE',
      'gateway.code': 3104,
      'gateway.code_class': 'bank-decline',
    });
    expect(handled.attributes).toMatchObject({
      'messaging.system': 'kafka',
      'messaging.operation.type': 'process',
      'messaging.consumer.group.name': 'card-processing',
      'messaging.destination.name': 'card.commands.v1',
      'gateway.message_type': 'ChargeCard',
      'gateway.payment': String(reference).slice(0, 16),
      'gateway.attempt': 1,
      'gateway.waited_ms': expect.any(Number),
    });
    // A decline is business as usual.
    expect(receiver.trace(handled.traceId).filter(({ failed }) => failed)).toEqual([]);
    const calls = receiver.trace(handled.traceId);
    for (const { startNs, endNs } of calls) expect(endNs >= startNs).toBe(true);
  });

  test('a SALE3D with a challenge is one trace, to the callback; the browser and the result have theirs, linked', async () => {
    const card_number = TEST_CARDS.challenged.visa;
    const { reference, acs_url } = await send(cardRequest('SALE3D', { card_number, ...urls() }));
    await press(await press(await get(String(acs_url))), /success/i);
    expect((await merchant.callbackOf(reference)).get('status')).toBe('success');

    const toDirectory = [
      `api-edge: ${CARD_ROUTE}`,
      'api-edge: publish AuthenticateAndChargeCard',
      'card-processing: handle AuthenticateAndChargeCard',
      'card-processing: publish AuthenticateCardholder',
      'threeds: handle AuthenticateCardholder',
    ];
    expect(wayTo(await spanOf(reference, 'threeds: directory-server authenticate'))).toEqual([
      ...toDirectory,
      'threeds: call to the directory server',
      'threeds: directory-server authenticate',
    ]);
    const callback = await spanOf(reference, 'callback-dispatcher: post card callback');
    expect(wayTo(callback)).toEqual([
      ...toDirectory,
      'threeds: publish CardholderAuthenticated',
      'card-processing: handle CardholderAuthenticated',
      'card-processing: call to an acquirer',
      'card-processing: publish CardCharged',
      'callback-dispatcher: handle CardCharged',
      'callback-dispatcher: post card callback',
    ]);
    expect(callback.attributes).toMatchObject({
      'server.address': 'localhost',
      'gateway.account': 'demo_merchant',
      'gateway.reference': reference,
      'gateway.answer': 'acknowledged',
      'http.response.status_code': 200,
    });
    const result = await until('the result', async () =>
      receiver.spans.find(
        ({ name, linkedTraces }) => name === 'POST /3ds/results' && linkedTraces.includes(callback.traceId),
      ),
    );
    expect(result.traceId).not.toBe(callback.traceId);
    expect(result.parentSpanId).toBeUndefined();
    // Knowing the address of a page opens it.
    const pageId = new URL(String(acs_url)).pathname.split('/').at(-1) ?? '';
    expect(pageId.length).toBeGreaterThan(20);
    expect(receiver.bodies.join()).not.toContain(pageId);
    expect(receiver.spans.some(({ name }) => name === 'GET /challenge/:pageId')).toBe(true);
  });

  test('a payout is one trace, from the request to the bank and the callback', async () => {
    const payouts = payoutClient(system);
    const { reference } = await payouts.pay({ callback_url: `${merchant.url}/callback` });
    await payouts.ended({ reference });
    const toBank = [
      'api-edge: POST /api/mp/payout',
      'api-edge: publish InitiatePayout',
      'payout: handle InitiatePayout',
      'payout: submission to a bank',
    ];
    expect(wayTo(await spanOf(reference, 'payout: simulator-bank submit'))).toEqual([
      ...toBank,
      'payout: simulator-bank submit',
    ]);
    const callback = await spanOf(reference, 'callback-dispatcher: post payout callback');
    expect(wayTo(callback).slice(0, 3)).toEqual(toBank.slice(0, 3));
    expect(wayTo(callback).slice(-2)).toEqual([
      'callback-dispatcher: handle PayoutSettled',
      'callback-dispatcher: post payout callback',
    ]);
    expect(receiver.bodies.join()).not.toContain(IBAN);
  });

  test('an expiry is a trace of its own, linked to the authorization', async () => {
    const expiry = await system.startExpiry();
    const { reference } = await send(cardRequest('AUTH'));
    const authorization = await spanOf(reference, 'auth-expiry: handle CardAuthorized');
    const ask = await until(
      'the ask for its VOID',
      async () => receiver.spans.find(({ linkedTraces }) => linkedTraces.includes(authorization.traceId)),
      EXPORTED_WITHIN_MS,
    );
    expect(label(ask)).toBe('auth-expiry: ask for an expiry');
    await until(
      'the VOID',
      async () => receiver.trace(ask.traceId).some((span) => label(span) === 'card-processing: simulator void'),
      EXPORTED_WITHIN_MS,
    );
    await expiry.stop();
  });

  test('each operation on a payment has its own trace', async () => {
    const { reference } = await send(cardRequest('AUTH'));
    const { reference: settled } = await send(followUp('SETTLE', reference));
    const [auth, settle] = await Promise.all([
      spanOf(reference, 'card-processing: simulator authorize'),
      spanOf(settled, 'card-processing: simulator capture'),
    ]);
    expect(auth.traceId).not.toBe(settle.traceId);
  });

  test('an unknown outcome is resolved in the trace of its operation', async () => {
    const { reference, code } = await send(cardRequest('SALE', { amount: '31.09' }));
    expect(code).toBe(3109);
    const inquiry = await spanOf(reference, 'card-processing: simulator inquire');
    expect(wayTo(inquiry).slice(-2)).toEqual([
      'card-processing: resolving unknown outcomes',
      'card-processing: simulator inquire',
    ]);
    const event = await spanOf(reference, 'card-processing: publish CardCharged');
    expect(wayTo(event)).toContain('card-processing: resolving unknown outcomes');
  });

  test("a merchant's own trace is not taken: neither its id nor its wish to be sampled", async () => {
    const traceId = randomBytes(16).toString('hex');
    const headers = { traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01`, tracestate: 'a=b' };
    const { reference } = await send(cardRequest('SALE'), headers);
    await spanOf(reference, REPLY);
    expect(receiver.bodies.join()).not.toContain(traceId);
  });
});

describe('when none is chosen', () => {
  let system: System;
  let lines: string[];
  beforeAll(async () => {
    lines = [];
    system = await startSystem('untraced', {
      settings: { OTLP_URL: receiver.url, TRACE_SAMPLE_RATIO: '0', SIMULATOR_TIMEOUT_MS: '1000' },
      logger: recordingLogger(lines),
    });
    await system.startThreeds();
    await system.startDispatcher(merchant.ca);
    // As above, but by the log: nothing is exported here unless it fails.
    const repliesArrive = (line: string) => line.startsWith('partitions assigned') && line.includes('gateway.replies');
    await until('replies reach the edge', async () => lines.some(repliesArrive));
  });
  afterAll(() => system.stop());

  const send = async (fields: Body): Promise<Body> => (await system.send(fields)).data;

  test('what fails is exported whole, in every service that it came through; what goes well is not', async () => {
    const fine = await send(cardRequest('SALE'));
    const declined = await send(cardRequest('SALE', { amount: '31.04' }));
    const refused = await send(cardRequest('SALE', { country: 'XXX' }));
    expect([fine['code'], declined['code'], refused['code']]).toEqual([0, 3104, 1004]);
    const failed = await send(cardRequest('SALE', { amount: '31.09' }));
    expect(failed).toMatchObject({ code: 3109 });

    const call = await spanOf(failed['reference'], 'card-processing: simulator sale');
    expect(call).toMatchObject({ failed: true, attributes: { 'error.type': 'timed-out' } });
    // What came before the failure, here and at the edge, and what came after it, elsewhere too.
    for (const name of [
      `api-edge: ${CARD_ROUTE}`,
      'api-edge: a journal insert',
      'api-edge: publish ChargeCard',
      REPLY,
      'card-processing: handle ChargeCard',
      'card-processing: insert payments',
      'card-processing: simulator inquire',
      'card-processing: publish CardCharged',
    ]) {
      expect(label(await spanOf(failed['reference'], name))).toBe(name);
    }
    for (const { reference } of [fine, declined]) {
      const payment = String(reference).slice(0, 16);
      expect(receiver.spans.filter(({ attributes }) => attributes['gateway.payment'] === payment)).toEqual([]);
      expect(rootOf(reference)).toBeUndefined();
    }
  });

  test('a failure is exported on to the callback, when it is long over', async () => {
    const card_number = TEST_CARDS.frictionless.visa;
    const { reference } = await send(cardRequest('SALE3D', { card_number, amount: '31.09', ...urls() }));
    const callback = await until(
      'the callback',
      async () =>
        receiver.spans.find(
          ({ name, attributes }) => name === 'post card callback' && attributes['gateway.reference'] === reference,
        ),
      EXPORTED_WITHIN_MS,
    );
    const call = await until(
      'the call',
      () => receiver.trace(callback.traceId).find((span) => label(span) === 'card-processing: simulator sale'),
      EXPORTED_WITHIN_MS,
    );
    expect(call).toMatchObject({ failed: true, attributes: { 'error.type': 'timed-out' } });
  });

  test('merchants do not notice that the collector is away, hangs or refuses', async () => {
    for (const answer of [{ status: 503 }, { status: 401 }, 'hang'] as const) {
      receiver.answer = answer;
      const sales = await Promise.all(Array.from({ length: 8 }, () => send(cardRequest('SALE', { amount: '31.18' }))));
      expect(sales.map(({ code }) => code)).toEqual(Array.from({ length: 8 }, () => 3118));
      expect(await send(cardRequest('SALE'))).toMatchObject({ code: 0 });
      await until('a word about it', async () => lines.some((line) => line.startsWith('traces are not exported')));
    }
    const dropped = await until('dropped spans', async () =>
      (await system.metrics()).find((page) => /gateway_spans_dropped_total\{reason="not-exported".* [1-9]/.test(page)),
    );
    expect(dropped).toContain('gateway_spans_exported_total');
    expect(await system.readiness()).not.toContain(503);
    receiver.answer = { status: 200 };
  });
});

test('without a collector nothing is recorded or loaded, and services agree on a trace all the same', async () => {
  const lines: string[] = [];
  const system = await startSystem('no-traces', { logger: recordingLogger(lines) });
  const before = receiver.spans.length;
  const { data } = await system.send(cardRequest('SALE', { amount: '31.04' }));
  expect(recordsOf((await system.send(checkOf({ reference: data['reference'] }))).data)).toHaveLength(1);
  expect((await system.metrics()).join()).not.toContain('gateway_spans');
  await system.stop();
  expect(receiver.spans).toHaveLength(before);
});
