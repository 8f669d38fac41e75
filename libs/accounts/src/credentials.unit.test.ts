import { inspect } from 'node:util';
import { Secret } from '@gateway/service-kit';
import type { Account } from './account';
import type { CredentialVerdict } from './credentials';
import { createCredentialCheck } from './credentials';
import { createAccountDirectory } from './directory';

const SECOND_MS = 1000;
const hashOf = (password: string): string => `hash of ${password}`;

function accountOf(merchantAccount: string, password: string, override: Partial<Account> = {}): Account {
  const credentials = new Secret({ passwordHash: hashOf(password) } as never);
  return { merchantAccount, state: 'test', credentials, ...override } as Account;
}

/** Real directory and check; hashing is replaced by something that counts, and that a test can hold up. */
function setUp() {
  const clock = { now: 1_000_000 };
  const stored = new Map([['demo_merchant', accountOf('demo_merchant', 'demo_password')]]);
  const hashed: { storedHash: string; password: string }[] = [];
  const gate = { opened: Promise.resolve() };
  const load = jest.fn(async (name: string) => stored.get(name));
  const directory = createAccountDirectory({ load, now: () => clock.now });
  const passwords = {
    dummyHash: 'dummy',
    async matches(storedHash: string, password: Secret) {
      hashed.push({ storedHash, password: password.expose() });
      await gate.opened;
      return storedHash === hashOf(password.expose());
    },
  };
  const check = createCredentialCheck({ directory, passwords, now: () => clock.now });
  const attempt = (merchantAccount: unknown, password: unknown, source = '192.0.2.1'): Promise<CredentialVerdict> =>
    check.verify({ merchantAccount, password, source });
  return { clock, stored, hashed, gate, load, directory, attempt };
}

type SetUp = ReturnType<typeof setUp>;
const right = ({ attempt }: SetUp, source?: string): Promise<CredentialVerdict> =>
  attempt('demo_merchant', 'demo_password', source);
const wrong = ({ attempt }: SetUp, source?: string): Promise<CredentialVerdict> =>
  attempt('demo_merchant', 'wrong_password', source);

async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
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
    ["the dummy's own hash", 'no_such_account', 'dummy1'],
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
  ])('is one and the same refusal, for exactly one hash: %s', async (_, merchantAccount, password) => {
    const all = setUp();
    expect(await all.attempt(merchantAccount, password)).toEqual({ kind: 'refused' });
    expect(all.hashed).toHaveLength(1);
    expect(await all.attempt(merchantAccount, password)).toEqual({ kind: 'refused' });
    expect(all.hashed).toHaveLength(2);
  });

  it('is no refusal when the database is away, and that is not held against the source', async () => {
    const all = setUp();
    for (let count = 0; count < 300; count += 1) {
      all.load.mockRejectedValueOnce(new Error('down'));
      await expect(right(all)).rejects.toThrow('down');
    }
    expect(await right(all)).toMatchObject({ kind: 'ok' });
  });
});

describe('memory', () => {
  it('spares the hash from the second time on, however late that is', async () => {
    const all = setUp();
    await right(all);
    all.clock.now += 86_400 * SECOND_MS;
    await right(all);
    expect(all.hashed).toHaveLength(1);
  });

  it('is of one account with one password', async () => {
    const all = setUp();
    all.stored.set('demo_merchant2', accountOf('demo_merchant2', 'demo_password'));
    await right(all);
    expect(await wrong(all)).toEqual({ kind: 'refused' });
    expect(await all.attempt('demo_merchant2', 'demo_password')).toMatchObject({ kind: 'ok' });
    // The same characters, divided in another place.
    all.stored.set('account_a\0pass', accountOf('account_a\0pass', 'wordword'));
    const together = [all.attempt('account_a\0pass', 'wordword'), all.attempt('account_a', 'pass\0wordword')];
    expect((await Promise.all(together)).map(({ kind }) => kind)).toEqual(['ok', 'refused']);
    expect(await all.attempt('account_a', 'pass\0wordword')).toEqual({ kind: 'refused' });
  });

  it('ends with a rotated password as soon as the directory knows', async () => {
    const all = setUp();
    await right(all);
    all.stored.set('demo_merchant', accountOf('demo_merchant', 'new_password'));
    // The credential is verified again late in the directory's 30 s, so that its own 30 s are not over.
    all.clock.now += 29_999;
    expect(await right(all)).toMatchObject({ kind: 'ok' });
    all.clock.now += 1;
    expect(await right(all)).toEqual({ kind: 'refused' });
    expect(await all.attempt('demo_merchant', 'new_password')).toMatchObject({ kind: 'ok' });
  });

  it('ends with a rotated password although the credential was verified later than the account was read', async () => {
    const all = setUp();
    await all.directory.find('demo_merchant');
    all.clock.now += 20 * SECOND_MS;
    await right(all);
    all.stored.set('demo_merchant', accountOf('demo_merchant', 'new_password'));
    all.clock.now += 10 * SECOND_MS;
    expect(await right(all)).toEqual({ kind: 'refused' });
  });

  it('shows a suspension within 30 s', async () => {
    const all = setUp();
    await right(all);
    all.stored.set('demo_merchant', accountOf('demo_merchant', 'demo_password', { state: 'suspended' }));
    all.clock.now += 30 * SECOND_MS;
    expect(await right(all)).toMatchObject({ kind: 'ok', account: { state: 'suspended' } });
  });
});

describe('hashing', () => {
  it('happens once for identical attempts that arrive together', async () => {
    const all = setUp();
    const verdicts = await Promise.all(Array.from({ length: 300 }, () => right(all)));
    expect(verdicts.every(({ kind }) => kind === 'ok')).toBe(true);
    expect(all.hashed).toHaveLength(1);
  });

  it('is bounded: two at a time, 64 waiting, then throttled without a look at the password', async () => {
    const all = setUp();
    const opened = Promise.withResolvers<void>();
    all.gate.opened = opened.promise;
    const attempts = Array.from({ length: 70 }, (_, index) =>
      all.attempt('demo_merchant', `wrong_password_${index}`, `192.0.2.${index}`),
    );
    await settle();
    expect(all.hashed).toHaveLength(2);
    opened.resolve();
    const kinds = (await Promise.all(attempts)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'throttled')).toHaveLength(4);
    expect(kinds.filter((kind) => kind === 'refused')).toHaveLength(66);
    expect(all.hashed).toHaveLength(66);
  });

  it('that had no room is not held against the source', async () => {
    const all = setUp();
    const opened = Promise.withResolvers<void>();
    all.gate.opened = opened.promise;
    const filling = Array.from({ length: 66 }, (_, index) =>
      all.attempt('demo_merchant', `wrong_password_${index}`, '192.0.2.9'),
    );
    await settle();
    for (let count = 0; count < 200; count += 1) expect(await right(all)).toMatchObject({ kind: 'throttled' });
    opened.resolve();
    await Promise.all(filling);
    expect(await right(all)).toMatchObject({ kind: 'ok' });
  });
});

describe('throttle', () => {
  async function fail(all: SetUp, count: number, source?: string): Promise<string[]> {
    const kinds: string[] = [];
    for (let index = 0; index < count; index += 1) kinds.push((await wrong(all, source)).kind);
    return kinds;
  }

  it('lets a source fail 100 times, then 5 times a second, without hashing in between', async () => {
    const all = setUp();
    expect(new Set(await fail(all, 100))).toEqual(new Set(['refused']));
    expect(await wrong(all)).toEqual({ kind: 'throttled', retryAfterSeconds: 1 });
    expect(all.hashed).toHaveLength(100);
    all.clock.now += SECOND_MS;
    expect((await fail(all, 20)).filter((kind) => kind === 'refused')).toHaveLength(5);
    expect(all.hashed).toHaveLength(105);
  });

  it('asks the database nothing for a throttled source', async () => {
    const all = setUp();
    await fail(all, 100);
    const loads = all.load.mock.calls.length;
    expect(await all.attempt('another_account', 'some_password')).toMatchObject({ kind: 'throttled' });
    expect(all.load).toHaveBeenCalledTimes(loads);
  });

  it('counts attempts in parallel too, also malformed ones', async () => {
    const all = setUp();
    const verdicts: CredentialVerdict[] = [];
    for (let round = 0; round < 4; round += 1) {
      const attempts = Array.from({ length: 50 }, (_, index) =>
        index % 2 === 0 ? all.attempt('demo_merchant', `wrong_${round}_${index}`) : all.attempt('x', 'y'),
      );
      verdicts.push(...(await Promise.all(attempts)));
    }
    expect(verdicts.filter(({ kind }) => kind === 'refused')).toHaveLength(100);
    expect(all.hashed).toHaveLength(100);
  });

  it('spares other sources, and credentials that are remembered', async () => {
    const all = setUp();
    await right(all, '192.0.2.50');
    await fail(all, 101);
    expect(await right(all)).toMatchObject({ kind: 'ok' });
    expect(await wrong(all, '192.0.2.51')).toEqual({ kind: 'refused' });
    all.clock.now += 30 * SECOND_MS;
    expect(await right(all, '192.0.2.50')).toMatchObject({ kind: 'ok' });
  });

  it('takes nothing for a success', async () => {
    const all = setUp();
    for (let count = 0; count < 300; count += 1) {
      const name = `account_${count}`;
      all.stored.set(name, accountOf(name, 'demo_password'));
      expect(await all.attempt(name, 'demo_password')).toMatchObject({ kind: 'ok' });
    }
    expect(all.hashed).toHaveLength(300);
    expect(new Set(await fail(all, 100))).toEqual(new Set(['refused']));
  });

  it('sees one source in all addresses of an IPv6 network', async () => {
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
