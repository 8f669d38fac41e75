import { Secret } from '@gateway/contracts';
import type { Draft } from './entry';
import { canonicalJson, chained, changesIn, GENESIS_HASH, hashOf, recordable, recordableName } from './entry';

const draft: Draft = {
  operator: 'alice',
  from: 'alice@desk',
  action: 'account.change',
  subject: 'acme_shop',
  phase: 'intent',
  before: { rateLimitPerSecond: 100 },
};

describe('canonical JSON', () => {
  it('sorts names at every depth and keeps the order of lists', () => {
    expect(canonicalJson({ b: [{ d: 1, c: 2 }, 'x'], a: undefined })).toBe('{"b":[{"c":2,"d":1},"x"]}');
  });

  it('prints secrets redacted', () => {
    expect(canonicalJson({ password: new Secret('hidden') })).toBe('{"password":"[redacted]"}');
  });
});

describe('a chained entry', () => {
  const first = chained(undefined, draft, 1_000);

  it('begins the log with sequence 1', () => {
    expect(first).toMatchObject({ sequence: 1, at: 1_000, previousHash: GENESIS_HASH });
    expect(first).not.toHaveProperty('previousAt');
  });

  it('names the entry before it, and is never earlier', () => {
    expect(chained(first, draft, 900)).toMatchObject({
      sequence: 2,
      at: 1_000,
      previousAt: 1_000,
      previousHash: first.hash,
    });
  });

  it.each([
    ['operator', 'mallory'],
    ['from', 'elsewhere'],
    ['databaseUser', 'mallory'],
    ['action', 'account.close'],
    ['subject', 'other_shop'],
    ['phase', 'done'],
    ['intent', 7],
    ['before', { rateLimitPerSecond: 101 }],
    ['after', {}],
    ['at', 1_001],
    ['sequence', 2],
    ['previousAt', 1],
    ['previousHash', 'f'.repeat(64)],
    ['anything', 'else'],
  ])('has another hash with another %s', (name, value) => {
    expect(hashOf({ ...first, [name]: value })).not.toBe(first.hash);
  });

  it('has a hash that does not depend on the order of its fields', () => {
    expect(hashOf(Object.fromEntries(Object.entries(first).toReversed()) as typeof first)).toBe(first.hash);
  });
});

describe('a name that is recorded', () => {
  it.each([
    ['shop\n9\t2026-01-01\talice', 'shop?9?2026-01-01?alice'],
    ['\u001b[2Jshop\u009b\u2028\u202e', '?[2Jshop???'],
    ['caf\u00e9 \u{1f4a9}', 'caf? ?'],
    [`${'x'.repeat(127)}\u{1f4a9}`, `${'x'.repeat(127)}?`],
    ['x'.repeat(200), 'x'.repeat(128)],
  ])('%j is printable and bounded', (name, recorded) => {
    expect(recordableName(name)).toBe(recorded);
  });

  it('has no part of a card number, even where it is cut', () => {
    expect(recordableName(`${'x'.repeat(115)} 4111111111111111`)).not.toContain('411111111111');
  });
});

describe('what may be recorded', () => {
  it('is what the action lists', () => {
    const given = { state: 'active', password: new Secret('hidden'), passwordHash: '$scrypt$', revision: 3 };
    expect(recordable('account.change', given)).toEqual({ state: 'active', revision: 3 });
  });

  it('has a bounded length', () => {
    const { terminals } = recordable('account.change', { terminals: 'x'.repeat(20_000) });
    expect(terminals).toMatch(/^20002 characters, SHA-256 [0-9a-f]{64}$/);
  });

  it('is after a change what differs', () => {
    const before = { state: 'test', limits: [{ currency: 'EUR', minE4: 1 }], revision: 1 };
    const after = { state: 'active', limits: [{ minE4: 1, currency: 'EUR' }], revision: 2, payoutInstant: false };
    expect(changesIn(before, after)).toEqual({ state: 'active', revision: 2, payoutInstant: false });
    expect(changesIn(undefined, after)).toEqual(after);
  });
});
