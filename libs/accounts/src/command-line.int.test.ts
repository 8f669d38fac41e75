import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import { AUDITED, openAuditFrom } from '@gateway/audit';
import type { Entry } from '@gateway/audit';
import { isRetryable } from '@gateway/service-kit';
import { createCallers } from '@gateway/testing';
import { accountModel } from './account-model';
import { createAccountAdministration } from './administration';
import { publicFields } from './account-printout';
import { main } from './command-line';
import { DEMO_ACCOUNTS, DEMO_WEBHOOK_SECRET, seedDemoAccounts } from './demo-accounts';
import type { OpenAccounts } from './open-accounts';
import { openAccounts, openLogins } from './open-accounts';
import { createPasswordHasher } from './passwords';
import type { SigningPurpose } from './signing';
import { createOpenSecret, createSecretWriter, encryptCopy } from './signing';
import type { StoredSecret } from './stored-secret';
import { isSealed } from './stored-secret';
import { createWebhookSecrets, loadWebhookSecrets, WEBHOOK_SECRETS } from './webhook-secrets';
import { createKeyRing, newVaultKeys, readKeys } from '@gateway/vault';
import { CUSTOM_PARAMETERS, Secret, TRANSACTION_TYPES } from '@gateway/contracts';

/** One pixel. */
const LOGO = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg==';
const uri = process.env['TEST_MONGODB_URI'] as string;
const databasePrefix = `accounts_int_${randomBytes(5).toString('hex')}_`;
const oldKey = `2025:${randomBytes(32).toString('base64')}`;
const { SIGNING_KEYS, SIGNING_PUBLIC_KEY } = newVaultKeys('s1');
const signingKeys = { SIGNING_KEYS, SIGNING_PUBLIC_KEY };
const newKey = `2026:${randomBytes(32).toString('base64')}`;

const callers = createCallers();
const environment = {
  MONGODB_URI: uri,
  DATABASE_PREFIX: databasePrefix,
  ACCOUNT_KEYS: oldKey,
  ...signingKeys,
  ALLOW_SIMULATED_MONEY: 'yes',
  CALLERS_FILE: callers.file,
  IDENTITY_TOKEN: callers.token('operator'),
};

let connection: MongoConnection;
let now: number;
/** What the operator types when asked for a password. */
let typed: string;
let accounts: OpenAccounts;

interface Run {
  code: number;
  out: string;
  err: string;
}

async function run(args: string[], env: Record<string, string> = {}): Promise<Run> {
  const result = { out: '', err: '' };
  const code = await main(args, {
    env: { ...environment, ...env },
    ask: () => Promise.resolve(typed),
    out: (text) => void (result.out += text),
    err: (text) => void (result.err += text),
  });
  return { code, ...result };
}

/** A command with --json that must succeed. */
async function json(...args: string[]): Promise<Record<string, unknown>> {
  const { code, out, err } = await run([...args, '--json']);
  expect({ code, err: err.replace(/^Warning.*/, '') }).toEqual({ code: 0, err: '' });
  return JSON.parse(out) as Record<string, unknown>;
}

/** AA, AB, … */
/** With their check digits (ISO 7064 mod 97-10); `LV` and `00` are 2131 and 00 behind the account. */
function ibans(count: number): string {
  const bank = [...'BANK'].map((letter) => parseInt(letter, 36)).join('');
  return Array.from({ length: count }, (_, index) => {
    const account = String(index).padStart(13, '0');
    const check = 98n - (BigInt(`${bank}${account}213100`) % 97n);
    return `LV${String(check).padStart(2, '0')}BANK${account}`;
  }).join(',');
}

function verify(merchantAccount: unknown, password: unknown) {
  return accounts.credentials.verify({ merchantAccount, password, source: '192.0.2.1' });
}

beforeAll(async () => {
  connection = await connectMongo({ uri, database: `${databasePrefix}accounts` });
});

beforeEach(async () => {
  await connection.collection('accounts').deleteMany({});
  await connection.collection(WEBHOOK_SECRETS).deleteMany({});
  now = Date.now();
  accounts = await openAccounts({ uri, databasePrefix, ...signingKeys, ACCOUNT_KEYS: oldKey, now: () => now });
});

afterEach(() => accounts.close());

afterAll(async () => {
  await connection.mongoose.dropDatabase();
  await connection.mongoose.useDb(`${databasePrefix}audit`).dropDatabase();
  await connection.close();
  callers.remove();
});

/** As callback-dispatcher reads them. */
async function webhookSecrets(merchantAccount: string): Promise<string[]> {
  return (await accounts.webhookSecrets(merchantAccount)).map((secret) => secret.expose());
}

/** The audit entries about an account, oldest first. */
async function auditOf(subject: string): Promise<Entry[]> {
  const audit = await openAuditFrom(environment);
  const entries = await audit.list({ subject, limit: 100 });
  await audit.close();
  return entries.toReversed();
}

describe('create', () => {
  it('makes a test account with a sandbox terminal and secrets that work', async () => {
    const created = await json('create', 'acme_shop');
    expect(created).toMatchObject({
      merchantAccount: 'acme_shop',
      state: 'test',
      transactionTypes: TRANSACTION_TYPES,
      limits: [],
      ipAllowlist: [],
      returnHosts: [],
      rateLimitPerSecond: 100,
      maxConcurrentRequests: 32,
      customParameters: [],
      payoutFee: { fixedE4: 0, percentE4: 0 },
      payoutInstant: false,
      payoutRules: [],
      terminals: [{ currency: 'XTS', acquirer: 'simulator', active: true, lateVoid: false }],
    });
    expect(created['password']).toMatch(/^[A-Za-z0-9]{32}$/);
    expect(created['payoutSecret']).toMatch(/^[A-Za-z0-9]{32}$/);
    expect(created['webhookSecret']).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const [terminal] = created['terminals'] as { midReference: string; midId: string }[];
    expect(terminal?.midReference).toMatch(/^MD[0-9A-F]{14}$/);
    expect(terminal?.midId).toMatch(/^\d{10}$/);

    const verdict = await verify('acme_shop', created['password']);
    if (verdict.kind !== 'ok') throw new Error(verdict.kind);
    const secrets = await accounts.signingSecrets(verdict.account);
    expect(secrets.cardSecret.expose()).toBe(created['password']);
    expect(secrets.payoutSecret.expose()).toBe(created['payoutSecret']);
    expect(await webhookSecrets('acme_shop')).toEqual([created['webhookSecret']]);
    expect(await verify('acme_shop', created['payoutSecret'])).toEqual({ kind: 'refused' });
  });

  it('takes every option', async () => {
    const options =
      '--types AUTH,SALE --terminal EUR:simulator:3600:late-void --terminal USD --limit EUR:1.00-500.00 ' +
      '--allow-ip ::ffff:10.1.2.3/104 --return-host Shop.Example --rate-limit 5 --concurrency 6 --custom custom_mid_id ' +
      '--payout-fee 0.50+1% --payout-instant yes --payout-daily-amount EUR:10000,XTS:5 --payout-daily-count 7 ' +
      '--payout-first-receiver EUR:500 --payout-blocked-countries rs,IR,RS ' +
      '--payout-blocked-ibans LV80BANK0000435195001 --card-declines ip:5/1h --test-card-attempts card:3/1d ' +
      '--payout-debtor de89370400440532013000 --hold-callbacks 24 --ask-password';
    typed = 'chosen_password_of_32_characters';
    const { password, ...created } = await json('create', 'acme_shop', ...options.split(' '));
    expect(password).toBe('chosen_password_of_32_characters');
    expect(created).toMatchObject({
      transactionTypes: ['AUTH', 'SALE'],
      terminals: [
        { currency: 'XTS' },
        { currency: 'EUR', acquirer: 'simulator', holdSeconds: 3600, lateVoid: true },
        { currency: 'USD', acquirer: 'simulator', lateVoid: false },
      ],
      limits: [{ currency: 'EUR', minE4: 10_000, maxE4: 5_000_000 }],
      ipAllowlist: ['10.0.0.0/8'],
      returnHosts: ['shop.example'],
      rateLimitPerSecond: 5,
      maxConcurrentRequests: 6,
      customParameters: ['custom_mid_id'],
      payoutFee: { fixedE4: 5_000, percentE4: 10_000 },
      payoutInstant: true,
      payoutDebtor: 'DE89370400440532013000',
      holdCallbackHours: 24,
      payoutRules: [
        { kind: 'daily-amount', currency: 'EUR', maxE4: 100_000_000 },
        { kind: 'daily-amount', currency: 'XTS', maxE4: 50_000 },
        { kind: 'daily-count', max: 7 },
        { kind: 'first-time-receiver', currency: 'EUR', maxE4: 5_000_000 },
        { kind: 'blocked-countries', countries: ['RS', 'IR'] },
        { kind: 'blocked-ibans', ibans: ['LV80BANK0000435195001'] },
      ],
      cardRules: [{ kind: 'declines', by: 'ip', max: 5, windowSeconds: 3_600 }],
      testCardRules: [{ kind: 'attempts', by: 'card', max: 3, windowSeconds: 86_400 }],
    });
    const account = await accounts.directory.find('acme_shop');
    const { payoutSecret: _, webhookSecret: _other, ...shown } = created;
    expect(JSON.parse(JSON.stringify({ ...account, credentials: undefined }))).toEqual(shown);
  });

  it('refuses a name that is taken', async () => {
    const { password } = await json('create', 'acme_shop');
    expect(await run(['create', 'acme_shop'])).toEqual({
      code: 1,
      out: '',
      err: 'There is an account "acme_shop" already.',
    });
    expect(await verify('acme_shop', password)).toMatchObject({ kind: 'ok' });
  });

  it('warns of a short password', async () => {
    typed = 'demo_password';
    expect(await run(['create', 'acme_shop', '--ask-password'])).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^Warning: a password of fewer than 22/) as unknown,
    });
  });

  it.each([
    [['acme'], 'is not 6 to 32 letters'],
    [['acme shop'], 'is not 6 to 32 letters'],
    [['a'.repeat(33)], 'is not 6 to 32 letters'],
    [['acme_shop', '--password', 'long_enough'], "Unknown option '--password'"],
    [['acme_shop', '--limit', 'EUR:5-1'], 'lower bound is above'],
    [['acme_shop', '--limit', 'EUR:1-5', '--limit', 'EUR:2-5'], 'more than one limit'],
    [['acme_shop', '--terminal', 'EUR:north-bank'], 'There is no connector "north-bank"; there are: simulator.'],
    [['acme_shop', '--terminal', 'EUR:North Bank'], 'There is no connector "North Bank"'],
    [['acme_shop', '--return-host', 'https://shop.example'], 'is not a host name'],
    [['acme_shop', '--payout-fee', '101%'], '1010000 is more than 1000000'],
    [['acme_shop', '--card-declines', 'ip:1/1h,ip:2/60m'], 'more than once for the same subject and time'],
    [['acme_shop', '--card-declines', 'ip:1/59s'], '59 is less than 60'],
    [['acme_shop', '--card-attempts', 'ip:1000001/1d'], '1000001 is more than 1000000'],
    [['acme_shop', '--payout-daily-amount', 'EUR:1,EUR:2'], 'more than once for the same currency'],
    [['acme_shop', '--payout-daily-amount', 'USD:10'], 'USD is no currency of payouts (EUR, XTS)'],
    [['acme_shop', '--payout-first-receiver', 'GBP:10'], 'GBP is no currency of payouts (EUR, XTS)'],
    [['acme_shop', '--payout-first-receiver', 'EUR:1,EUR:2'], 'more than once for the same currency'],
    [['acme_shop', '--payout-daily-count', '10000001'], '10000001 is more than 10000000'],
    [['acme_shop', '--payout-blocked-countries', 'RSD'], 'RSD is no country'],
    [['acme_shop', '--payout-blocked-countries', 'GB,UK'], 'UK is no country'],
    [['acme_shop', '--payout-blocked-ibans', 'LV80BANK,'], 'LV80BANK is not an IBAN'],
    [['acme_shop', '--payout-blocked-ibans', 'DE89370400440532013001'], 'has wrong check digits'],
    [['acme_shop', '--payout-debtor', 'DE89370400440532013001'], 'has wrong check digits'],
    [['acme_shop', '--types', 'SALE,PAYOUT'], '--payouts on'],
    [['acme_shop', '--payout-blocked-ibans', ibans(1_001)], 'blocks at most 1000 IBANs'],
    [['acme_shop', '--types', 'FOO'], '--types does not know'],
    [['acme_shop', '--hold-callbacks', '1.5'], '--hold-callbacks 1.5 is neither a whole number of hours nor off'],
    [['acme_shop', '--hold-callbacks', '8785'], '8785 is more than 8784'],
    [['acme_shop', '--webhook-secret', 'new'], "Unknown option '--webhook-secret'"],
    [['acme_shop', 'other_shop'], 'takes the name of one account'],
    [[], 'takes the name of one account'],
  ])('refuses %j and stores nothing', async (args, problem) => {
    const { code, out, err } = await run(['create', ...args]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(problem);
    expect(err).toMatch(/^[^\n]+\.$/);
    expect(await connection.collection('accounts').countDocuments()).toBe(0);
  });
});

describe('a password that is typed', () => {
  it.each(['', 'eleven_char', 'p'.repeat(33), 'pass\u0000word'])(
    '%j is refused, and nothing is stored',
    async (password) => {
      typed = password;
      expect(await run(['create', 'acme_shop', '--ask-password'])).toEqual({
        code: 2,
        out: '',
        err: 'The password must have 12 to 32 printable ASCII characters.',
      });
      expect(await connection.collection('accounts').countDocuments()).toBe(0);
    },
  );
});

describe('show and list', () => {
  it('print everything but secrets', async () => {
    await run(['create', 'other_shop']);
    const { password, payoutSecret, webhookSecret } = await json(
      ...['create', 'acme_shop', '--terminal', 'EUR:simulator:3600'],
    );
    const stored = (await connection.collection('accounts').findOne({ _id: 'acme_shop' as never })) as unknown as {
      passwordHash: string;
    };
    const outputs = [
      await run(['show', 'acme_shop']),
      await run(['show', 'acme_shop', '--json']),
      await run(['list']),
      await run(['list', '--json']),
    ];
    for (const { code, out, err } of outputs) {
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out).toContain('acme_shop');
      for (const secret of [
        password,
        payoutSecret,
        webhookSecret,
        stored.passwordHash,
        'credentials',
        'redacted',
        'signing',
      ]) {
        expect(out).not.toContain(secret);
      }
    }
    expect(outputs[0]?.out).toMatch(/EUR.*simulator/);
    expect(outputs[2]?.out.split('\n').map((line) => line.split(' ')[0])).toEqual(['acme_shop', 'other_shop']);
  });
});

describe('set', () => {
  it('replaces lists, and changes nothing else', async () => {
    const created = await json('create', 'acme_shop', '--limit', 'EUR:1-2');
    const { password, payoutSecret: _, webhookSecret: _other, ...before } = created;
    const after = await json('set', 'acme_shop', '--limit', 'USD:3-4', '--rate-limit', '7');
    expect(after).toEqual({
      ...before,
      limits: [{ currency: 'USD', minE4: 30_000, maxE4: 40_000 }],
      rateLimitPerSecond: 7,
      revision: 1,
    });
    expect(await json('set', 'acme_shop', '--limit', 'none')).toMatchObject({ limits: [], rateLimitPerSecond: 7 });
    expect(await verify('acme_shop', password)).toMatchObject({ kind: 'ok' });
  });

  it('names the merchant for cardholders', async () => {
    expect(await json('create', 'acme_shop')).not.toHaveProperty('displayName');
    expect((await run(['show', 'acme_shop'])).out).toMatch(/^display name +acme_shop$/m);
    // Two characters here, one when stored.
    const named = await json('set', 'acme_shop', '--display-name', 'Mu\u0308ller & Söhne');
    expect(named).toMatchObject({ displayName: 'Müller & Söhne' });
    expect(await accounts.directory.find('acme_shop')).toMatchObject({ displayName: 'Müller & Söhne' });
    for (const name of ['', ' Acme', 'Acme\u202e', 'x'.repeat(41)]) {
      expect(await run(['set', 'acme_shop', '--display-name', name])).toEqual({
        code: 2,
        out: '',
        err: 'Account "acme_shop": its display name is not 1 to 40 visible characters, with single spaces between words.',
      });
    }
    expect(await json('set', 'acme_shop', '--display-name', 'none')).not.toHaveProperty('displayName');
    const changes = (await auditOf('acme_shop')).map(({ after }) => after);
    expect(changes).toContainEqual(expect.objectContaining({ displayName: 'Müller & Söhne' }));
  });

  it('stores a logo, which only pages read', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'logo-'));
    const [file, other] = [join(folder, 'logo.png'), join(folder, 'other.svg')];
    writeFileSync(file, Buffer.from(LOGO, 'base64'));
    writeFileSync(other, '<svg xmlns="http://www.w3.org/2000/svg"/>');
    await json('create', 'acme_shop');
    expect(await json('set', 'acme_shop', '--logo', file)).toMatchObject({ logo: LOGO });
    expect((await run(['show', 'acme_shop'])).out).toMatch(/^logo +PNG, 67 bytes$/m);
    expect(await accounts.logos.findLatest('acme_shop')).toBe(LOGO);
    expect(await accounts.directory.findLatest('acme_shop')).not.toHaveProperty('logo');
    const rule = 'a PNG of at most 8192 bytes and 640 × 256 pixels, without metadata or animation';
    for (const [path, err] of [
      [other, `--logo ${other} is not ${rule}, or none.`],
      [folder, `--logo ${folder} cannot be read.`],
      [join(folder, 'missing'), `--logo ${join(folder, 'missing')} cannot be read.`],
    ] as const) {
      expect(await run(['set', 'acme_shop', '--logo', path])).toEqual({ code: 2, out: '', err });
    }
    expect(await json('set', 'acme_shop', '--logo', 'none')).not.toHaveProperty('logo');
    expect(await accounts.logos.findLatest('acme_shop')).toBeUndefined();
    const changes = (await auditOf('acme_shop')).map(({ after }) => after);
    expect(changes).toContainEqual(expect.objectContaining({ logo: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) }));
    rmSync(folder, { recursive: true });
  });

  it('replaces the payout rules of the kinds that it names, and shows them', async () => {
    const daily = ['--payout-daily-amount', 'EUR:10000', '--payout-daily-count', '7'];
    await json('create', 'acme_shop', ...daily, '--payout-blocked-ibans', 'LV80BANK0000435195001');
    const blocked = { kind: 'blocked-ibans', ibans: ['LV80BANK0000435195001'] };
    const count = { kind: 'daily-count', max: 7 };
    const changed = await json('set', 'acme_shop', '--payout-daily-amount', 'XTS:5', '--payout-instant', 'yes');
    expect(changed).toMatchObject({
      payoutInstant: true,
      payoutRules: [count, blocked, { kind: 'daily-amount', currency: 'XTS', maxE4: 50_000 }],
    });
    const { out } = await run(['show', 'acme_shop']);
    for (const line of [
      /^payout kind +instant$/m,
      /^payout rules +at most 7 a day, in each currency$/m,
      /^ +none to LV80BANK0000435195001$/m,
      /^ +at most XTS 5 a day$/m,
    ]) {
      expect(out).toMatch(line);
    }
    await json('set', 'acme_shop', '--payout-daily-amount', 'none', '--payout-daily-count', 'none');
    expect(await json('show', 'acme_shop')).toMatchObject({ payoutInstant: true, payoutRules: [blocked] });
    const cleared = await json('set', 'acme_shop', '--payout-blocked-ibans', 'none', '--payout-instant', 'no');
    expect(cleared).toMatchObject({ payoutInstant: false, payoutRules: [] });
  });

  it('replaces the velocity rules of the kinds that it names, and shows them', async () => {
    const defaults = [
      { kind: 'declines', by: 'ip', max: 20, windowSeconds: 3_600 },
      { kind: 'declines', by: 'card', max: 10, windowSeconds: 86_400 },
      { kind: 'declines', by: 'email', max: 20, windowSeconds: 86_400 },
    ];
    const attempts = { kind: 'attempts', by: 'bin', max: 9, windowSeconds: 600 };
    const test = { kind: 'declines', by: 'ip', max: 3, windowSeconds: 60 };
    expect(await json('create', 'acme_shop')).toMatchObject({ cardRules: defaults, testCardRules: [] });
    expect((await run(['show', 'acme_shop'])).out).toMatch(
      /^card rules +at most 20 declines by ip in 3600 s \(default\)$/m,
    );
    expect(await accounts.directory.find('acme_shop')).not.toHaveProperty('cardRules');

    const added = await json('set', 'acme_shop', '--card-attempts', 'bin:9/10m', '--test-card-declines', 'ip:3/1m');
    expect(added).toMatchObject({ cardRules: [...defaults, attempts], testCardRules: [test] });
    const { out } = await run(['show', 'acme_shop']);
    expect(out).toMatch(/^ +at most 9 attempts by bin in 600 s$/m);
    expect(out).toMatch(/^XTS card rules +at most 3 declines by ip in 60 s$/m);

    expect(await json('set', 'acme_shop', '--card-declines', 'none')).toMatchObject({
      cardRules: [attempts],
      testCardRules: [test],
    });
    const restored = await json('set', 'acme_shop', '--card-declines', 'default', '--test-card-declines', 'none');
    expect(restored).toMatchObject({ cardRules: [...defaults, attempts], testCardRules: [] });
  });

  it('accepts the maximum number of blocked receivers', async () => {
    const options = ['--payout-blocked-countries', 'RS,AL', '--payout-blocked-ibans', ibans(1_000)];
    const created = await json('create', 'acme_shop', ...options);
    const { payoutRules } = created as { payoutRules: ({ countries: string[] } & { ibans: string[] })[] };
    expect(payoutRules.map((rule) => (rule.countries ?? rule.ibans).length)).toEqual([2, 1_000]);
  });

  it('keeps an account from before payout rules working', async () => {
    await json('create', 'acme_shop');
    const stored = connection.collection<{ _id: string }>('accounts');
    await stored.updateOne({ _id: 'acme_shop' }, { $unset: { payoutRules: 1, payoutInstant: 1 } });
    expect(await stored.countDocuments({ payoutRules: { $exists: true } })).toBe(0);
    expect(await accounts.directory.find('acme_shop')).toMatchObject({ payoutRules: [], payoutInstant: false });
    expect(await json('show', 'acme_shop')).toMatchObject({ payoutRules: [], payoutInstant: false });
    expect(await json('set', 'acme_shop', '--rate-limit', '7')).toMatchObject({ rateLimitPerSecond: 7 });
    const changed = await json('set', 'acme_shop', '--payout-daily-count', '7');
    expect(changed).toMatchObject({ payoutRules: [{ kind: 'daily-count', max: 7 }] });
  });

  it('limits card numbers, and shows hashes beside digits, as the operator says', async () => {
    const created = await json('create', 'acme_shop');
    expect(created).not.toHaveProperty('cardNumbers');
    expect((await run(['show', 'acme_shop'])).out).toMatch(
      /^card numbers +at most 500 a day with the same BIN, 20000 in all \(default\)$/m,
    );
    const set = await json('set', 'acme_shop', '--card-numbers', '2:30', '--card-hash-beside-digits', 'on');
    expect(set).toMatchObject({ cardNumbers: { perBin: 2, inAll: 30 }, cardHashBesideDigits: true });
    const { out } = await run(['show', 'acme_shop']);
    expect(out).toMatch(/^card numbers +at most 2 a day with the same BIN, 30 in all$/m);
    expect(out).toMatch(/^card hashes +beside digits$/m);
    const reset = await json('set', 'acme_shop', '--card-numbers', 'default', '--card-hash-beside-digits', 'off');
    expect(reset).toMatchObject({ cardHashBesideDigits: false });
    expect(reset).not.toHaveProperty('cardNumbers');
  });

  it('keeps rules that it does not know', async () => {
    await json('create', 'acme_shop');
    const stored = connection.collection<{ _id: string }>('accounts');
    await stored.updateOne({ _id: 'acme_shop' }, { $set: { payoutRules: [{ kind: 'weekly-amount', max: 1 }] } });
    const account = await accounts.directory.find('acme_shop');
    expect(account?.payoutRules).toEqual([{ kind: 'weekly-amount', max: 1 }]);
  });

  it('turns payouts on only with a daily amount, and in EUR with a debtor', async () => {
    await json('create', 'acme_shop');
    const refused = async (problem: string, ...options: string[]) => {
      const { code, err } = await run(['set', 'acme_shop', ...options]);
      expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(problem) as string });
    };
    const EUR = ['--payout-daily-amount', 'EUR:1000'];
    const debtor = ['--payout-debtor', 'DE89370400440532013000'];
    await refused('payouts need a daily amount', '--payouts', 'on');
    await refused('payouts need a daily amount', '--payouts', 'on', ...debtor, '--payout-daily-count', '7');
    await refused('payouts in EUR need a debtor', '--payouts', 'on', ...EUR);
    expect(await json('show', 'acme_shop')).toMatchObject({ transactionTypes: TRANSACTION_TYPES, revision: 0 });

    const on = await json('set', 'acme_shop', '--payouts', 'on', ...EUR, ...debtor);
    expect(on).toMatchObject({ transactionTypes: [...TRANSACTION_TYPES, 'PAYOUT'] });
    expect((await run(['show', 'acme_shop'])).out).toMatch(/^payouts +on in EUR$/m);
    expect((await run(['activate', 'acme_shop'])).out).toMatch(/^payout debtor +DE89370400440532013000$/m);
    expect((await run(['list'])).out).toContain('payouts EUR');

    await refused('payouts need a daily amount', '--payout-daily-amount', 'none');
    const sales = await json('set', 'acme_shop', '--types', 'SALE');
    expect(sales).toMatchObject({ transactionTypes: ['SALE', 'PAYOUT'] });
    const off = await json('set', 'acme_shop', '--payouts', 'off', '--payout-daily-amount', 'none');
    expect(off).toMatchObject({ transactionTypes: ['SALE'], payoutRules: [] });
    expect((await run(['show', 'acme_shop'])).out).toMatch(/^payouts +off$/m);
    expect((await run(['list'])).out).toContain('payouts off');
  });

  it('treats an account from before the daily amount as having payouts off, and still changes it', async () => {
    await json('create', 'acme_shop');
    const stored = connection.collection<{ _id: string }>('accounts');
    await stored.updateOne({ _id: 'acme_shop' }, { $set: { transactionTypes: ['SALE', 'PAYOUT'] } });
    await json('set', 'acme_shop', '--rate-limit', '7');
    expect((await run(['suspend', 'acme_shop'])).code).toBe(0);
    expect((await run(['show', 'acme_shop'])).out).toMatch(/^payouts +off: payouts need a daily amount/m);
  });

  it('adds, switches and removes terminals', async () => {
    const created = await json('create', 'acme_shop');
    const [sandbox] = created['terminals'] as { midReference: string }[];
    const added = await json('set', 'acme_shop', '--terminal', 'EUR', '--terminal', 'USD');
    const [, eur, usd] = added['terminals'] as { midReference: string }[];
    if (sandbox === undefined || eur === undefined || usd === undefined) throw new Error('terminals are missing');
    expect(await json('set', 'acme_shop', '--deactivate-terminal', eur.midReference)).toMatchObject({
      terminals: [sandbox, { ...eur, active: false }, usd],
    });
    const last = await json(
      ...['set', 'acme_shop', '--activate-terminal', eur.midReference, '--remove-terminal', usd.midReference],
    );
    expect(last['terminals']).toEqual([sandbox, eur]);
    for (const option of ['--remove-terminal', '--deactivate-terminal', '--activate-terminal']) {
      expect(await run(['set', 'acme_shop', option, usd.midReference])).toMatchObject({ code: 2 });
    }
    expect(await json('show', 'acme_shop')).toEqual(last);
  });

  it('detects a concurrent change of the account', async () => {
    await json('create', 'acme_shop');
    const model = accountModel(connection.mongoose);
    const stale = await model.findById('acme_shop');
    await json('set', 'acme_shop', '--rate-limit', '7');
    const racing = Object.create(model, { findById: { value: async () => stale } }) as typeof model;
    const keys = await readKeys({ ...signingKeys, ACCOUNT_KEYS: oldKey }, ['ACCOUNT_KEYS', 'SIGNING_PUBLIC_KEY']);
    const secretWriter = createSecretWriter(keys.SIGNING_PUBLIC_KEY, keys.ACCOUNT_KEYS);
    const openSecret = createOpenSecret(keys.ACCOUNT_KEYS);
    const administration = createAccountAdministration({
      model: racing,
      secretWriter,
      openSecret,
      passwords: createPasswordHasher(),
      webhookSecrets: createWebhookSecrets(connection.collection(WEBHOOK_SECRETS), secretWriter, openSecret),
      acquirers: [],
      simulatedMoney: 'no',
      now: () => now,
    });
    await expect(administration.change('acme_shop', { rateLimitPerSecond: 8 })).rejects.toThrow('by someone else');
    expect(await json('show', 'acme_shop')).toMatchObject({ rateLimitPerSecond: 7 });
  });
});

describe('callbacks about holds', () => {
  it('are off, until an option names the hours', async () => {
    await json('create', 'acme_shop');
    expect((await run(['show', 'acme_shop'])).out).toMatch(/^hold callbacks +off$/m);
    expect(await accounts.directory.find('acme_shop')).not.toHaveProperty('holdCallbackHours');
    expect(await json('set', 'acme_shop', '--hold-callbacks', '24')).toMatchObject({ holdCallbackHours: 24 });
    expect((await run(['show', 'acme_shop'])).out).toMatch(/^hold callbacks +24 h before the end, and at the end$/m);
    now += 30_000;
    expect(await accounts.directory.find('acme_shop')).toMatchObject({ holdCallbackHours: 24 });
    expect(await json('set', 'acme_shop', '--hold-callbacks', 'off')).not.toHaveProperty('holdCallbackHours');
    now += 30_000;
    expect(await accounts.directory.find('acme_shop')).not.toHaveProperty('holdCallbackHours');
  });
});

describe('webhook secrets', () => {
  it('sign both from the making of a new one until the old one is retired, within 30 s everywhere', async () => {
    const { webhookSecret: first } = await json('create', 'acme_shop');
    expect(await webhookSecrets('acme_shop')).toEqual([first]);
    const made = await run(['set', 'acme_shop', '--webhook-secret', 'new']);
    const [, second] = /^webhook secret: +(whsec_\S+)$/m.exec(made.out) ?? [];
    expect(made.out).toContain('This is shown once');
    expect(await webhookSecrets('acme_shop')).toEqual([first]);
    now += 30_000;
    expect(await webhookSecrets('acme_shop')).toEqual([second, first]);
    const third = await run(['set', 'acme_shop', '--webhook-secret', 'new']);
    expect(third).toMatchObject({ code: 1, out: '', err: expect.stringContaining('has two webhook secrets already') });
    expect(await run(['set', 'acme_shop', '--webhook-secret', 'retire'])).toMatchObject({ code: 0, err: '' });
    now += 30_000;
    expect(await webhookSecrets('acme_shop')).toEqual([second]);
    const last = await run(['set', 'acme_shop', '--webhook-secret', 'retire']);
    expect(last).toMatchObject({ code: 1, out: '', err: expect.stringContaining('no older webhook secret') });
  });

  it('do not exist for an account from before there were any, until one is made', async () => {
    await json('create', 'acme_shop');
    await connection.collection(WEBHOOK_SECRETS).deleteMany({});
    expect(await webhookSecrets('acme_shop')).toEqual([]);
    expect(await run(['set', 'acme_shop', '--webhook-secret', 'retire'])).toMatchObject({ code: 1 });
    const { webhookSecret } = await json('set', 'acme_shop', '--webhook-secret', 'new', '--rate-limit', '7');
    now += 30_000;
    expect(await webhookSecrets('acme_shop')).toEqual([webhookSecret]);
    expect(await json('show', 'acme_shop')).toMatchObject({ rateLimitPerSecond: 7 });
  });

  it('made at the same time are two at most', async () => {
    await json('create', 'acme_shop');
    const made = await Promise.allSettled([1, 2, 3].map(() => accounts.administration.addWebhookSecret('acme_shop')));
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await webhookSecrets('acme_shop')).toHaveLength(2);
  });

  it('are refused to unknown and closed accounts, and in other words than new and retire', async () => {
    expect(await run(['set', 'nobody_at_all', '--webhook-secret', 'new'])).toMatchObject({ code: 1, out: '' });
    await json('create', 'acme_shop');
    expect(await run(['set', 'acme_shop', '--webhook-secret', 'old'])).toMatchObject({
      code: 2,
      err: '--webhook-secret is new or retire, not "old".',
    });
    await json('close', 'acme_shop');
    for (const how of ['new', 'retire']) {
      expect(await run(['set', 'acme_shop', '--webhook-secret', how])).toMatchObject({
        code: 1,
        err: 'Account "acme_shop" is closed, for good.',
      });
    }
  });
});

describe('states', () => {
  it('follow the allowed transitions', async () => {
    await json('create', 'acme_shop');
    expect(await json('suspend', 'acme_shop')).toMatchObject({ state: 'suspended' });
    expect(await json('reopen', 'acme_shop')).toMatchObject({ state: 'test' });
    expect(await json('activate', 'acme_shop')).toMatchObject({ state: 'active' });
    expect(await json('suspend', 'acme_shop')).toMatchObject({ state: 'suspended' });
    expect(await json('reopen', 'acme_shop')).toMatchObject({ state: 'active' });
    expect(await run(['activate', 'acme_shop'])).toMatchObject({
      code: 1,
      err: 'Account "acme_shop" is active: activate is not possible.',
    });
    expect(await json('close', 'acme_shop')).toMatchObject({ state: 'closed' });
    for (const args of [
      ['activate'],
      ['suspend'],
      ['reopen'],
      ['close'],
      ['rotate-password'],
      ['set', '--custom', 'all'],
    ]) {
      expect(await run([args[0] as string, 'acme_shop', ...args.slice(1)])).toMatchObject({ code: 1, out: '' });
    }
    expect(await json('show', 'acme_shop')).toMatchObject({ state: 'closed', customParameters: [] });
  });

  it('take effect within 30 s', async () => {
    const { password } = await json('create', 'acme_shop');
    expect(await verify('acme_shop', password)).toMatchObject({ account: { state: 'test' } });
    await json('suspend', 'acme_shop');
    now += 30_000;
    expect(await verify('acme_shop', password)).toMatchObject({ account: { state: 'suspended' } });
  });
});

describe('rotation', () => {
  it('of the password ends the old one within 30 s, for requests and callbacks', async () => {
    const { password: old } = await json('create', 'acme_shop');
    await verify('acme_shop', old);
    const { password, payoutSecret } = await json('rotate-password', 'acme_shop');
    expect(payoutSecret).toBeUndefined();
    now += 30_000;
    expect(await verify('acme_shop', old)).toEqual({ kind: 'refused' });
    const verdict = await verify('acme_shop', password);
    if (verdict.kind !== 'ok') throw new Error(verdict.kind);
    expect((await accounts.signingSecrets(verdict.account)).cardSecret.expose()).toBe(password);
  });

  it('of the password with an overlap: callbacks keep the old signature until it ends, requests do not', async () => {
    const { password: old } = await json('create', 'acme_shop');
    const rotated = await accounts.administration.rotatePassword('acme_shop', { signWithOldSeconds: 3_600 });
    const password = rotated.password.expose();
    const signature = async () =>
      (await accounts.signingSecrets(await accounts.administration.get('acme_shop'))).cardSecret.expose();
    expect(await verify('acme_shop', old)).toEqual({ kind: 'refused' });
    now += 3_599_999;
    expect(await signature()).toBe(old);
    now += 1;
    expect(await signature()).toBe(password);
    const { password: next } = await json('rotate-password', 'acme_shop');
    expect(await signature()).toBe(next);
    const { out } = await run(['rotate-password', 'acme_shop', '--sign-with-old', '3600']);
    expect(out).toMatch(/^callbacks +signed with the former password until 20\S+Z$/m);
    expect(await signature()).toBe(next);
  });

  it.each(['-1', '604801', '1.5', 'soon'])('with an overlap of %s is refused', async (seconds) => {
    const { password } = await json('create', 'acme_shop');
    expect(await run(['rotate-password', 'acme_shop', `--sign-with-old=${seconds}`])).toMatchObject({ out: '' });
    expect(await verify('acme_shop', password)).toMatchObject({ kind: 'ok' });
  });

  it('of the payout secret does not change the password', async () => {
    const created = await json('create', 'acme_shop');
    const { password, payoutSecret } = await json('rotate-payout-secret', 'acme_shop');
    expect(password).toBeUndefined();
    const verdict = await verify('acme_shop', created['password']);
    if (verdict.kind !== 'ok') throw new Error(verdict.kind);
    expect((await accounts.signingSecrets(verdict.account)).payoutSecret.expose()).toBe(payoutSecret);
    expect(payoutSecret).not.toBe(created['payoutSecret']);
  });

  it('of encryption keys: reencrypt makes the old key dispensable', async () => {
    const { password, payoutSecret, webhookSecret } = await json('create', 'acme_shop');
    await run(['create', 'closed_shop']);
    await run(['close', 'closed_shop']);
    const both = { ACCOUNT_KEYS: `${newKey},${oldKey}` };
    const next = await accounts.administration.rotatePassword('acme_shop', { signWithOldSeconds: 60 });
    expect(await run(['reencrypt'], both)).toMatchObject({ code: 0, out: 'accounts encrypted again: 2' });
    expect(await run(['reencrypt'], both)).toMatchObject({ code: 0, out: 'accounts encrypted again: 0' });
    const later = await openAccounts({ uri, databasePrefix, ...signingKeys, ACCOUNT_KEYS: newKey, now: () => now });
    const account = await later.administration.get('acme_shop');
    const secrets = await later.signingSecrets(account);
    expect(secrets.cardSecret.expose()).toBe(password);
    expect(secrets.payoutSecret.expose()).toBe(payoutSecret);
    expect((await later.webhookSecrets('acme_shop')).map((one) => one.expose())).toEqual([webhookSecret]);
    now += 60_000;
    expect((await later.signingSecrets(account)).cardSecret.expose()).toBe(next.password.expose());
    await later.close();
  });

  it('of encryption keys: reencrypts the former signing password and drops an expired one', async () => {
    const { password } = await json('create', 'acme_shop');
    await json('create', 'over_shop');
    const both = { ACCOUNT_KEYS: `${newKey},${oldKey}` };
    const later = await openAccounts({ uri, databasePrefix, ...signingKeys, ...both, now: () => now });
    for (const [name, seconds] of [
      ['acme_shop', 3_600],
      ['over_shop', 1],
    ] as const) {
      // As after a leak: new data already uses the new key.
      await later.administration.rotatePassword(name, { signWithOldSeconds: seconds });
      await later.administration.rotatePayoutSecret(name);
    }
    now += 1_000;
    expect(await later.administration.reencrypt()).toBe(2);
    await later.close();
    const alone = await openAccounts({ uri, databasePrefix, ...signingKeys, ACCOUNT_KEYS: newKey, now: () => now });
    const account = await alone.administration.get('acme_shop');
    expect((await alone.signingSecrets(account)).cardSecret.expose()).toBe(password);
    expect((await alone.administration.get('over_shop')).credentials.expose().formerSigning).toBeUndefined();
    await alone.close();
  });

  it('of encryption keys: one account that fails does not block the others', async () => {
    await json('create', 'acme_shop');
    await json('create', 'lost_shop');
    const stored = connection.collection<{ _id: string }>('accounts');
    await stored.updateOne({ _id: 'lost_shop' }, { $set: { 'payoutSecret.keyId': 'gone' } });
    const both = { ACCOUNT_KEYS: `${newKey},${oldKey}` };
    const { code, err } = await run(['reencrypt'], both);
    expect(code).toBe(1);
    expect(err).toMatch(/^1 encrypted again, but not lost_shop \(.*gone.*\)\.$/);
  });

  it("refuses one account's encrypted secrets in another, or in another role", async () => {
    await json('create', 'acme_shop');
    await json('create', 'other_shop');
    const stored = connection.collection<{ _id: string; signingPassword: unknown }>('accounts');
    const other = await stored.findOne({ _id: 'other_shop' });
    await stored.updateOne({ _id: 'acme_shop' }, { $set: { signingPassword: other?.signingPassword } });
    await stored.updateOne({ _id: 'other_shop' }, { $set: { payoutSecret: other?.signingPassword } });
    for (const name of ['acme_shop', 'other_shop']) {
      const account = await accounts.administration.get(name);
      await expect(accounts.signingSecrets(account)).rejects.toThrow('does not belong here');
    }
  });
});

describe('what api-edge has', () => {
  const stored = () => connection.collection<{ _id: string }>('accounts');

  /** As an earlier release wrote an account. */
  async function unseal(merchantAccount: string, password: string): Promise<void> {
    const { ACCOUNT_KEYS } = await readKeys({ ACCOUNT_KEYS: oldKey }, ['ACCOUNT_KEYS']);
    const copy = (purpose: SigningPurpose, secret: string) =>
      encryptCopy(createKeyRing(ACCOUNT_KEYS), merchantAccount, purpose, new Secret(secret));
    const copies = {
      signingPassword: copy('signing-password', password),
      payoutSecret: copy('payout-secret', 'payout_secret'),
    };
    await stored().updateOne({ _id: merchantAccount }, { $set: copies, $unset: { passwordVerifier: '' } } as object);
  }

  it('checks passwords, and opens no secret', async () => {
    const { password } = await json('create', 'acme_shop');
    const edge = await openLogins({ uri, databasePrefix, ACCOUNT_KEYS: oldKey });
    const attempt = { merchantAccount: 'acme_shop', source: '192.0.2.1' };
    expect(await edge.credentials.verify({ ...attempt, password })).toMatchObject({ kind: 'ok' });
    expect(await edge.credentials.verify({ ...attempt, password: 'x'.repeat(32) })).toEqual({ kind: 'refused' });
    expect(edge).not.toHaveProperty('signingSecrets');
    await edge.close();
    const { signingPassword, payoutSecret } = (await accounts.administration.get('acme_shop')).credentials.expose();
    const [webhookSecret] = (await loadWebhookSecrets(connection.collection(WEBHOOK_SECRETS), 'acme_shop')) ?? [];
    const secrets: [SigningPurpose, StoredSecret | undefined][] = [
      ['signing-password', signingPassword],
      ['payout-secret', payoutSecret],
      ['webhook-secret', webhookSecret],
    ];
    const keys = await readKeys({ ACCOUNT_KEYS: oldKey, SIGNING_KEYS: oldKey.replace('2025', 's1') }, [
      'ACCOUNT_KEYS',
      'SIGNING_KEYS',
    ]);
    for (const [purpose, secret] of secrets) {
      if (secret === undefined) throw new Error(purpose);
      const { keyId, data, writerKeyId } = secret;
      const asCopies = [
        { keyId: '2025', data },
        { keyId, data },
      ];
      for (const copy of asCopies) {
        await expect(createOpenSecret(keys.ACCOUNT_KEYS)('acme_shop', purpose, copy)).rejects.toThrow();
      }
      const guess = createOpenSecret(keys.ACCOUNT_KEYS, keys.SIGNING_KEYS);
      await expect(guess('acme_shop', purpose, secret)).rejects.toThrow('does not belong here');
      expect(writerKeyId).toBe('2025');
    }
  });

  it('still checks what an earlier release wrote, whose newer password decides', async () => {
    const { password } = await json('create', 'acme_shop');
    const { passwordVerifier } = (await accounts.administration.get('acme_shop')).credentials.expose();
    await unseal('acme_shop', String(password));
    expect(await verify('acme_shop', password)).toMatchObject({ kind: 'ok' });
    await unseal('acme_shop', 'changed_by_the_earlier_release');
    await stored().updateOne({ _id: 'acme_shop' }, { $set: { passwordVerifier } });
    now += 30_000;
    expect(await verify('acme_shop', 'changed_by_the_earlier_release')).toMatchObject({ kind: 'ok' });
    expect(await verify('acme_shop', password)).toEqual({ kind: 'refused' });
  });

  it('loses the copies of an earlier release with reencrypt, which needs no private key for them', async () => {
    const { password } = await json('create', 'acme_shop');
    await unseal('acme_shop', String(password));
    const env = { ...environment, SIGNING_KEYS: undefined } as unknown as Record<string, string>;
    expect(await run(['reencrypt'], env)).toMatchObject({ code: 0, out: 'accounts encrypted again: 1' });
    const account = await accounts.administration.get('acme_shop');
    const { passwordVerifier, signingPassword, payoutSecret } = account.credentials.expose();
    expect([passwordVerifier?.keyId, isSealed(signingPassword), isSealed(payoutSecret)]).toEqual(['2025', true, true]);
    expect(await verify('acme_shop', password)).toMatchObject({ kind: 'ok' });
    const secrets = await accounts.signingSecrets(account);
    expect([secrets.cardSecret.expose(), secrets.payoutSecret.expose()]).toEqual([password, 'payout_secret']);
  });
});

it('an account that today’s rules would reject can still be suspended', async () => {
  await json('create', 'acme_shop');
  const stored = connection.collection<{ _id: string }>('accounts');
  const rule = { kind: 'daily-amount', currency: 'USD', maxE4: 1 };
  await stored.updateOne({ _id: 'acme_shop' }, { $set: { payoutRules: [rule] } as object });
  expect(await run(['suspend', 'acme_shop'])).toMatchObject({ code: 0 });
});

describe('command line', () => {
  it.each([
    [[], 'No command was given; "npm run merchant -- help" lists them.'],
    [['constructor', 'acme_shop'], 'There is no command "constructor"; "npm run merchant -- help" lists them.'],
    [['list', 'acme_shop'], 'list takes no account.'],
    [['show', 'acme_shop', '--frob'], "Unknown option '--frob'."],
    [['set', 'acme_shop'], 'set needs at least one option that says what to change.'],
  ])('answers %j with one sentence and 2', async (args, err) => {
    expect(await run(args)).toEqual({ code: 2, out: '', err });
  });

  it.each([['show'], ['activate'], ['rotate-password'], ['rotate-payout-secret'], ['set', '--custom', 'all']])(
    'answers 1 when %s is asked of an unknown account',
    async (command, ...options) => {
      expect(await run([command, 'no_such_shop', ...options])).toEqual({
        code: 1,
        out: '',
        err: 'There is no account "no_such_shop".',
      });
    },
  );

  it('helps', async () => {
    const { code, out } = await run(['help']);
    expect(code).toBe(0);
    expect(out).toContain('rotate-password ACCOUNT');
  });

  it('names every setting that is missing or wrong', async () => {
    expect(await run(['list'], { MONGODB_URI: '', ACCOUNT_KEYS: '', SIGNING_PUBLIC_KEY: '' })).toEqual({
      code: 1,
      out: '',
      err: 'Configuration: MONGODB_URI is not set; ACCOUNT_KEYS is not set; SIGNING_PUBLIC_KEY is not set.',
    });
    expect(await run(['list'], { IDENTITY_TOKEN: '' })).toMatchObject({
      code: 1,
      err: expect.stringContaining('IDENTITY_TOKEN'),
    });
    expect(await run(['list'], { ACCOUNT_KEYS: 'secret-without-id' })).toEqual({
      code: 1,
      out: '',
      err: 'Configuration: ACCOUNT_KEYS entry 1 is not of the form id:base64.',
    });
  });
});

describe('the audit log', () => {
  it('has an intent and an outcome for every change, with what has changed', async () => {
    await json('create', 'audited_shop', '--rate-limit', '5');
    await json('set', 'audited_shop', '--rate-limit', '7', '--payout-blocked-ibans', 'LV80BANK0000435195001');
    await json('suspend', 'audited_shop');
    await run(['activate', 'audited_shop', '--frob']);
    await json('reopen', 'audited_shop');
    await json('rotate-password', 'audited_shop', '--sign-with-old', '60');
    await json('rotate-payout-secret', 'audited_shop');
    await json('set', 'audited_shop', '--webhook-secret', 'new');
    await json('set', 'audited_shop', '--webhook-secret', 'retire');
    await json('close', 'audited_shop');
    await run(['set', 'audited_shop', '--rate-limit', '8']);
    const entries = await auditOf('audited_shop');
    expect(new Set(entries.map(({ operator }) => operator))).toEqual(new Set(['operator']));
    expect(entries.map(({ action, phase }) => `${action.replace('account.', '')} ${phase}`)).toEqual([
      ...['create intent', 'create done', 'change intent', 'change done', 'suspend intent', 'suspend done'],
      ...['reopen intent', 'reopen done', 'rotate-password intent', 'rotate-password done'],
      ...['rotate-payout-secret intent', 'rotate-payout-secret done', 'add-webhook-secret intent'],
      ...['add-webhook-secret done', 'retire-webhook-secret intent', 'retire-webhook-secret done'],
      ...['close intent', 'close done'],
      ...['change intent', 'change failed'],
    ]);
    expect(entries[1]?.after).toMatchObject({ state: 'test', password: 'changed', payoutSecret: 'changed' });
    expect(entries[2]?.before).toMatchObject({ state: 'test', rateLimitPerSecond: 5, payoutRules: [] });
    expect(entries[3]?.after).toEqual({
      rateLimitPerSecond: 7,
      payoutRules: [{ kind: 'blocked-ibans', ibans: ['LV80…5001'] }],
      revision: 1,
    });
    expect(entries[5]?.after).toMatchObject({ state: 'suspended', revision: 2 });
    expect(entries[5]?.after).not.toHaveProperty('payoutRules');
    expect(entries[9]?.after).toMatchObject({ password: 'changed', signWithOldSeconds: 60 });
    for (const index of [13, 15]) expect(entries[index]?.after).toEqual({ webhookSecret: 'changed' });
  });

  it('has what an operator has looked at', async () => {
    await json('create', 'seen_shop');
    await json('show', 'seen_shop');
    await run(['list']);
    expect((await auditOf('seen_shop')).slice(2)).toMatchObject([
      { action: 'account.show', phase: 'intent', operator: 'operator' },
      { action: 'account.show', phase: 'done' },
    ]);
    const [, listed] = await auditOf('all accounts');
    expect(listed).toMatchObject({ action: 'accounts.list', phase: 'done', after: { accounts: expect.any(Number) } });
  });

  it('may hold every public field of an account', async () => {
    await run(['create', 'acme_shop', '--hold-callbacks', '24']);
    const { merchantAccount: _name, ...fields } = publicFields(await accounts.administration.get('acme_shop'));
    expect(AUDITED['account.change']).toEqual(expect.arrayContaining(Object.keys(fields)));
  });

  it('holds no secret and no card number, wherever they were given', async () => {
    typed = 'typed_password_of_an_operator';
    const pan = '4111111111111111';
    const secrets = [typed, pan, environment.IDENTITY_TOKEN, oldKey.split(':')[1] ?? ''];
    for (const name of ['acme_shop', pan]) {
      await run(['create', name, '--ask-password', '--return-host', pan, '--allow-ip', '192.0.2.1']);
      const { out } = await run(['rotate-password', name, '--json']);
      const { password } = JSON.parse(out) as { password: string };
      secrets.push(password);
    }
    const { payoutSecret } = await json('rotate-payout-secret', 'acme_shop');
    const { webhookSecret } = await json('set', 'acme_shop', '--webhook-secret', 'new');
    await run(['reencrypt'], { ACCOUNT_KEYS: `${newKey},${oldKey}` });
    for (const { credentials } of await accounts.administration.list()) {
      const { passwordHash, signingPassword } = credentials.expose();
      secrets.push(passwordHash, signingPassword.data.toString('base64'));
    }
    const stored = await connection.mongoose.useDb(`${databasePrefix}audit`).collection('entries').find().toArray();
    const text = JSON.stringify(stored);
    expect(text).toContain('411111******1111');
    for (const secret of [...secrets, String(payoutSecret), String(webhookSecret).slice('whsec_'.length)]) {
      expect(secret.length).toBeGreaterThan(9);
      for (const encoded of encodings(secret)) expect(text).not.toContain(encoded);
    }
  });
});

describe('demo accounts', () => {
  it('are as specified', async () => {
    expect(await seedDemoAccounts(accounts.administration)).toEqual(['demo_merchant', 'demo_custom']);
    const common = { state: 'test', returnHosts: ['127.0.0.1', 'localhost'], terminals: [{ currency: 'XTS' }] };
    expect(await verify('demo_merchant', 'demo_password')).toMatchObject({
      kind: 'ok',
      account: { ...common, customParameters: [], payoutFee: { fixedE4: 0, percentE4: 0 } },
    });
    const verdict = await verify('demo_custom', 'demo_password');
    expect(verdict).toMatchObject({
      kind: 'ok',
      account: { ...common, customParameters: CUSTOM_PARAMETERS, payoutFee: { fixedE4: 5_000, percentE4: 10_000 } },
    });
    if (verdict.kind === 'ok') {
      expect((await accounts.signingSecrets(verdict.account)).payoutSecret.expose()).toBe('demo_payout_secret');
    }
    const secret = DEMO_WEBHOOK_SECRET.expose();
    expect(Buffer.from(secret.slice('whsec_'.length), 'base64').toString()).toBe('demo webhook secret of 32 bytes!');
    for (const { merchantAccount } of DEMO_ACCOUNTS) expect(await webhookSecrets(merchantAccount)).toEqual([secret]);
  });

  it('are created once despite races, and keep an operator’s changes', async () => {
    const made = await Promise.all([1, 2, 3].map(() => seedDemoAccounts(accounts.administration)));
    expect(made.flat().sort()).toEqual(DEMO_ACCOUNTS.map((one) => one.merchantAccount).sort());
    typed = 'operator_password_of_an_operator';
    await json('rotate-password', 'demo_merchant', '--ask-password');
    const changed = await json('set', 'demo_merchant', '--return-host', 'none', '--custom', 'custom_mid_id');
    expect(await seedDemoAccounts(accounts.administration)).toEqual([]);
    expect(await json('show', 'demo_merchant')).toEqual(changed);
    expect(await verify('demo_merchant', 'demo_password')).toEqual({ kind: 'refused' });
  });

  it('get their webhook secret if they are from before there were any, and keep an operator’s', async () => {
    await seedDemoAccounts(accounts.administration);
    await connection.collection<{ _id: string }>(WEBHOOK_SECRETS).deleteOne({ _id: 'demo_merchant' });
    const { webhookSecret } = await json('set', 'demo_custom', '--webhook-secret', 'new');
    await json('set', 'demo_custom', '--webhook-secret', 'retire');
    await Promise.all([1, 2, 3].map(() => seedDemoAccounts(accounts.administration)));
    expect(await webhookSecrets('demo_merchant')).toEqual([DEMO_WEBHOOK_SECRET.expose()]);
    expect(await webhookSecrets('demo_custom')).toEqual([webhookSecret]);
  });

  it('see every custom parameter, also the one from before hashes needed a permission, unless an operator took it', async () => {
    await seedDemoAccounts(accounts.administration);
    const stored = connection.collection<{ _id: string }>('accounts');
    await stored.updateOne({ _id: 'demo_custom' }, { $unset: { cardHashBesideDigits: '' } });
    await seedDemoAccounts(accounts.administration);
    expect(await json('show', 'demo_custom')).toMatchObject({ cardHashBesideDigits: true });
    await json('set', 'demo_custom', '--card-hash-beside-digits', 'off');
    await seedDemoAccounts(accounts.administration);
    expect(await json('show', 'demo_custom')).toMatchObject({ cardHashBesideDigits: false });
  });

  it('pay out in the test currency, also those from before payouts needed a daily amount', async () => {
    await seedDemoAccounts(accounts.administration);
    const stored = connection.collection<{ _id: string }>('accounts');
    await stored.updateOne({ _id: 'demo_merchant' }, { $set: { payoutRules: [] } });
    await seedDemoAccounts(accounts.administration);
    for (const { merchantAccount } of DEMO_ACCOUNTS) {
      expect((await run(['show', merchantAccount])).out).toMatch(/^payouts +on in XTS$/m);
    }
    await json('set', 'demo_merchant', '--payouts', 'off');
    await seedDemoAccounts(accounts.administration);
    expect((await run(['show', 'demo_merchant'])).out).toMatch(/^payouts +off$/m);
  });
});

describe('the database', () => {
  it('holds no password and no other secret: raw, hex or base64', async () => {
    const { password, payoutSecret, webhookSecret } = await json('create', 'acme_shop');
    const raws = ['accounts', WEBHOOK_SECRETS].map((name) => connection.collection(name).find({}, { raw: true }));
    for (const raw of raws) {
      const bytes = Buffer.concat((await raw.toArray()) as unknown as Buffer[]);
      expect(bytes.includes('acme_shop')).toBe(true);
      for (const secret of [password, payoutSecret, webhookSecret] as string[]) {
        for (const encoded of encodings(secret)) expect(bytes.includes(encoded)).toBe(false);
      }
      // The bytes that the secret stands for.
      expect(bytes.includes(Buffer.from(String(webhookSecret).slice('whsec_'.length), 'base64'))).toBe(false);
    }
  });

  it('that is down is a transient fault, not a rejection', async () => {
    await accounts.close();
    const error: unknown = await verify('demo_merchant', 'demo_password').catch((failure: unknown) => failure);
    expect(isRetryable(error)).toBe(true);
    expect(accounts.healthy()).toBe(false);
  });

  it('is only queried with strings', async () => {
    await seedDemoAccounts(accounts.administration);
    expect(await verify({ $gt: '' }, 'demo_password')).toEqual({ kind: 'refused' });
    expect(await verify('demo_merchant', { $gt: '' })).toEqual({ kind: 'refused' });
  });
});

/** The base64 of a text depends on its offset in a group of three bytes, so search for all three. */
function encodings(secret: string): string[] {
  const base64 = [0, 1, 2].map((shift) => {
    const text = Buffer.from('\0'.repeat(shift) + secret).toString('base64');
    return text.slice(Math.ceil((shift * 4) / 3), -4);
  });
  return [secret, Buffer.from(secret).toString('hex'), ...base64];
}
