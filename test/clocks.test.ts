import { until } from '@gateway/testing';
import { freePort } from './support/free-port';
import type { HeldCalls } from './support/held-calls';
import { holdCalls } from './support/held-calls';
import { openStorage } from './support/storage';
import type { Body, CheckRecord, System } from './support/system';
import { cardRequest, checkOf, clientOf, post, recordsOf, startSystem } from './support/system';

/** Machines whose clocks are off by more than any lease margin. */
const AHEAD = { wallClock: () => Date.now() + 30_000 };
const BEHIND = { wallClock: () => Date.now() - 30_000 };

let system: System;
afterEach(() => system.stop());

async function recordOf(of: Body, from = system.http): Promise<CheckRecord | undefined> {
  const { data } = await post(from, checkOf({ transaction_unique_id: of['transaction_unique_id'] }));
  return recordsOf(data)[0];
}

const ended = (of: Body, from = system.http): Promise<CheckRecord> =>
  until('its end', async () => {
    const record = await recordOf(of, from);
    return record?.status === 'PENDING' ? undefined : record;
  });

test('with one replica ahead and one behind, no running call is inquired about or cancelled', async () => {
  let calls: HeldCalls | undefined;
  system = await startSystem('clk', {
    withoutProcessor: true,
    beforeAcquirer: async (url) => (calls = await holdCalls(url)).url,
  });
  if (calls === undefined) throw new Error('no proxy before the acquirer');
  await system.startProcessor({}, BEHIND);
  await system.startProcessor({}, AHEAD);
  const edge = clientOf((await system.startEdge()).ports.api);

  calls.hold();
  const answers = Array.from({ length: 12 }, () => post(edge, cardRequest('SALE')));
  const { held, questions } = calls;
  await until('all calls are under way', () => held() === 12);
  calls.pass();
  // The resolver has run once it has resolved another operation that is due later than these.
  const unknown = cardRequest('SALE', { amount: '31.25' });
  await post(edge, unknown);
  expect(await ended(unknown, edge)).toMatchObject({ status: 'ERROR' });
  calls.release();

  for (const { data } of await Promise.all(answers)) {
    expect(data).toMatchObject({ status: 'success', code: 0 });
    expect((await system.ledger(String(data['reference']))).map(({ effect }) => effect)).toEqual(['sold']);
    expect(questions.filter((path) => path.includes(String(data['reference'])))).toEqual([]);
  }
  await calls.close();
});

test('with an edge ahead and card-processing behind, a command past its deadline never runs', async () => {
  const port = await freePort();
  const settings = { CARD_QUERY_URL: `http://127.0.0.1:${port}` };
  system = await startSystem('clk', { withoutProcessor: true, settings });
  const edge = clientOf((await system.startEdge({ REPLY_TIMEOUT_MS: '500' }, AHEAD)).ports.api);
  const late = cardRequest('SALE');
  const { data: answer } = await post(edge, late);
  expect(answer).toMatchObject({ status: 'error', code: 11 });
  await system.startProcessor({ CARD_QUERY_PORT: String(port) }, BEHIND);
  expect(await ended(late, edge)).toMatchObject({ status: 'ERROR', code: 11 });
  expect(await system.ledger(String(answer['reference']))).toEqual([]);
  expect(await system.metrics()).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/gateway_clock_skew_seconds\{.*api-edge.*\} (29\.9|30)/),
      expect.stringMatching(/gateway_clock_skew_seconds\{.*card-processing.*\} -(29\.9|30)/),
    ]),
  );
});

test('auth-expiry with a fast clock does not void a hold too early', async () => {
  system = await startSystem('clk', { settings: { AUTH_HOLD_SECONDS: '25' } });
  const storage = await openStorage(system.space);
  await system.startExpiry({}, AHEAD);
  const { data } = await system.send(cardRequest('AUTH'));
  const deadlines = storage.collection('expiry', 'deadlines');
  const byReference = (reference: unknown) => deadlines.findOne({ _id: reference } as object);
  await until('its end is known', () => byReference(data['reference']));
  // A due hold shows when the service has scanned.
  const due = { _id: `${'D'.repeat(16)}ABCD`, merchantAccount: 'demo_merchant', expiresAt: 1, dueAt: 1, asks: 0 };
  await deadlines.insertOne(due as object);
  await until('what is due was asked for', async () => ((await byReference(due._id))?.['asks'] ?? 0) > 0);
  expect(await byReference(data['reference'])).toMatchObject({ asks: 0 });
  await storage.close();
});

test('a machine with too much clock skew is not ready', async () => {
  system = await startSystem('clk', { withoutProcessor: true, settings: { MAX_CLOCK_SKEW_MS: '5000' } });
  const { ports } = await system.startProcessor({}, AHEAD);
  const { status, data } = await clientOf(ports.ops).get<Body>('/health/ready', { validateStatus: () => true });
  expect([status, data]).toEqual([
    503,
    { ready: false, checks: expect.objectContaining({ clock: false }) as unknown, mode: 'ordinary' },
  ]);
});
