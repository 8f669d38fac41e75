import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { services } from '@gateway/contracts';
import { until } from '@gateway/testing';
import { OUR_IBAN, pain002, testSettings } from '../../services/payout/src/adapters/banks/iso20022/iso20022.fixture';
import { runCli } from '../../services/payout/src/cli';
import { openPayingAccount, payout, PAYOUT_PATH, STATUS_PATH } from '../support/payouts';
import type { Body } from '../support/system';
import { checkOf, recordsOf } from '../support/system';
import { copyDatabases, restoreDatabases } from './database-copy';
import type { Gateway } from './gateway';
import { DATABASES, openGateway } from './gateway';

const TIMEOUT_MS = 120_000;
const SHOP = { merchant_account: 'file_merchant', merchant_password: 'file_password' };
const PAYOUTS = [services.payout.database];
const files = testSettings();
const outbox = files['ISO20022_OUTBOX_DIR'] ?? '';
let gateway: Gateway;

beforeAll(async () => {
  gateway = await openGateway('restore-files', { PAYOUT_BANK: 'iso20022', ...files });
  const { administration } = gateway.system.accounts;
  await openPayingAccount(administration, {
    name: SHOP.merchant_account,
    password: SHOP.merchant_password,
    debtor: OUR_IBAN,
    dailyEuros: '10000',
  });
  await gateway.start();
}, TIMEOUT_MS);

afterAll(async () => {
  await gateway.close();
  rmSync(dirname(files['ISO20022_DEBTORS'] ?? ''), { recursive: true });
}, TIMEOUT_MS);

async function command(...args: string[]): Promise<string> {
  const lines: string[] = [];
  const { PAYOUT_QUERY_URL } = gateway.system.env;
  expect([await runCli(args, { PAYOUT_QUERY_URL }, (line) => lines.push(line)), lines]).toEqual([0, lines]);
  return lines.join('\n');
}

async function pay(): Promise<string> {
  const { data } = await gateway.http().post<Body>(PAYOUT_PATH, payout({ ...SHOP, amount: '31.01', currency: 'EUR' }));
  expect(data).toMatchObject({ status: 'pending', code: 0 });
  return String(data['reference']);
}

const stateOf = async (reference: string): Promise<string | undefined> => {
  const found = await gateway.storage.collection('payouts', 'payouts').findOne({ _id: reference } as object);
  return (found?.['state'] as { kind: string } | undefined)?.kind;
};

/** Pays, and waits until the open batch has them. */
async function payInto(count: number): Promise<string[]> {
  const references: string[] = [];
  for (let left = count; left > 0; left -= 1) references.push(await pay());
  for (const reference of references)
    await until('it is in a batch', async () => (await stateOf(reference)) === 'submitted');
  return references;
}

/** EndToEndIds by file. */
function filesInOutbox(): Map<string, string[]> {
  const names = readdirSync(outbox).filter((name) => name.endsWith('.xml'));
  return new Map(
    names.map((name) => {
      const ids = readFileSync(join(outbox, name), 'utf8').matchAll(/<EndToEndId>([^<]+)</g);
      return [name, [...ids].map(([, id = '']) => id)];
    }),
  );
}

it.each([
  ["payout's database", PAYOUTS],
  ['all databases', DATABASES],
])(
  'puts no payment of a file into a second one after %s came from a backup',
  async (_name, restored) => {
    const already = [...filesInOutbox().values()].flat();
    const before = await payInto(2);
    await command('cut');
    const copy = await copyDatabases(gateway.mongo.client, DATABASES.map(gateway.named));
    const lost = await payInto(2);
    await command('cut');
    const waiting = await payInto(1);
    const paid = [...before, ...lost, ...waiting];

    await gateway.stop(restored);
    await restoreDatabases(gateway.mongo.client, copy, restored.map(gateway.named));
    await gateway.start(restored);
    for (const reference of lost)
      await until('it is found in its file', async () => (await stateOf(reference)) === 'submitted');
    await gateway.endRecovery();
    await until(
      'the one in no file waits in a batch',
      async () => (await stateOf(waiting[0] ?? '')) === 'submitted',
      60_000,
    );
    await command('cut');
    const written = [...filesInOutbox().values()].flat();
    expect(written.sort()).toEqual([...already, ...paid].sort());

    for (const [name, references] of filesInOutbox()) {
      const transactions = references.map((reference) => ({ reference, status: 'ACSC' }));
      writeFileSync(
        join(files['ISO20022_INBOX_DIR'] ?? '', name),
        pain002({ message: name.replace('.xml', ''), transactions }),
      );
    }
    for (const reference of paid) {
      await until('the payout has settled', async () => {
        const { data } = await gateway
          .http()
          .post<Body>(STATUS_PATH, { api_version: 1, ...checkOf({ reference }), ...SHOP });
        return recordsOf(data)?.[0]?.status === 'SUCCESS';
      });
    }
  },
  TIMEOUT_MS,
);
