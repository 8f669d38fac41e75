import fc from 'fast-check';
import { silentLogger } from '@gateway/testing';
import type { TestRecordCounts } from './sandbox-quota';
import { createSandboxQuota, isTestRequest } from './sandbox-quota';

const NOON = Date.UTC(2026, 10, 26, 12);
const DAY_MS = 86_400_000;

/** A database that replicas share, and that may be away. */
function sharedCounts() {
  const stored = new Map<string, number>();
  const shared = { away: false, stored };
  const counts: TestRecordCounts = {
    async add(day, added) {
      if (shared.away) throw new Error('away');
      const keys = [...added].map(([account, count]) => [account, `${day}|${account}`, count] as const);
      for (const [, key, count] of keys) stored.set(key, (stored.get(key) ?? 0) + count);
      return new Map(keys.map(([account, key]) => [account, stored.get(key) ?? 0]));
    },
    async total() {
      if (shared.away) throw new Error('away');
      return [...stored.values()].reduce((all, count) => all + count, 0);
    },
  };
  return { shared, counts };
}

function world({ perDay = 1_000, inAll = 1_000 } = {}) {
  const { shared, counts } = sharedCounts();
  const clock = { now: NOON };
  const open = () => createSandboxQuota({ counts, perDay, inAll, now: () => clock.now, logger: silentLogger });
  return { shared, clock, open };
}

test('an account gets its quota, others theirs, and the next day begins anew', async () => {
  const { clock, open } = world({ perDay: 2 });
  const quota = open();
  quota.count('a');
  expect(quota.refusal('a')).toBeUndefined();
  quota.count('a');
  expect(quota.refusal('a')).toEqual({ limit: 'account', retryAfterSeconds: 12 * 3_600 });
  await quota.exchange();
  expect(quota.refusal('a')).toMatchObject({ limit: 'account' });
  expect(quota.refusal('b')).toBeUndefined();
  clock.now += DAY_MS;
  expect(quota.refusal('a')).toBeUndefined();
});

test('a full disk refuses all accounts, until records are removed', async () => {
  const { shared, open } = world({ inAll: 2 });
  const quota = open();
  quota.count('a');
  await quota.exchange();
  quota.count('b');
  expect(quota.refusal('c')).toEqual({ limit: 'disk', retryAfterSeconds: 3_600 });
  await quota.exchange();
  expect(quota.refusal('c')).toMatchObject({ limit: 'disk' });
  shared.stored.clear();
  await quota.exchange();
  expect(quota.refusal('c')).toBeUndefined();
});

/** A step of one of two replicas. */
type Step = { at: 0 | 1; does: 'count' | 'exchange' } | { does: 'away' | 'back' | 'next day' };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    at: fc.constantFrom(0 as const, 1 as const),
    does: fc.constantFrom('count' as const, 'exchange' as const),
  }),
  fc.record({ does: fc.constantFrom('away' as const, 'back' as const, 'next day' as const) }),
);

test('once the database is back, every record is counted once on its day, whatever happened before', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { shared, clock, open } = world();
      const replicas = [open(), open()] as const;
      const expected = new Map<string, number>();
      let days = 0;
      for (const one of steps) {
        if (one.does === 'away' || one.does === 'back') shared.away = one.does === 'away';
        else if (one.does === 'next day') {
          // Counts of more days than these are given up.
          if (days < 3) clock.now += DAY_MS;
          days += 1;
        } else if ('at' in one && one.does === 'exchange') await replicas[one.at].exchange().catch(() => undefined);
        else if ('at' in one) {
          replicas[one.at].count('a');
          const key = `${new Date(clock.now).toISOString().slice(0, 10)}|a`;
          expected.set(key, (expected.get(key) ?? 0) + 1);
        }
      }
      shared.away = false;
      for (const replica of replicas) await replica.exchange();
      expect(shared.stored).toEqual(expected);
    }),
  );
});

test('a sandbox account has no other records than tests', () => {
  expect(isTestRequest({ state: 'test' }, {})).toBe(true);
  expect(isTestRequest({ state: 'active' }, {})).toBe(false);
  expect(isTestRequest({ state: 'active' }, { currency: 'XTS' })).toBe(true);
  expect(isTestRequest({ state: 'active' }, { currency: 'EUR' })).toBe(false);
});
