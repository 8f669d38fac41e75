import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { until } from '@gateway/testing';
import { OUR_IBAN, pain002, testSettings } from '../services/payout/src/adapters/banks/iso20022/iso20022.fixture';
import { runCli } from '../services/payout/src/cli';
import type { Merchant } from './support/merchant';
import { startMerchant } from './support/merchant';
import type { PayoutClient } from './support/payouts';
import { openPayingAccount, payoutClient } from './support/payouts';
import type { Body, CheckRecord, System } from './support/system';
import { recordsOf, startSystem } from './support/system';

const SHOP = { merchant_account: 'file_merchant', merchant_password: 'file_password' };

let files: Record<string, string>;
let system: System;
let merchant: Merchant;
let shop: PayoutClient;

const inOutbox = (): string[] => {
  const directory = files['ISO20022_OUTBOX_DIR'] ?? '';
  return existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith('.xml')) : [];
};

/** Writes a report like a bank's agent: under another name first, then renamed when complete. */
function report(name: string, content: string): void {
  const path = join(files['ISO20022_INBOX_DIR'] ?? '', name);
  writeFileSync(path, content);
}

async function run(...args: string[]): Promise<{ code: number; text: string }> {
  const lines: string[] = [];
  const code = await runCli(args, { PAYOUT_QUERY_URL: system.env['PAYOUT_QUERY_URL'] }, (line) => lines.push(line));
  return { code, text: lines.join('\n') };
}

async function command(...args: string[]): Promise<string> {
  const { code, text } = await run(...args);
  expect([text, code]).toEqual([text, 0]);
  return text;
}

async function listed(reference: unknown): Promise<CheckRecord | undefined> {
  return recordsOf(await shop.query()).find((record) => record.reference === reference);
}

beforeAll(async () => {
  files = testSettings();
  merchant = await startMerchant();
  system = await startSystem('files', { withPayouts: true, settings: { PAYOUT_BANK: 'iso20022', ...files } });
  await system.startDispatcher(merchant.ca);
  const { administration } = system.accounts;
  await openPayingAccount(administration, {
    name: SHOP.merchant_account,
    password: SHOP.merchant_password,
    debtor: OUR_IBAN,
    dailyEuros: '10000',
  });
  shop = payoutClient(system, SHOP);
});
afterAll(async () => {
  await system.stop();
  await merchant.close();
  rmSync(dirname(files['ISO20022_DEBTORS'] ?? ''), { recursive: true });
});

const euros = (more: Body = {}) =>
  shop.pay({ amount: '31.01', currency: 'EUR', callback_url: `${merchant.url}/callback`, ...more });

test('a file goes to the bank, and its reports come back to merchants', async () => {
  const [paid, refused] = [await euros(), await euros({ receiver_iban: 'NL91ABNA0417164300' })];
  const isWith = async (text: string) => (await command('batches')).includes(text);
  await until('both in the open batch', () => isWith('62.02'));
  expect(recordsOf(await shop.check({ reference: paid['reference'] }))).toMatchObject([
    { status: 'PENDING', code: 11 },
  ]);
  expect(inOutbox()).toEqual([]);

  expect(await command('cut')).toContain('emitted');
  const [file = ''] = inOutbox();
  const sent = readFileSync(join(files['ISO20022_OUTBOX_DIR'] ?? '', file), 'utf8');
  for (const { reference } of [paid, refused]) expect(sent).toContain(`<EndToEndId>${String(reference)}</EndToEndId>`);
  expect(sent).toContain('<CtrlSum>62.02</CtrlSum>');
  expect(sent).toContain('<Nm>Jorg Muller</Nm>');

  const message = file.replace('.xml', '');
  const transactions = [
    { reference: String(paid['reference']), status: 'ACSC' },
    { reference: String(refused['reference']), status: 'RJCT', reason: 'AC04' },
  ];
  report('1.xml', pain002({ message, transactions }));
  expect(await shop.ended({ reference: paid['reference'] })).toMatchObject({ status: 'SUCCESS', code: 0 });
  expect(await shop.ended({ reference: refused['reference'] })).toMatchObject({ status: 'DECLINED', code: 3170 });
  const callback = await merchant.callbackOf(refused['reference']);
  expect(Object.fromEntries(callback)).toMatchObject({ status: 'DECLINED', code: '3170' });
  await merchant.callbackOf(paid['reference']);

  const back = [{ reference: String(paid['reference']), status: 'RJCT', reason: 'AC01' }];
  report('2.xml', pain002({ message, id: 'REPORT-2', transactions: back }));
  const returned = await until('the return', async () => {
    const record = await listed(paid['reference']);
    return record?.['change_reason_type'] === undefined ? undefined : record;
  });
  expect(returned).toMatchObject({ status: 'SUCCESS', code: 0, change_reason_type: 'RETURNED AC01', amount: 31.01 });
  expect(merchant.callbacks.filter((one) => one.get('reference') === paid['reference'])).toHaveLength(1);
});

test("a bank's unknown codes are shown to operators, and change nothing", async () => {
  const { reference } = await euros();
  await until('it waits for the file', async () => (await run('show', String(reference))).text.includes('submitted'));
  const before = inOutbox();
  await command('cut');
  const message =
    inOutbox()
      .find((name) => !before.includes(name))
      ?.replace('.xml', '') ?? '';
  const transactions = [{ reference: String(reference), status: 'XYZW', reason: 'Q7' }];
  report('3.xml', pain002({ message, id: 'REPORT-3', transactions }));
  const shown = await until('the words', async () => {
    const text = await command('show', String(reference));
    return text.includes('Q7') ? text : undefined;
  });
  expect(shown).toContain('XYZW');
  expect(shown).toContain('submitted');
  expect(shown).toContain(`"batch": "${message}"`);
  expect(recordsOf(await shop.check({ reference }))).toMatchObject([{ status: 'PENDING', code: 11 }]);
});

describe('an open batch', () => {
  const ofShop = ['--account', SHOP.merchant_account];
  const sentSince = (before: string[]) =>
    inOutbox()
      .filter((name) => !before.includes(name))
      .map((name) => readFileSync(join(files['ISO20022_OUTBOX_DIR'] ?? '', name), 'utf8'))
      .join();
  async function waiting(count: number): Promise<string[]> {
    const sent = await Promise.all(Array.from({ length: count }, () => euros()));
    const references = sent.map(({ reference }) => String(reference));
    for (const reference of references) {
      await until('it waits for the file', async () => (await run('show', reference)).text.includes('"submitted"'));
    }
    return references;
  }

  test('does not leave while its account is held; a cancelled payout ends, and the other one goes', async () => {
    const before = inOutbox();
    const [cancelled = '', kept = ''] = await waiting(2);
    expect(await command('hold', ...ofShop)).toContain('2 wait');
    const late = await euros();
    await until('it waits in the store', async () =>
      (await run('show', String(late['reference']))).text.includes('"held"'),
    );
    await system.startPayouts({ PAYOUT_QUERY_PORT: '0' });
    expect(await command('cut')).toBe('0 batches');
    expect(await command('cancel', cancelled)).toContain('1 cancelled');
    expect(await shop.ended({ reference: cancelled })).toMatchObject({ status: 'ERROR', code: 3300 });
    expect(Object.fromEntries(await merchant.callbackOf(cancelled))).toMatchObject({ status: 'ERROR', code: '3300' });
    expect(recordsOf(await shop.check({ reference: kept }))).toMatchObject([{ status: 'PENDING', code: 11 }]);
    await command('release', ...ofShop);
    await until('the late one waits for the file', async () =>
      (await run('show', String(late['reference']))).text.includes('"submitted"'),
    );
    expect(await command('cut')).toContain('emitted');
    const sent = sentSince(before);
    for (const reference of [kept, String(late['reference'])]) expect(sent).toContain(reference);
    expect(sent).not.toContain(cancelled);
  });

  test('does not leave while its account is suspended', async () => {
    const before = inOutbox();
    const [reference = ''] = await waiting(1);
    const { administration } = system.accounts;
    await administration.changeState(SHOP.merchant_account, 'suspend');
    expect(await command('cut')).toBe('0 batches');
    await administration.changeState(SHOP.merchant_account, 'reopen');
    expect(await command('cut')).toContain('emitted');
    expect(sentSince(before)).toContain(reference);
  });
});

test('a payout that SEPA cannot carry ends with an error, and XTS still goes to the sandbox', async () => {
  const { reference } = await euros({ receiver_name: '漢字' });
  expect(await shop.ended({ reference })).toMatchObject({ status: 'ERROR', code: 3310 });
  const test = await shop.pay({ amount: '31.01' });
  expect(await shop.ended({ reference: test['reference'] })).toMatchObject({ status: 'DECLINED', code: 3101 });
});
