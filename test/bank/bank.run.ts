import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Repeating } from '@gateway/service-kit';
import { repeat } from '@gateway/service-kit';
import { silentLogger, until } from '@gateway/testing';
import { runCli } from '../../services/payout/src/cli';
import type { GatewayProcesses } from '../support/gateway-processes';
import { startGateway } from '../support/gateway-processes';
import { openPayingAccount, payout, PAYOUT_PATH, QUERY_PATH, STATUS_PATH } from '../support/payouts';
import type { Body, CheckRecord } from '../support/system';
import { CREDENTIALS, recordsOf } from '../support/system';
import type { BookedPayment, MockBank } from './mock-bank';
import { startMockBank } from './mock-bank';

/**
 * 2,000 payouts over four business days at a bank that others wrote (mock-bank), by files that an agent carries. What
 * merchants are told must be what the bank's own book says.
 */

const PASSWORD = 'bank_password';
const DAYS = 4;
/** Payments of one day from each account, by the bank's behaviour for it. */
const PER_DAY: Readonly<Record<string, number>> = {
  accept: 250,
  'return-later': 100,
  silent: 75,
  'statement-gap': 50,
  'insufficient-funds': 15,
  'reject-file': 10,
};
const BEHAVIOURS = Object.keys(PER_DAY);
/** Accounts at the bank itself: one is closed, one names a bank that there is not. All others are elsewhere. */
const [CLOSED, BAD_BANK, ELSEWHERE] = ['NL84MOCK0000000003', 'NL57MOCK0000000004', 'NL91ABNA0417164300'];
const AT_ONCE = 25;
const TEST_TIMEOUT_MS = 600_000;

let directory: string;
let bank: MockBank;
let gateway: GatewayProcesses;
let agent: Repeating | undefined;
const sent: { reference: string; behaviour: string }[] = [];

/** A number of the bank's with the right check digits. */
function ibanOf(number: number): string {
  const account = `MOCK${String(number).padStart(10, '0')}`;
  const digits = [...`${account}NL00`].map((character) => String(parseInt(character, 36))).join('');
  return `NL${String(98n - (BigInt(digits) % 97n)).padStart(2, '0')}${account}`;
}

const debtorOf = (behaviour: string) => ibanOf(11 + BEHAVIOURS.indexOf(behaviour));
const accountOf = (behaviour: string) => `shop_${behaviour.replaceAll('-', '_')}`;
const credentialsOf = (behaviour: string) => ({
  ...CREDENTIALS,
  merchant_account: accountOf(behaviour),
  merchant_password: PASSWORD,
});

/** Moves complete files between the folders of both sides, as an agent does. */
async function carry(): Promise<void> {
  const complete = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.xml'));
  const [outbox, inbox] = [join(directory, 'outbox'), join(directory, 'inbox')];
  for (const name of complete(outbox)) renameSync(join(outbox, name), join(bank.drop, name));
  for (const name of complete(bank.pickup)) renameSync(join(bank.pickup, name), join(inbox, name));
}

async function openAccounts(): Promise<void> {
  for (const behaviour of BEHAVIOURS) {
    const account = { id: behaviour.toUpperCase(), name: 'Gateway Ltd', iban: debtorOf(behaviour), bic: 'MOCKNL2A' };
    const balance = behaviour === 'insufficient-funds' ? 50_000 : 1_000_000_000;
    const parameters = behaviour === 'return-later' ? { parameters: { days: 1 } } : {};
    await bank.open({ ...account, currency: 'EUR', balance, behaviour, ...parameters });
    await openPayingAccount(gateway.accounts.administration, {
      name: accountOf(behaviour),
      password: PASSWORD,
      debtor: debtorOf(behaviour),
      dailyEuros: '1000000',
    });
  }
}

async function post(path: string, fields: Body): Promise<Body> {
  return (await gateway.http.post<Body>(path, fields)).data;
}

async function pay(behaviour: string, index: number): Promise<void> {
  const receiver_iban = index % 10 === 3 ? CLOSED : index % 20 === 7 ? BAD_BANK : ELSEWHERE;
  const amount = `${1 + (index % 50)}.${String(index % 100).padStart(2, '0')}`;
  const terms = { amount, currency: 'EUR', receiver_iban, ...credentialsOf(behaviour) };
  const answer = await post(PAYOUT_PATH, { ...payout(), ...terms });
  expect(answer).toMatchObject({ status: 'pending', code: 0 });
  sent.push({ reference: String(answer['reference']), behaviour });
}

async function payAll(day: number): Promise<void> {
  const all = BEHAVIOURS.flatMap((behaviour) =>
    Array.from({ length: PER_DAY[behaviour] ?? 0 }, (_, index) => ({ behaviour, index: index + day })),
  );
  for (let from = 0; from < all.length; from += AT_ONCE)
    await Promise.all(all.slice(from, from + AT_ONCE).map(({ behaviour, index }) => pay(behaviour, index)));
}

async function payouts(...args: string[]): Promise<string> {
  const lines: string[] = [];
  await runCli(args, { PAYOUT_QUERY_URL: gateway.env['PAYOUT_QUERY_URL'] }, (line) => lines.push(line));
  return lines.join('\n');
}

/** The file of each account, in the bank's hands. */
async function cutAndHandOver(): Promise<void> {
  const inBook = sent.filter(({ behaviour }) => behaviour !== 'reject-file').length;
  const taken = async () => {
    await payouts('cut');
    return (await bank.decided()) >= inBook;
  };
  await until('the bank has all payouts', taken, TEST_TIMEOUT_MS);
}

async function recordOf(reference: string, behaviour: string): Promise<CheckRecord | undefined> {
  const by = { ...credentialsOf(behaviour), transaction_type: 'CHECK', reference };
  return recordsOf(await post(STATUS_PATH, by))?.[0];
}

/** Why each payout came back, by the query of all accounts. */
async function returns(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const behaviour of BEHAVIOURS) {
    const all = { qod_type: 'transactions', time_from: 0, time_to: 4_102_444_800 };
    for (const record of recordsOf(await post(QUERY_PATH, { ...credentialsOf(behaviour), ...all })) ?? []) {
      const reason = record['change_reason_type'];
      if (typeof reason === 'string') found.set(String(record.reference), reason);
    }
  }
  return found;
}

/**
 * What a merchant should hear by the bank's book. A file that is rejected as a whole is not in it. A bank that is silent
 * tells of no rejection.
 */
function outcomeIn(booked: BookedPayment | undefined, behaviour: string): { status: string; returned?: string } {
  if (booked?.status === 'rejected' && behaviour === 'silent') return { status: 'PENDING' };
  if (booked === undefined || booked.status === 'rejected') return { status: 'DECLINED' };
  if (booked.booked_at === null) return { status: 'PENDING' };
  return booked.returned_at === null
    ? { status: 'SUCCESS' }
    : { status: 'SUCCESS', returned: `RETURNED ${booked.return_reason ?? ''}` };
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'payment-gateway-bank-'));
  const debtors = BEHAVIOURS.map((behaviour) => ({ name: 'Gateway Ltd', iban: debtorOf(behaviour), bic: 'MOCKNL2A' }));
  writeFileSync(join(directory, 'debtors.json'), JSON.stringify(debtors));
  const settings = {
    PAYOUT_BANK: 'iso20022',
    ISO20022_OUTBOX_DIR: join(directory, 'outbox'),
    ISO20022_INBOX_DIR: join(directory, 'inbox'),
    ISO20022_DEBTORS: join(directory, 'debtors.json'),
    ISO20022_INITIATING_PARTY: 'Gateway Ltd',
    ISO20022_CUT_OFF: '1440m',
    ISO20022_POLL_MS: '100',
  };
  gateway = await startGateway('bank', { settings });
  bank = await startMockBank(directory, `${new Date().toISOString().slice(0, 10)}T09:00`);
  await openAccounts();
  agent = repeat({ name: 'the agent', everyMs: 200, work: carry, logger: silentLogger });
  agent.start();
}, TEST_TIMEOUT_MS);

afterAll(async () => {
  await agent?.stop();
  await bank.stop();
  await gateway.stop();
  rmSync(directory, { recursive: true });
}, TEST_TIMEOUT_MS);

test(
  'what merchants are told of 2,000 payouts is what the bank has in its book',
  async () => {
    for (let day = 0; day < DAYS; day += 1) {
      await payAll(day);
      if (day === 1) {
        const payoutProcess = gateway.running('payout');
        expect(await payoutProcess.end('SIGKILL')).toBe('SIGKILL');
        await gateway.start({ service: 'payout' });
      }
      await cutAndHandOver();
      if (day === 2) await bank.killAndRestart();
      await bank.advance(1);
    }
    // The last ones are booked, and come back.
    await bank.advance(5);
    await until(
      'all that the bank has said is read',
      () => {
        const left = [bank.pickup, join(directory, 'inbox')].flatMap((folder) => readdirSync(folder));
        return left.every((name) => !name.endsWith('.xml'));
      },
      TEST_TIMEOUT_MS,
    );

    const book = new Map((await bank.payments()).map((one) => [one.end_to_end_id, one]));
    const cameBack = await returns();
    const differences: unknown[] = [];
    const counts: Record<string, number> = {};
    for (const { reference, behaviour } of sent) {
      const [record, expected] = [await recordOf(reference, behaviour), outcomeIn(book.get(reference), behaviour)];
      const told = { status: record?.status, returned: cameBack.get(reference) };
      const { status, returned } = { returned: undefined, ...expected };
      if (told.status !== status || told.returned !== returned)
        differences.push({ reference, behaviour, told, expected });
      counts[returned ?? status] = (counts[returned ?? status] ?? 0) + 1;
    }
    expect(differences.slice(0, 5)).toEqual([]);
    expect(sent).toHaveLength(2_000);
    expect(Object.keys(counts).sort()).toEqual(['DECLINED', 'PENDING', 'RETURNED AC04', 'SUCCESS']);

    // Nothing is set aside but the statements that leave an entry out.
    const aside = readdirSync(join(directory, 'inbox', 'failed')).filter((name) => name.endsWith('.xml'));
    expect(aside.length).toBeGreaterThan(0);
    expect(aside.filter((name) => !name.includes('camt.053.001.08-STATEMENT-GAP'))).toEqual([]);
    expect(await payouts('exceptions')).toContain('its entries add up to');
  },
  TEST_TIMEOUT_MS,
);
