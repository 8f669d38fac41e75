import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import { createCallers } from '@gateway/testing';
import { newVaultKeys } from '@gateway/vault';
import type { Account } from './account';
import { main } from './command-line';
import { seedDemoAccounts } from './demo-accounts';
import type { OpenAccounts, OpenAccountsOptions } from './open-accounts';
import { openAccounts } from './open-accounts';
import type { SafetyOptions } from './safe-accounts';

const uri = process.env['TEST_MONGODB_URI'] as string;
const databasePrefix = `accounts_money_${randomBytes(5).toString('hex')}_`;
const keys = newVaultKeys();
const { ACCOUNT_KEYS, SIGNING_KEYS, SIGNING_PUBLIC_KEY } = keys;
const callers = createCallers();
const environment = {
  MONGODB_URI: uri,
  DATABASE_PREFIX: databasePrefix,
  ACCOUNT_KEYS,
  SIGNING_KEYS,
  SIGNING_PUBLIC_KEY,
  CALLERS_FILE: callers.file,
  IDENTITY_TOKEN: callers.token('operator'),
};

let connection: MongoConnection;
/** Like `npm start`, and like every other installation. */
let sandbox: OpenAccounts;
let real: OpenAccounts;

const open = (options: Partial<OpenAccountsOptions> = {}) => openAccounts({ uri, databasePrefix, ...keys, ...options });

beforeAll(async () => {
  connection = await connectMongo({ uri, database: `${databasePrefix}accounts` });
  sandbox = await open({ ALLOW_SIMULATED_MONEY: 'yes' });
  real = await open();
});

beforeEach(() => connection.collection('accounts').deleteMany({}));

afterAll(async () => {
  await Promise.all([sandbox.close(), real.close()]);
  await connection.mongoose.dropDatabase();
  await connection.mongoose.useDb(`${databasePrefix}audit`).dropDatabase();
  callers.remove();
  await connection.close();
});

async function run(args: string[], env: Record<string, string> = {}) {
  const result = { out: '', err: '' };
  const code = await main(args, {
    env: { ...environment, ...env },
    ask: () => Promise.reject(new Error('nothing to ask')),
    out: (text) => void (result.out += text),
    err: (text) => void (result.err += text),
  });
  return { code, ...result };
}

/** An account with a terminal in EUR on the simulator, made where that was allowed. */
async function simulatedShop(merchantAccount = 'acme_shop'): Promise<Account> {
  const { account } = await sandbox.administration.create({ merchantAccount, terminals: [{ currency: 'EUR' }] });
  return account;
}

function terminalIn({ terminals }: Account, currency: string): string {
  return terminals.find((one) => one.currency === currency)?.midReference ?? '';
}

describe('without ALLOW_SIMULATED_MONEY', () => {
  const RULE = 'The simulator takes XTS alone: name another connector for the terminal in EUR.';

  it.each([['EUR'], ['EUR:simulator'], ['EUR:simulator:3600:late-void']])(
    'no terminal %s is made',
    async (terminal) => {
      expect(await run(['create', 'acme_shop', '--terminal', terminal])).toEqual({ code: 2, out: '', err: RULE });
      expect(await connection.collection('accounts').countDocuments()).toBe(0);
      expect(await run(['create', 'acme_shop'])).toMatchObject({ code: 0 });
      expect(await run(['set', 'acme_shop', '--terminal', terminal])).toEqual({ code: 2, out: '', err: RULE });
      expect((await real.administration.get('acme_shop')).terminals).toHaveLength(1);
    },
  );

  it('no account with such a terminal becomes active, until the terminal is deactivated', async () => {
    const eur = terminalIn(await simulatedShop(), 'EUR');
    const refused = {
      code: 1,
      out: '',
      err: `The simulator takes XTS alone, but it is the acquirer of ${eur} (EUR): deactivate or remove it.`,
    };
    expect(await run(['activate', 'acme_shop'])).toEqual(refused);
    await sandbox.administration.changeState('acme_shop', 'activate');
    expect(await run(['suspend', 'acme_shop'])).toMatchObject({ code: 0 });
    expect(await run(['reopen', 'acme_shop'])).toEqual(refused);
    expect(await run(['activate', 'acme_shop'])).toEqual(refused);
    expect(await run(['set', 'acme_shop', '--deactivate-terminal', eur])).toMatchObject({ code: 0 });
    expect(await run(['activate', 'acme_shop'])).toMatchObject({ code: 0 });
    expect(await run(['set', 'acme_shop', '--activate-terminal', eur])).toEqual(refused);
    expect(await run(['set', 'acme_shop', '--remove-terminal', eur])).toMatchObject({ code: 0 });
  });

  it('a test account with such a terminal can still be changed otherwise, suspended and reopened', async () => {
    await simulatedShop();
    for (const args of [
      ['set', 'acme_shop', '--rate-limit', '7'],
      ['suspend', 'acme_shop'],
      ['reopen', 'acme_shop'],
    ]) {
      expect(await run(args)).toMatchObject({ code: 0 });
    }
  });
});

it('a terminal names a connector that exists, and XTS stays in the sandbox', async () => {
  const terminals = (acquirer: string, currency = 'EUR') => ({
    merchantAccount: 'acme_shop',
    terminals: [{ currency, acquirer }],
  });
  await expect(real.administration.create(terminals('north-bank'))).rejects.toThrow(
    'There is no connector "north-bank"; there are: simulator.',
  );
  const north = await open({ acquirers: ['simulator', 'north-bank'] });
  await expect(north.administration.create(terminals('south-bank'))).rejects.toThrow('"south-bank"');
  await expect(north.administration.create(terminals('north-bank', 'XTS'))).rejects.toThrow('never leaves the sandbox');
  await north.administration.create(terminals('north-bank'));
  await north.administration.changeState('acme_shop', 'activate');
  await north.close();
});

describe('a service does not start', () => {
  const problemOf = (options: SafetyOptions): Promise<string> =>
    real.requireSafe(options).then(
      () => '',
      (error: unknown) => (error as Error).message,
    );
  const DEVELOPMENT = { NODE_ENV: 'development' } as const;
  const PRODUCTION = { NODE_ENV: 'production' } as const;
  const CARDS = { ALLOW_SIMULATED_MONEY: 'no' } as const;

  it('with a terminal in a real currency on the simulator, in whatever open account', async () => {
    await simulatedShop('shop_in_test');
    await simulatedShop('shop_suspended');
    await sandbox.administration.changeState('shop_suspended', 'suspend');
    await simulatedShop('shop_closed');
    await sandbox.administration.changeState('shop_closed', 'close');
    const off = await simulatedShop('shop_switched');
    await real.administration.change(off.merchantAccount, { deactivateTerminals: [terminalIn(off, 'EUR')] });
    await real.administration.create({ merchantAccount: 'shop_sandbox' });
    expect(await problemOf({ ...DEVELOPMENT, ...CARDS })).toMatch(
      /^The simulator takes XTS alone, but it is the acquirer of terminals of shop_in_test, shop_suspended in other /,
    );
    expect(await problemOf(DEVELOPMENT)).toBe('');
    expect(await problemOf({ ...DEVELOPMENT, ALLOW_SIMULATED_MONEY: 'yes' })).toBe('');
  });

  it('with many of them, and names ten', async () => {
    for (let index = 10; index < 22; index += 1) await simulatedShop(`shop_${index}`);
    expect(await problemOf({ ...DEVELOPMENT, ...CARDS })).toContain(' shop_18, shop_19, others in other currencies');
  });

  it('in production with demo accounts, unless they are closed', async () => {
    await seedDemoAccounts(sandbox.administration);
    await simulatedShop();
    expect(await problemOf({ ...PRODUCTION, ...CARDS })).toMatch(
      /^NODE_ENV is production.* close demo_\w+, demo_\w+ \(.+\)\. The simulator takes XTS alone.+acme_shop/,
    );
    expect(await problemOf(DEVELOPMENT)).toBe('');
    expect(await run(['close', 'demo_merchant'])).toMatchObject({ code: 0 });
    await real.administration.changeState('demo_custom', 'suspend');
    expect(await problemOf(PRODUCTION)).toContain('close demo_custom (');
    await real.administration.changeState('demo_custom', 'close');
    expect(await problemOf(PRODUCTION)).toBe('');
  });
});

describe('the command line', () => {
  it('refuses unsafe settings in production, all at once', async () => {
    const env = {
      NODE_ENV: 'production',
      ALLOW_SIMULATED_MONEY: 'yes',
      ACCOUNT_KEYS: ACCOUNT_KEYS.replace('k1', 'dev-1'),
    };
    const { code, err } = await run(['list'], env);
    expect(code).toBe(1);
    expect(err).toMatch(
      /^NODE_ENV is production, where this is refused\. ACCOUNT_KEYS has .+\. ALLOW_SIMULATED_MONEY is/,
    );
  });

  it('reads secrets from files', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-accounts-'));
    const [keys, address] = [join(folder, 'keys'), join(folder, 'uri')];
    writeFileSync(keys, `${ACCOUNT_KEYS}\n`);
    writeFileSync(address, `${uri}\n`);
    const env = { ACCOUNT_KEYS: '', ACCOUNT_KEYS_FILE: keys, MONGODB_URI: '', MONGODB_URI_FILE: address };
    expect(await run(['create', 'acme_shop'], env)).toMatchObject({ code: 0 });
    const account = await real.administration.get('acme_shop');
    await expect(real.signingSecrets(account)).resolves.toBeDefined();
    rmSync(folder, { recursive: true });
  });
});
