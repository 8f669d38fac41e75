import { randomBytes, randomUUID } from 'node:crypto';
import { SANDBOX_PAYOUTS } from '@gateway/accounts';
import { newPaymentId, newReference, Secret } from '@gateway/contracts';
import type { Publisher } from '@gateway/messaging';
import { topicOf } from '@gateway/messaging';
import { startPublisher, until } from '@gateway/testing';
import type { Merchant } from './support/merchant';
import { startMerchant } from './support/merchant';
import { IBAN, payoutClient } from './support/payouts';
import type { PayoutClient } from './support/payouts';
import type { Storage } from './support/storage';
import { openStorage } from './support/storage';
import type { Body, System } from './support/system';
import { startSystem, uniqueId } from './support/system';
import type { TopicRecord } from './support/topics';
import { readOnce, readTopics } from './support/topics';

let system: System;
let storage: Storage;
let merchant: Merchant;
let demo: PayoutClient;
let publisher: Publisher;

beforeAll(async () => {
  merchant = await startMerchant();
  system = await startSystem('payout-inside', { withPayouts: true });
  await system.startDispatcher(merchant.ca);
  storage = await openStorage(system.space);
  demo = payoutClient(system);
  publisher = await startPublisher(system.space);
});
afterAll(async () => {
  await publisher.stop();
  await storage.close();
  await system.stop();
  await merchant.close();
});

const callbackUrl = () => ({ callback_url: `${merchant.url}/callback` });

/** The bank's record of a payout; only `settled` moves money. */
const effects = async (reference: unknown): Promise<string[]> =>
  (await system.ledger(String(reference))).map(({ effect }) => effect);

test('a repeated command: one payout, one effect', async () => {
  const { reference } = await demo.pay();
  await demo.ended({ reference });
  const topic = topicOf(system.space.topicPrefix, 'payoutCommands');
  const isOfIt = ({ key }: TopicRecord): boolean => key === String(reference).slice(0, 16);
  const [command] = (await readTopics(system.space, [topic])).filter(isOfIt);
  if (command === undefined) throw new Error('no command');
  const stored = () => storage.collection('payouts', 'payouts').findOne({ _id: reference } as object);
  await until('its events to be published', async () => (await stored())?.['outboxSince'] === undefined);
  const before = await stored();
  const again = { topic, key: command.key, value: Buffer.from(command.value), headers: command.headers };
  for (let times = 0; times < 3; times += 1) await publisher.publishRaw(again);
  // A later payout on the same partition shows that the earlier ones have been read.
  const data = { ...(JSON.parse(command.value) as Body) };
  const payoutId = newPaymentId(randomBytes);
  const behind = newReference(payoutId, randomBytes);
  Object.assign(data, { payoutId, reference: behind, transactionUniqueId: uniqueId() });
  const headers = { ...command.headers, ce_id: randomUUID() };
  await publisher.publishRaw({ ...again, value: Buffer.from(JSON.stringify(data)), headers });
  await until('the one behind them', async () => (await effects(behind)).length === 1);
  expect(await effects(reference)).toHaveLength(1);
  expect(await stored()).toEqual(before);
});

const SCREENED = { merchant_account: 'screened_shop', merchant_password: 'screened_password' };

describe('screening', () => {
  beforeAll(async () => {
    await system.accounts.administration.create({
      merchantAccount: SCREENED.merchant_account,
      password: new Secret(SCREENED.merchant_password),
      settings: {
        ...SANDBOX_PAYOUTS,
        payoutRules: [
          { kind: 'blocked-countries', countries: ['NL'] },
          { kind: 'daily-amount', currency: 'XTS', maxE4: 4_000_000 },
        ],
      },
    });
  });

  test('a blocked country is FRAUDED 3220, and no bank is called', async () => {
    const custom = payoutClient(system, SCREENED);
    const { reference } = await custom.pay({ receiver_iban: 'NL91ABNA0417164300', ...callbackUrl() });
    expect(await custom.ended({ reference })).toMatchObject({ status: 'FRAUDED', code: 3220 });
    expect(Object.fromEntries(await merchant.callbackOf(reference))).toMatchObject({ status: 'FRAUDED', code: '3220' });
    expect(await effects(reference)).toEqual([]);
  });

  test('concurrent payouts cannot exceed a limit together', async () => {
    const custom = payoutClient(system, SCREENED);
    const answers = await Promise.all(Array.from({ length: 20 }, () => custom.pay({ amount: '90.00' })));
    const records = await Promise.all(answers.map(({ reference }) => custom.ended({ reference })));
    const passed = records.filter(({ status }) => status === 'SUCCESS');
    const refused = records.filter(({ status }) => status === 'FRAUDED');
    expect([passed.length, refused.length]).toEqual([4, 16]);
    for (const record of refused) expect(record).toMatchObject({ code: 3202 });
    for (const record of passed) expect(await effects(record.reference)).toHaveLength(1);
  });
});

test('events follow a payout without data of its receiver', async () => {
  const { reference } = await demo.pay({ receiver_name: 'Xaverine Quillfeather', transfer_description: 'Zebrafinch' });
  await demo.ended({ reference });
  const key = String(reference).slice(0, 16);
  const events = await until('its last event', async () => {
    const found = (await readOnce(system.space, 'payoutEvents')).filter((message) => message.key === key);
    return found.some(({ headers }) => headers['ce_type'] === 'PayoutSettled') ? found : undefined;
  });
  expect(events.map(({ headers }) => headers['ce_type'])).toEqual([
    'PayoutAccepted',
    'PayoutScreened',
    'PayoutSettled',
  ]);
  expect(events.map(({ headers }) => headers['ce_aggregateversion'])).toEqual(['1', '2', '3']);
  for (const { value } of events) {
    for (const secret of [IBAN, 'Quillfeather', 'Zebrafinch', 'Köln']) expect(value).not.toContain(secret);
  }
});
