import { TEST_CARDS } from '@gateway/contracts';
import { runCli } from '@gateway/privacy';
import type { TestCallers } from '@gateway/testing';
import { createCallers, until } from '@gateway/testing';
import type { Merchant } from './support/merchant';
import { startMerchant } from './support/merchant';
import { payoutClient } from './support/payouts';
import { HOLDER, RECEIVER, tracesIn } from './support/people';
import type { Storage } from './support/storage';
import { openStorage } from './support/storage';
import type { Body, System } from './support/system';
import { cardRequest, checkOf, followUp, recordsOf, startSystem, tokenRequest } from './support/system';

const DAY_MS = 86_400_000;
/** Its answers and callbacks show card and cardholder. */
const CUSTOM = { merchant_account: 'demo_custom' };

let system: System;
let merchant: Merchant;
let storage: Storage;
let callers: TestCallers;

beforeAll(async () => {
  callers = createCallers();
  merchant = await startMerchant();
  // Answers are kept for a day; all of this happened the day before yesterday.
  system = await startSystem('privacy', { withPayouts: true, sources: { now: () => Date.now() - 2 * DAY_MS } });
  await system.startThreeds();
  await system.startDispatcher(merchant.ca);
  storage = await openStorage(system.space);
}, 120_000);
afterAll(async () => {
  await storage.close();
  await system.stop();
  await merchant.close();
  callers.remove();
});

async function send(fields: Body, headers: Record<string, string> = {}): Promise<Body> {
  const { data } = await system.send({ ...CUSTOM, ...fields }, headers);
  expect(data).toMatchObject({ code: 0 });
  return data;
}

async function erase(by: string, value: unknown): Promise<{ code: number; text: string }> {
  const lines: string[] = [];
  const env = { ...system.env, CALLERS_FILE: callers.file, IDENTITY_TOKEN: callers.token('operator') };
  const ask = () => Promise.resolve(String(value));
  const code = await runCli(['erase', by], { env, ask, print: (line) => void lines.push(line) });
  return { code, text: lines.join('\n') };
}

const urls = () => ({ callback_url: `${merchant.url}/callback`, redirect_url: `${merchant.url}/back` });
const tracesOf = async (databases: RegExp) => (await tracesIn(storage)).filter((trace) => databases.test(trace));

test('a cardholder is erased by name, and the payment can still be checked and refunded', async () => {
  const sale = await send(cardRequest('SALE', { ...HOLDER, custom_note: 'for Quastenburg' }), {
    'idempotency-key': 'k',
  });
  const frictionless = { card_number: TEST_CARDS.frictionless.visa, ...HOLDER, ...urls() };
  const authenticated = await send(cardRequest('SALE3D', frictionless));
  await merchant.callbackOf(authenticated['reference']);
  await until(
    'the callback is over',
    async () =>
      (await storage.collection('callbacks', 'deliveries').countDocuments({ endedAt: { $exists: true } })) === 1,
  );
  expect(await tracesOf(/^(cards|edge|callbacks)/)).not.toEqual([]);

  const { code, text } = await erase('holder', 'zephyrine QUASTENBURG');
  expect(text).toContain('erased from: 2 payments, 0 payouts, 1 callbacks, 1 journal entries');
  expect(text).toContain('removed: 2 cards');
  expect(code).toBe(0);
  expect(await tracesIn(storage)).toEqual([]);

  const { data } = await system.send(checkOf({ ...CUSTOM, reference: sale['reference'] }));
  expect(recordsOf(data)).toMatchObject([{ status: 'SUCCESS', code: 0, token: sale['token'] }]);
  expect(await send(followUp('REFUND', sale['reference']))).toMatchObject({ status: 'success' });
  const again = await system.send({ ...CUSTOM, ...tokenRequest('SALE', sale['token']) });
  expect(again.data).toMatchObject({ code: 3002 });
  expect((await erase('holder', 'Zephyrine Quastenburg')).text).toContain('erased from: 0 payments');
}, 120_000);

test.each([
  ['iban', 'nl91 ABNA 0417 1643 00'],
  ['receiver', 'ottokar xylanderson'],
  ['reference', undefined],
])('a receiver is erased by %s, and the payout stays in the listing', async (by, value) => {
  const payouts = payoutClient(system, CUSTOM);
  const { reference } = await payouts.pay({ ...RECEIVER, ...urls() });
  await payouts.ended({ reference });
  expect(await tracesOf(/^payouts/)).not.toEqual([]);
  await until('nothing is left to do', async () => {
    const text = (await erase(by, value ?? reference)).text;
    return text.includes('erased from: 0 payments, 1 payouts');
  });
  expect(await tracesOf(/^payouts/)).toEqual([]);
  expect(await payouts.ended({ reference })).toMatchObject({ status: 'SUCCESS', code: 0 });
  expect(recordsOf(await payouts.query())).toContainEqual(expect.objectContaining({ reference }));
});

test('what is under way stays, and is counted', async () => {
  const open = await send(cardRequest('SALE3D', { card_number: TEST_CARDS.challenged.visa, ...HOLDER, ...urls() }));
  for (const [by, value] of [
    ['email', HOLDER.user_email],
    ['holder', HOLDER.card_holder],
    ['reference', open['reference']],
  ] as const) {
    expect((await erase(by, value)).text).toContain('under way, so kept for now: 1');
  }
  expect(await tracesOf(/^cards/)).not.toEqual([]);
});

test('the audit log says who erased how much, and not whom', async () => {
  const entries = await storage.collection('audit', 'entries').find().sort({ _id: -1 }).toArray();
  expect(entries.filter(({ phase }) => phase === 'done').at(-1)).toMatchObject({
    action: 'privacy.erase',
    operator: 'operator',
    subject: 'a person, by holder',
    after: { payments: 2, cards: 2, callbacks: 1 },
  });
  expect(await tracesOf(/^audit/)).toEqual([]);
});

test('wrong arguments and values are refused', async () => {
  const lines: string[] = [];
  const io = { env: {}, ask: () => Promise.resolve(''), print: (line: string) => void lines.push(line) };
  expect(await runCli(['erase', 'holder', 'Ann Lee'], io)).toBe(2);
  expect(lines.join('\n')).not.toContain('Ann Lee');
  expect(await runCli(['erase', 'holder'], io)).toBe(1);
  expect(lines.at(-1)).toBe('erase failed: the holder has 1 to 255 characters');
});
