import { inspect } from 'node:util';
import { Secret } from '@gateway/contracts';
import type { Account } from './account';
import type { CredentialVerdict } from './credentials';
import { createCredentialCheck } from './credentials';
import { createAccountDirectory } from './directory';

const SECOND_MS = 1000;
const hashOf = (password: string): string => `hash of ${password}`;

/** `copy`: false if the key of its verifier is gone. */
function accountOf(merchantAccount: string, password: string, override: Partial<Account> & { copy?: false } = {}) {
  const { copy, ...others } = override;
  const kept = { passwordHash: hashOf(password), ...(copy === false ? {} : { signingPassword: password }) };
  return { merchantAccount, state: 'test', credentials: new Secret(kept as never), ...others } as Account;
}

/** Real directory and check; the hash is a fake that counts its calls and can be paused. */
function setUp() {
  const clock = { now: 1_000_000 };
  const stored = new Map([['demo_merchant', accountOf('demo_merchant', 'demo_password')]]);
  const hashed: { storedHash: string; password: string }[] = [];
  const gate = { opened: Promise.resolve() };
  const load = jest.fn(async (name: string) => stored.get(name));
  const directory = createAccountDirectory({ load, now: () => clock.now });
  const matchesPassword = jest.fn((account: Account | undefined, password: Secret) => {
    if (account === undefined) return password.expose() === 'nobodys_password';
    const copy = account.credentials.expose().signingPassword as unknown as string | undefined;
    return copy === undefined ? undefined : copy === password.expose();
  });
  const passwords = {
    async matches(storedHash: string, password: Secret) {
      hashed.push({ storedHash, password: password.expose() });
      await gate.opened;
      return storedHash === hashOf(password.expose());
    },
  };
  const check = createCredentialCheck({ directory, matchesPassword, passwords, now: () => clock.now });
  const attempt = (merchantAccount: unknown, password: unknown, source = '192.0.2.1'): Promise<CredentialVerdict> =>
    check.verify({ merchantAccount, password, source });
  return { clock, stored, hashed, gate, load, directory, matchesPassword, attempt, check };
}

type SetUp = ReturnType<typeof setUp>;
const right = ({ attempt }: SetUp, source?: string): Promise<CredentialVerdict> =>
  attempt('demo_merchant', 'demo_password', source);
const wrong = ({ attempt }: SetUp, source?: string): Promise<CredentialVerdict> =>
  attempt('demo_merchant', 'wrong_password', source);

async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

async function fail(all: SetUp, count: number, source?: string): Promise<string[]> {
  const kinds: string[] = [];
  for (let index = 0; index < count; index += 1) kinds.push((await wrong(all, source)).kind);
  return kinds;
}

describe('verdict', () => {
  it('is the account for the right password, whatever its state', async () => {
    const all = setUp();
    expect(await right(all)).toMatchObject({ kind: 'ok', account: { merchantAccount: 'demo_merchant' } });
    all.stored.set('suspended_one', accountOf('suspended_one', 'demo_password', { state: 'suspended' }));
    expect(await all.attempt('suspended_one', 'demo_password')).toMatchObject({ kind: 'ok' });
  });

  it.each<[string, unknown, unknown]>([
    ['wrong password', 'demo_merchant', 'wrong_password'],
    ['unknown account', 'no_such_account', 'demo_password'],
    ["an unknown account's password", 'no_such_account', 'nobodys_password'],
    ["the password's hash", 'demo_merchant', hashOf('demo_password')],
    ['account too short', 'demo_', 'demo_password'],
    ['account too long', 'a'.repeat(33), 'demo_password'],
    ['password too short', 'demo_merchant', 'short'],
    ['password too long', 'demo_merchant', 'p'.repeat(33)],
    ['password huge', 'demo_merchant', 'p'.repeat(1_000_000)],
    ['object as password', 'demo_merchant', { $gt: '' }],
    ['array as password', 'demo_merchant', ['demo_password']],
    ['number as password', 'demo_merchant', 12345678],
    ['object as account', { $gt: '' }, 'demo_password'],
    ['nothing', undefined, null],
  ])('is one and the same refusal, at the same cost: %s', async (_, merchantAccount, password) => {
    const all = setUp();
    expect(await all.attempt(merchantAccount, password)).toEqual({ kind: 'refused' });
    expect(all.matchesPassword).toHaveBeenCalledTimes(1);
    expect(all.hashed).toEqual([]);
  });

  it('is not a rejection when the database is down, and does not count against the source', async () => {
    const all = setUp();
    for (let count = 0; count < 300; count += 1) {
      all.load.mockRejectedValueOnce(new Error('down'));
      await expect(right(all)).rejects.toThrow('down');
    }
    expect(await right(all)).toMatchObject({ kind: 'ok' });
  });

  it('belongs to one account and one password', async () => {
    const all = setUp();
    all.stored.set('demo_merchant2', accountOf('demo_merchant2', 'other_password'));
    expect(await all.attempt('demo_merchant2', 'demo_password')).toEqual({ kind: 'refused' });
    expect(await all.attempt('demo_merchant2', 'other_password')).toMatchObject({ kind: 'ok' });
  });

  it('rejects a rotated password once the directory has read the new one', async () => {
    const all = setUp();
    await right(all);
    all.stored.set('demo_merchant', accountOf('demo_merchant', 'new_password'));
    all.clock.now += 29_999;
    expect(await right(all)).toMatchObject({ kind: 'ok' });
    all.clock.now += 1;
    expect(await right(all)).toEqual({ kind: 'refused' });
    expect(await all.attempt('demo_merchant', 'new_password')).toMatchObject({ kind: 'ok' });
  });

  it('accepts a rotated password at once, whatever the directory remembers', async () => {
    const all = setUp();
    await right(all);
    all.stored.set('demo_merchant', accountOf('demo_merchant', 'new_password'));
    await fail(all, 499);
    expect(await all.attempt('demo_merchant', 'new_password')).toMatchObject({ kind: 'ok' });
    // The token of the first refusal was given back.
    expect(await wrong(all)).toEqual({ kind: 'refused' });
    expect((await wrong(all)).kind).toBe('throttled');
  });

  it('takes a read for each refusal, so that its time does not tell which accounts are in use', async () => {
    const all = setUp();
    await right(all);
    for (const [name, reads] of [
      ['demo_merchant', 1],
      ['no_such_account', 1],
      ['no_such_account', 1],
      ['short', 0],
    ] as const) {
      all.load.mockClear();
      expect(await all.attempt(name, 'wrong_password')).toEqual({ kind: 'refused' });
      expect(all.load).toHaveBeenCalledTimes(reads);
    }
  });

  it('shows a suspension within 30 s', async () => {
    const all = setUp();
    await right(all);
    all.stored.set('demo_merchant', accountOf('demo_merchant', 'demo_password', { state: 'suspended' }));
    all.clock.now += 30 * SECOND_MS;
    expect(await right(all)).toMatchObject({ kind: 'ok', account: { state: 'suspended' } });
  });
});

describe('under attack after a restart', () => {
  it('accepts a right password at once, while 400 guessers try elsewhere', async () => {
    const all = setUp();
    const guesses = Array.from({ length: 400 }, (_, index) =>
      all.attempt('demo_merchant', `wrong_password_${index}`, '192.0.2.66'),
    );
    expect(await right(all)).toMatchObject({ kind: 'ok' });
    expect((await Promise.all(guesses)).filter(({ kind }) => kind === 'refused')).toHaveLength(100);
    expect(await right(all)).toMatchObject({ kind: 'ok' });
    expect(all.hashed).toEqual([]);
  });

  it('looks up other sources while one asks for unknown names', async () => {
    const all = setUp();
    const reading = Promise.withResolvers<undefined>();
    all.load.mockImplementation((name) =>
      name === 'demo_merchant' ? Promise.resolve(all.stored.get(name)) : reading.promise,
    );
    const guesses = Array.from({ length: 3_000 }, (_, index) => all.attempt(`nobody_${index}`, 'some_password'));
    const merchant = right(all, '192.0.2.2');
    await settle();
    // 128 reads at once, and 1,000 waiting per source.
    expect(all.load).toHaveBeenCalledTimes(128);
    reading.resolve(undefined);
    expect(await merchant).toMatchObject({ kind: 'ok' });
    const names = all.load.mock.calls.map(([name]) => name);
    expect(names.indexOf('demo_merchant')).toBeLessThan(140);
    await Promise.all(guesses);
  });
});

describe('an account whose copy cannot be decrypted', () => {
  function withoutCopy(password = 'demo_password') {
    const all = setUp();
    all.stored.set('demo_merchant', accountOf('demo_merchant', password, { copy: false }));
    return all;
  }

  it('is checked against its hash, once', async () => {
    const all = withoutCopy();
    expect(await right(all)).toMatchObject({ kind: 'ok' });
    all.clock.now += 86_400 * SECOND_MS;
    expect(await right(all)).toMatchObject({ kind: 'ok' });
    expect(all.hashed).toHaveLength(1);
    expect(await wrong(all)).toEqual({ kind: 'refused' });
    all.stored.set('demo_merchant', accountOf('demo_merchant', 'new_password', { copy: false }));
    all.clock.now += 30 * SECOND_MS;
    expect(await right(all)).toEqual({ kind: 'refused' });
  });

  it('costs one hash for identical concurrent attempts', async () => {
    const all = withoutCopy();
    const verdicts = await Promise.all(Array.from({ length: 50 }, () => right(all)));
    expect(verdicts.every(({ kind }) => kind === 'ok')).toBe(true);
    expect(all.hashed).toHaveLength(1);
  });

  it('takes turns by source instead of waiting behind the busiest guesser', async () => {
    const all = withoutCopy();
    const opened = Promise.withResolvers<void>();
    all.gate.opened = opened.promise;
    const guesses = Array.from({ length: 60 }, (_, index) => all.attempt('demo_merchant', `wrong_password_${index}`));
    await settle();
    const merchant = right(all, '192.0.2.2');
    await settle();
    opened.resolve();
    expect(await merchant).toMatchObject({ kind: 'ok' });
    const place = all.hashed.findIndex(({ password }) => password === 'demo_password');
    expect(place).toBeLessThanOrEqual(2);
    const kinds = (await Promise.all(guesses)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'refused')).toHaveLength(16);
    expect(kinds.filter((kind) => kind === 'throttled')).toHaveLength(44);
  });

  it('does not count right or unchecked attempts against the source', async () => {
    const all = withoutCopy();
    for (let count = 0; count < 300; count += 1) {
      const name = `account_${count}`;
      all.stored.set(name, accountOf(name, 'demo_password', { copy: false }));
      expect(await all.attempt(name, 'demo_password')).toMatchObject({ kind: 'ok' });
    }
    expect(new Set(await fail(all, 100))).toEqual(new Set(['refused']));
    expect(await wrong(all)).toMatchObject({ kind: 'throttled' });
    expect(all.hashed).toHaveLength(400);
  });
});

describe('throttle', () => {
  const GUESSER = '192.0.2.66';

  it('lets a source fail 100 times at an account, then 5 times a second', async () => {
    const all = setUp();
    expect(new Set(await fail(all, 100))).toEqual(new Set(['refused']));
    expect(await wrong(all)).toEqual({ kind: 'throttled', retryAfterSeconds: 1 });
    all.clock.now += SECOND_MS;
    expect((await fail(all, 20)).filter((kind) => kind === 'refused')).toHaveLength(5);
  });

  it('counts attempts in parallel too', async () => {
    const all = setUp();
    const verdicts = await Promise.all(
      Array.from({ length: 200 }, (_, index) => all.attempt('demo_merchant', `wrong_${index}`)),
    );
    expect(verdicts.filter(({ kind }) => kind === 'refused')).toHaveLength(100);
  });

  it('counts all malformed names of a source together', async () => {
    const all = setUp();
    const verdicts = await Promise.all(Array.from({ length: 200 }, (_, index) => all.attempt(`x${index}`, 'y')));
    expect(verdicts.filter(({ kind }) => kind === 'refused')).toHaveLength(100);
  });

  it.each([
    ['the encrypted copy', {}],
    ['the hash', { copy: false as const }],
  ])('gives a right guess the answer of a wrong one, checked by %s', async (_, override) => {
    const all = setUp();
    all.stored.set('demo_merchant', accountOf('demo_merchant', 'demo_password', override));
    await fail(all, 100, GUESSER);
    const verdict = await wrong(all, GUESSER);
    expect(verdict).toEqual({ kind: 'throttled', retryAfterSeconds: 1 });
    expect(await right(all, GUESSER)).toEqual(verdict);
    all.clock.now += SECOND_MS;
    expect(await right(all, GUESSER)).toMatchObject({ kind: 'ok' });
  });

  it('does not lock the merchant out elsewhere, before or after its first request', async () => {
    const all = setUp();
    await fail(all, 101, GUESSER);
    expect(await right(all)).toMatchObject({ kind: 'ok' });
    await fail(all, 300, GUESSER);
    expect(await right(all)).toMatchObject({ kind: 'ok' });
    expect(await wrong(all, '192.0.2.51')).toEqual({ kind: 'refused' });
  });

  it('does not lock out the neighbours of a misconfigured shop', async () => {
    const all = setUp();
    all.stored.set('neighbour_one', accountOf('neighbour_one', 'its_password'));
    for (let second = 0; second < 120; second += 1) {
      await fail(all, 50);
      expect(await all.attempt('neighbour_one', 'its_password')).toMatchObject({ kind: 'ok' });
      all.clock.now += SECOND_MS;
    }
    expect(await right(all)).toMatchObject({ kind: 'ok' });
  });

  describe('of a source that tries many accounts', () => {
    async function trySpraying(all: SetUp, count: number): Promise<string[]> {
      const kinds: string[] = [];
      for (let index = 0; index < count; index += 1) {
        kinds.push((await all.attempt(`account_${index}`, 'some_password')).kind);
      }
      return kinds;
    }

    it('stops it after 300 failures, and answers a right guess like a wrong one', async () => {
      const all = setUp();
      const kinds = await trySpraying(all, 350);
      expect(kinds.filter((kind) => kind === 'refused')).toHaveLength(300);
      expect(await right(all)).toEqual({ kind: 'throttled', retryAfterSeconds: 1 });
      expect(await wrong(all)).toEqual({ kind: 'throttled', retryAfterSeconds: 1 });
    });

    it('spares accounts whose right password came from there before', async () => {
      const all = setUp();
      expect(await right(all)).toMatchObject({ kind: 'ok' });
      await trySpraying(all, 350);
      expect(await right(all)).toMatchObject({ kind: 'ok' });
    });
  });

  describe('of an account whose right password came from the source', () => {
    it('lets right logins through while others behind the address fail at the same account', async () => {
      const all = setUp();
      expect(await right(all)).toMatchObject({ kind: 'ok' });
      // Six failures a second, for four minutes, and a right login at any time between them.
      for (let failure = 0; failure < 1_440; failure += 1) {
        expect(await wrong(all)).toEqual({ kind: 'refused' });
        all.clock.now += SECOND_MS / 12;
        expect(await right(all)).toMatchObject({ kind: 'ok' });
        all.clock.now += SECOND_MS / 12;
      }
    });

    it('still stops a guesser, who then learns nothing from a right guess', async () => {
      const all = setUp();
      await right(all);
      expect((await fail(all, 600)).filter((kind) => kind === 'refused')).toHaveLength(500);
      expect(await right(all)).toEqual({ kind: 'throttled', retryAfterSeconds: 1 });
      all.clock.now += SECOND_MS;
      expect((await fail(all, 100)).filter((kind) => kind === 'refused')).toHaveLength(50);
    });

    it('leaves its failures in a bucket of its own', async () => {
      const all = setUp();
      await right(all);
      await fail(all, 400);
      all.stored.set('neighbour_one', accountOf('neighbour_one', 'its_password'));
      expect(await all.attempt('neighbour_one', 'its_password')).toMatchObject({ kind: 'ok' });
    });

    it('forgets the pair a month after its last right login', async () => {
      const all = setUp();
      await right(all);
      all.clock.now += 30 * 86_400 * SECOND_MS - 1;
      expect(all.check.mostAccountsOfASource()).toBe(1);
      all.clock.now += 1;
      expect((await fail(all, 150)).filter((kind) => kind === 'refused')).toHaveLength(100);
      expect(all.check.mostAccountsOfASource()).toBe(0);
    });
  });

  it('treats an IPv6 network as one source', async () => {
    const all = setUp();
    const kinds: string[] = [];
    for (let index = 0; index < 120; index += 1) kinds.push((await wrong(all, `2001:db8:1:2::${index}`)).kind);
    expect(kinds.filter((kind) => kind === 'refused')).toHaveLength(100);
  });
});

it('prints no password hash with an account', () => {
  const account = accountOf('demo_merchant', 'demo_password');
  expect(inspect(account, { depth: 9 }) + JSON.stringify(account)).not.toContain('hash of');
});

describe('the accounts of a source', () => {
  it('are those whose right password came from it, at the source with the most', async () => {
    const all = setUp();
    expect(all.check.mostAccountsOfASource()).toBe(0);
    for (const name of ['shop_one', 'shop_two', 'shop_three']) all.stored.set(name, accountOf(name, 'demo_password'));
    await all.attempt('shop_three', 'wrong_password', '198.51.100.7');
    for (const name of ['shop_one', 'shop_two', 'shop_one']) await all.attempt(name, 'demo_password', '198.51.100.7');
    await right(all, '192.0.2.9');
    expect(all.check.mostAccountsOfASource()).toBe(2);
    // An IPv6 network is one source.
    for (const [index, name] of ['shop_one', 'shop_two', 'shop_three'].entries()) {
      await all.attempt(name, 'demo_password', `2001:db8::${index + 1}`);
    }
    expect(all.check.mostAccountsOfASource()).toBe(3);
  });
});
