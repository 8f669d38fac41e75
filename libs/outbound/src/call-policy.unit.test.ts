import { AxiosError } from 'axios';
import type { Counter } from '@gateway/service-kit';
import { createMetrics } from '@gateway/service-kit';
import { createCallPolicy, lane } from './call-policy';
import { createCircuit } from './circuit';
import type { CallFault } from './faults';

type Answer = { kind: 'said'; text: string } | { kind: 'silent'; fault: CallFault };

const CIRCUIT = { unansweredPerParty: 3, unanswered: 6, probeEveryMs: 1_000, probesAtOnce: 1, parties: 10 };
const LIMITS = { ...lane(2, 500), waitingPerParty: 1 };

function world(counterpart = 'bank', metrics = createMetrics('test', { processFigures: false })) {
  const policy = createCallPolicy({
    counterpart,
    lane: 'merchants',
    limits: LIMITS,
    circuit: createCircuit(CIRCUIT),
    metrics,
  });
  const sent: string[] = [];
  const call = (party: string, send: () => Promise<string>): Promise<Answer> =>
    policy.call<string, Answer>({
      party,
      operation: 'pay',
      send() {
        sent.push(party);
        return send();
      },
      read: (text) => ({ kind: 'said', text }),
      onFault: (fault) => ({ kind: 'silent', fault }),
    });
  return { policy, call, sent, metrics };
}

const failing = (code: string) => () => Promise.reject(new AxiosError('failed', code));
const hanging = () => new Promise<never>(() => undefined);

test.each([
  ['ECONNREFUSED', 'never-sent'],
  ['ENOTFOUND', 'never-sent'],
  ['ETIMEDOUT', 'timed-out'],
  ['ECONNABORTED', 'timed-out'],
  ['ECONNRESET', 'broken'],
])('%s maps to %s', async (code, fault) => {
  const { call } = world();
  expect(await call('a', failing(code))).toEqual({ kind: 'silent', fault });
});

test('an answer is read and frees its place', async () => {
  const { call, policy } = world();
  expect(await call('a', () => Promise.resolve('yes'))).toEqual({ kind: 'said', text: 'yes' });
  expect(policy.room('a')).toBe(1);
});

test('hanging calls of one party leave room for others and are rejected beyond their bounds', async () => {
  const { call, sent } = world();
  void call('a', hanging);
  void call('a', hanging);
  expect(await call('a', hanging)).toEqual({ kind: 'silent', fault: 'bulkhead-full' });
  expect(await call('b', () => Promise.resolve('yes'))).toMatchObject({ kind: 'said' });
  expect(sent).toEqual(['a', 'b']);
});

test('an open circuit rejects calls before they are sent', async () => {
  const { call, sent } = world();
  const faults: unknown[] = [];
  for (let count = 0; count < 5; count += 1) faults.push((await call('a', failing('ETIMEDOUT'))).kind);
  expect(await call('a', failing('ETIMEDOUT'))).toEqual({ kind: 'silent', fault: 'circuit-open' });
  // Three calls opened it, and one probed it.
  expect(sent).toHaveLength(4);
});

test('a place from tryEnter is used and freed', async () => {
  const { policy } = world();
  const place = policy.tryEnter('a');
  expect(policy.tryEnter('a')).toBeUndefined();
  const answer = await policy.call<string, Answer>({
    party: 'a',
    operation: 'pay',
    place,
    send: () => Promise.resolve('yes'),
    read: (text) => ({ kind: 'said', text }),
    onFault: (fault) => ({ kind: 'silent', fault }),
  });
  expect(answer.kind).toBe('said');
  expect(policy.room('a')).toBe(1);
});

test('an unreadable answer also frees its place', async () => {
  const { policy } = world();
  const unreadable = policy.call<string, Answer>({
    party: 'a',
    operation: 'pay',
    send: () => Promise.resolve('yes'),
    read: () => {
      throw new Error('a defect');
    },
    onFault: (fault) => ({ kind: 'silent', fault }),
  });
  await expect(unreadable).rejects.toThrow('a defect');
  expect(policy.room('a')).toBe(1);
});

test('counterparts share the metrics of a registry', async () => {
  const { call, metrics } = world('one');
  const other = world('two', metrics);
  await call('a', () => Promise.resolve('yes'));
  await other.call('a', failing('ETIMEDOUT'));
  void other.call('b', hanging);
  const text = await metrics.metrics();
  const labels = (counterpart: string) => `counterpart="${counterpart}",lane="merchants"`;
  const own = 'service="test"';
  expect(text).toContain(
    `gateway_outbound_call_seconds_count{${own},${labels('one')},operation="pay",answer="said"} 1`,
  );
  expect(text).toContain(
    `gateway_outbound_call_seconds_count{${own},${labels('two')},operation="pay",answer="silent"} 1`,
  );
  expect(text).toContain(`gateway_outbound_in_use{${labels('two')},${own}} 1`);
  expect(text).toContain(`gateway_outbound_party_calls{${labels('two')},party="b",${own}} 1`);
});

test('a scrape shows the busiest parties, not all', async () => {
  const metrics = createMetrics('test', { processFigures: false });
  const limits = lane(100, 1_000);
  const policy = createCallPolicy({
    counterpart: 'bank',
    lane: 'merchants',
    limits,
    circuit: createCircuit(),
    metrics,
  });
  for (let index = 0; index < 30; index += 1) policy.tryEnter(`party${index}`);
  policy.tryEnter('party29');
  const shown = (await metrics.metrics()).match(/gateway_outbound_party_calls\{.*/g) ?? [];
  expect(shown).toHaveLength(10);
  expect(shown.some((line) => line.includes('party29') && line.endsWith(' 2'))).toBe(true);
});

test('a call whose deadline passes while it waits for its place is not sent', async () => {
  const { policy, call, sent, metrics } = world();
  let finishFirst = (_text: string): void => undefined;
  const first = call('a', () => new Promise((resolve) => (finishFirst = resolve)));
  let isLate = false;
  const waiting = policy.call<string, Answer | { kind: 'late' }>({
    party: 'a',
    operation: 'pay',
    lateAnswer: () => (isLate ? { kind: 'late' } : undefined),
    send() {
      sent.push('too late');
      return Promise.resolve('yes');
    },
    read: (text) => ({ kind: 'said', text }),
    onFault: (fault) => ({ kind: 'silent', fault }),
  });
  isLate = true;
  finishFirst('yes');
  await first;
  expect(await waiting).toEqual({ kind: 'late' });
  expect(sent).toEqual(['a']);
  expect(policy.room('a')).toBe(1);
  const refused = metrics.getSingleMetric('gateway_outbound_refused_total') as Counter;
  const counted = (await refused.get()).values.filter(({ value }) => value > 0);
  expect(counted).toMatchObject([{ value: 1, labels: { reason: 'too-late' } }]);
});

test('a call that may not be known to be in time is not sent, and frees its place', async () => {
  const { policy, sent } = world();
  const asked = policy.call<string, Answer>({
    party: 'a',
    operation: 'pay',
    lateAnswer: () => Promise.reject(new Error('the database is away')),
    send() {
      sent.push('a');
      return Promise.resolve('yes');
    },
    read: (text) => ({ kind: 'said', text }),
    onFault: (fault) => ({ kind: 'silent', fault }),
  });
  await expect(asked).rejects.toThrow('away');
  expect(sent).toEqual([]);
  expect(policy.room('a')).toBe(1);
});

test('a thousand accounts have no more series than ten', async () => {
  const metrics = createMetrics('test', { processFigures: false });
  const policy = createCallPolicy({
    counterpart: 'bank',
    lane: 'merchants',
    limits: lane(2_000, 500),
    circuit: createCircuit({ ...CIRCUIT, parties: 2_000 }),
    metrics,
  });
  const seriesAfter = async (from: number, to: number): Promise<number> => {
    for (let n = from; n < to; n += 1) policy.tryEnter(`shop_${n}`);
    return (await metrics.metrics()).split('\n').length;
  };
  const few = await seriesAfter(0, 10);
  expect(await seriesAfter(10, 1_000)).toBe(few);
});
