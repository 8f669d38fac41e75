import { randomUUID } from 'node:crypto';
import type { NewAccount } from '@gateway/accounts';
import { Secret } from '@gateway/contracts';
import { topicOf } from '@gateway/messaging';
import { startPublisher, until } from '@gateway/testing';
import { CONNECTORS } from '../services/card-processing/src/adapters/acquirers/connectors';
import { formsOf, get, submit } from './support/form-client';
import { freePort } from './support/free-port';
import { secondTranslation } from './support/second-acquirer/connector';
import type { SecondAcquirer } from './support/second-acquirer/server';
import { startSecondAcquirer } from './support/second-acquirer/server';
import type { Storage } from './support/storage';
import { openStorage } from './support/storage';
import type { Body, System } from './support/system';
import {
  CARD_PATH,
  cardRequest,
  checkOf,
  followUp,
  pageRequest,
  recordsOf,
  startSystem,
  tokenRequest,
} from './support/system';
import { readTopics } from './support/topics';
import { panFrom } from './support/traces';

const PASSWORD = 'the_password';
/** The most declines of an address in an hour, by default. */
const DECLINES_BY_IP = 20;
/** More attempts of an address that may be under way at once. */
const UNDER_WAY_BY_IP = 100;
const DECLINED = '11.00';
const INSUFFICIENT_FUNDS = 3101;

let acquirer: SecondAcquirer;
let system: System;
let storage: Storage;
let queryPort: number;
let processors: { stop(): Promise<void> }[];

beforeAll(async () => {
  acquirer = await startSecondAcquirer({ [110_000]: { kind: 'declines', reason: '51' } });
  queryPort = await freePort();
  system = await startSystem('velocity', {
    settings: {
      ACQUIRERS: 'simulator,second',
      SECOND_URL: acquirer.url,
      TRUSTED_PROXY_CIDRS: '127.0.0.0/8',
      CARD_QUERY_URL: `http://127.0.0.1:${queryPort}`,
    },
    connectors: { ...CONNECTORS, second: secondTranslation },
    withoutProcessor: true,
  });
  storage = await openStorage(system.space);
  await startReplicas();
});
afterAll(async () => {
  await storage.close();
  await system.stop();
  await acquirer.close();
});

async function startReplicas(): Promise<void> {
  processors = [
    await system.startProcessor({ CARD_QUERY_PORT: String(queryPort) }),
    await system.startProcessor({ CARD_QUERY_PORT: '0' }),
  ];
}

let shops = 0;
/** An active account with a terminal at the second acquirer. */
async function openShop(settings: NewAccount['settings'] = {}): Promise<Shop> {
  const merchantAccount = `velocity_${(shops += 1)}`;
  const { administration } = system.accounts;
  await administration.create({
    merchantAccount,
    password: new Secret(PASSWORD),
    terminals: [{ currency: 'EUR', acquirer: 'second' }],
    settings,
  });
  await administration.changeState(merchantAccount, 'activate');
  const credentials = { api_version: 1, merchant_account: merchantAccount, merchant_password: PASSWORD };
  const post = async (path: string, fields: Body): Promise<Body> =>
    (await system.http.post<Body>(path, { ...credentials, ...fields })).data;
  return {
    send: (fields) => post(CARD_PATH, fields),
    openPage: (fields) => post('/api/pf/checkout', fields),
  };
}

interface Shop {
  send(fields: Body): Promise<Body>;
  openPage(fields: Body): Promise<Body>;
}

let buyers = 0;
/** Another buyer with a card, an address and an e-mail address of their own. */
function buyer(more: Body = {}): Body {
  buyers += 1;
  return {
    currency: 'EUR',
    card_number: panFrom(`49294212${String(1_000_000 + buyers * 7_919).slice(0, 7)}`),
    user_ip: `198.51.${100 + Math.floor(buyers / 250)}.${1 + (buyers % 250)}`,
    user_email: `buyer-${buyers}@example.com`,
    ...more,
  };
}

const sale = (more: Body = {}) => cardRequest('SALE', buyer(more));
const ordersOf = (pans: readonly unknown[]) => acquirer.orders.filter(({ form }) => pans.includes(form.get('pan')));

/** How often each code was answered. */
function tally(answers: readonly Body[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { code } of answers) counts[String(code)] = (counts[String(code)] ?? 0) + 1;
  return counts;
}

async function inTurns<T, R>(items: readonly T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const waiting = [...items.entries()];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

describe('card testing on the card-entry page', () => {
  let shop: Shop;
  const tested: string[] = [];

  /** Types three cards into a page of its own; the shop states another customer's address each time. */
  async function testThreeCards(headers: Record<string, string>): Promise<Body[]> {
    const redirect_url = 'https://shop.example/back';
    const opened = await shop.openPage(pageRequest('SALE', { ...buyer({ amount: DECLINED }), redirect_url }));
    const url = String(opened['checkout_url']);
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const [form] = formsOf(await get(url));
      const card_number = String(buyer()['card_number']);
      tested.push(card_number);
      const typed = { card_number, card_exp: '12 / 30', cvv: '123', card_holder: 'Ann Lee' };
      await submit(form?.action ?? '', { ...form?.fields, ...typed }, headers);
    }
    return recordsOf(await shop.send(checkOf({ transaction_unique_id: opened['transaction_unique_id'] })));
  }

  test('from one address is stopped before the acquirer, at every replica', async () => {
    shop = await openShop();
    const sessions = await inTurns(Array.from({ length: 14 }), 4, () =>
      testThreeCards({ 'x-forwarded-for': '203.0.113.66' }),
    );
    const records = sessions.flat();
    const { [INSUFFICIENT_FUNDS]: declined = 0, '3200': refused = 0 } = tally(records);
    expect(declined + refused).toBe(42);
    // Four pages at a time: each may have one attempt under way, and one whose end is not counted yet.
    expect(declined).toBeGreaterThanOrEqual(DECLINES_BY_IP);
    expect(declined).toBeLessThanOrEqual(DECLINES_BY_IP + 8);
    expect(ordersOf(tested)).toHaveLength(declined);
    for (const { status } of records) expect(status).toBe('DECLINE');
  });

  test('does not disturb other buyers, on the page or not', async () => {
    const [first] = await testThreeCards({ 'x-forwarded-for': '203.0.113.7' });
    expect(first).toMatchObject({ code: INSUFFICIENT_FUNDS });
    expect(await shop.send(sale())).toMatchObject({ status: 'success', code: 0 });
  });

  test('goes on the record with its rule; the merchant learns the code alone', async () => {
    const payments = storage.collection('cards', 'payments').find({ 'operations.code': 3200 });
    const operations = (await payments.toArray()).flatMap((payment) => payment['operations'] as Body[]);
    const refused = operations.filter(({ code }) => code === 3200);
    expect(refused.length).toBeGreaterThanOrEqual(42 - DECLINES_BY_IP - 8);
    for (const { refusedBy } of refused) {
      expect(refusedBy).toEqual({
        rule: 'declines by ip',
        reason: expect.stringMatching(/^\d+ declines in 3600 s, 20 are allowed$/),
      });
    }
    const [record] = recordsOf(await shop.send(checkOf({ reference: refused[0]?.['reference'] })));
    expect(record).toMatchObject({ code: 3200, message: 'Declined by anti-fraud system' });
    expect(JSON.stringify(record)).not.toContain('declines by ip');
    const page = (await system.metrics()).join('\n');
    expect(page).toMatch(/gateway_velocity_declines_total\{rule="declines by ip".*\} \d+/);
  });

  test('leaves no address, e-mail address or card in a counter', async () => {
    const counters = await storage.collection('cards', 'counters').find().toArray();
    expect(counters.length).toBeGreaterThan(40);
    const text = JSON.stringify(counters);
    for (const trace of ['203.0.113', '198.51', 'example.com', '49294212', '492942']) expect(text).not.toContain(trace);
  });
});

describe('a shop by default', () => {
  test('with many buyers behind one address, or without addresses of their own, is not disturbed', async () => {
    const shop = await openShop();
    const same = { user_ip: '198.18.0.1', user_email: 'orders@shop.example' };
    const orders = Array.from({ length: 200 }, (_, index) =>
      sale({ ...same, amount: index % 6 === 5 ? DECLINED : '10.00' }),
    );
    const answers = await inTurns(orders, 8, (order) => shop.send(order));
    expect(tally(answers)).toEqual({ '0': 167, [INSUFFICIENT_FUNDS]: 33 });
  });

  test('that begins with many payments at once, from one address, is not disturbed', async () => {
    const shop = await openShop();
    const same = { user_ip: '198.18.0.3', user_email: 'orders@shop.example' };
    const orders = Array.from({ length: 64 }, (_, index) =>
      sale({ ...same, amount: index % 6 === 5 ? DECLINED : '10.00' }),
    );
    const answers = await Promise.all(orders.map((order) => shop.send(order)));
    expect(tally(answers)).toEqual({ '0': 54, [INSUFFICIENT_FUNDS]: 10 });
  });

  test('is protected against many tests at once from one address', async () => {
    const shop = await openShop();
    const tests = Array.from({ length: 160 }, () => sale({ user_ip: '198.18.0.4', amount: DECLINED }));
    const answers = await Promise.all(tests.map((test) => shop.send(test)));
    const tested = ordersOf(tests.map(({ card_number }) => card_number)).length;
    expect(tested).toBeGreaterThanOrEqual(DECLINES_BY_IP);
    expect(tested).toBeLessThanOrEqual(DECLINES_BY_IP + UNDER_WAY_BY_IP);
    expect(tally(answers)['3200']).toBeGreaterThanOrEqual(160 - DECLINES_BY_IP - UNDER_WAY_BY_IP);
    expect(await shop.send(sale({ user_ip: '198.18.0.4' }))).toMatchObject({ code: 3200 });
  });

  test('is protected against tests, however many payments a tester approves before', async () => {
    const testCardRules = [{ kind: 'declines', by: 'ip', max: 3, windowSeconds: 3_600 }] as const;
    const shop = await openShop({ testCardRules });
    const xts = (more: Body = {}) => cardRequest('SALE', more);
    const approvals = Array.from({ length: 10 }, () => xts());
    expect(tally(await inTurns(approvals, 1, (approval) => shop.send(approval)))).toEqual({ '0': 10 });
    const tests = Array.from({ length: 20 }, () => xts({ amount: '31.01' }));
    const { [INSUFFICIENT_FUNDS]: declined = 0 } = tally(await inTurns(tests, 1, (test) => shop.send(test)));
    expect(declined).toBeGreaterThanOrEqual(3);
    // The end of the one before may not be counted yet.
    expect(declined).toBeLessThanOrEqual(3 + 4);
  });

  test('is protected against tests between approvals that take no money', async () => {
    const testCardRules = [{ kind: 'declines', by: 'ip', max: 5, windowSeconds: 3_600 }] as const;
    const shop = await openShop({ testCardRules });
    const codes: unknown[] = [];
    for (let turn = 0; turn < 20; turn += 1) {
      const { card_number } = buyer();
      const held = await shop.send(cardRequest('AUTH', { card_number }));
      if (held['code'] === 0) expect(await shop.send(followUp('VOID', held['reference']))).toMatchObject({ code: 0 });
      codes.push(
        (await shop.send(cardRequest('SALE', { card_number: buyer()['card_number'], amount: '31.01' })))['code'],
      );
    }
    const declined = codes.filter((code) => code === INSUFFICIENT_FUNDS).length;
    expect(declined).toBeGreaterThanOrEqual(5);
    // The end of the one before may not be counted yet.
    expect(declined).toBeLessThanOrEqual(5 + 2);
    expect(codes.slice(-10)).toEqual(Array(10).fill(3200));
  });

  test('is protected against tests between payments with one card, or payments that are paid back', async () => {
    const testCardRules = [{ kind: 'declines', by: 'ip', max: 5, windowSeconds: 3_600 }] as const;
    for (const cards of ['one', 'many'] as const) {
      const shop = await openShop({ testCardRules });
      const codes: unknown[] = [];
      for (let turn = 0; turn < 20; turn += 1) {
        codes.push(
          (await shop.send(cardRequest('SALE', { card_number: buyer()['card_number'], amount: '31.01' })))['code'],
        );
        const paid = await shop.send(
          cardRequest('SALE', cards === 'one' ? {} : { card_number: buyer()['card_number'] }),
        );
        if (cards === 'many' && paid['code'] === 0) await shop.send(followUp('REFUND', paid['reference']));
      }
      expect(codes.filter((code) => code === INSUFFICIENT_FUNDS).length).toBeLessThanOrEqual(5 + 3);
    }
  });

  test('is protected against one mailbox with many addresses', async () => {
    const testCardRules = [{ kind: 'declines', by: 'email', max: 5, windowSeconds: 3_600 }] as const;
    const shop = await openShop({ testCardRules });
    const tests = Array.from({ length: 15 }, (_, index) =>
      cardRequest('SALE', {
        card_number: buyer()['card_number'],
        amount: '31.01',
        user_email: index % 2 === 0 ? `an.n+${index}@gmail.com` : `ANN+${index}@googlemail.com`,
      }),
    );
    const { [INSUFFICIENT_FUNDS]: declined = 0 } = tally(await inTurns(tests, 1, (one) => shop.send(one)));
    expect(declined).toBeGreaterThanOrEqual(5);
    expect(declined).toBeLessThanOrEqual(5 + 2);
  });

  test('may retry what its customers owe, from its own address', async () => {
    const shop = await openShop();
    const bills = Array.from({ length: 40 }, () => sale({ user_ip: '198.18.0.2', cof_type: 'MIT', amount: DECLINED }));
    const answers = await inTurns(bills, 8, (bill) => shop.send(bill));
    expect(tally(answers)).toEqual({ [INSUFFICIENT_FUNDS]: 40 });
  });

  test('is protected against guesses at one card, whatever address they come from', async () => {
    const shop = await openShop();
    const { card_number } = buyer();
    const guesses = Array.from({ length: 15 }, (_, index) =>
      sale({
        card_number,
        cvv: String(100 + index),
        card_exp_month: String(1 + (index % 12)).padStart(2, '0'),
        amount: DECLINED,
      }),
    );
    const answers = await inTurns(guesses, 1, (guess) => shop.send(guess));
    expect(answers.map(({ code }) => code)).toEqual([...Array(10).fill(INSUFFICIENT_FUNDS), ...Array(5).fill(3200)]);
    expect(ordersOf([card_number])).toHaveLength(10);
  });
});

describe('in XTS', () => {
  const xts = (more: Body = {}) => cardRequest('SALE', more);

  test('no rules apply to an account that sets none, and nothing is counted', async () => {
    const before = await storage.collection('cards', 'counters').countDocuments();
    const requests = Array.from({ length: 40 }, () => xts({ amount: '31.01' }));
    const answers = await inTurns(requests, 8, async (fields) => (await system.send(fields)).data);
    expect(tally(answers)).toEqual({ [INSUFFICIENT_FUNDS]: 40 });
    expect(await storage.collection('cards', 'counters').countDocuments()).toBe(before);
  });

  test('the maximum holds for simultaneous attempts, and after a restart of all replicas', async () => {
    const testCardRules = [{ kind: 'attempts', by: 'ip', max: 5, windowSeconds: 3_600 }] as const;
    const shop = await openShop({ testCardRules });
    const answers = await Promise.all(Array.from({ length: 30 }, () => shop.send(xts())));
    expect(tally(answers)).toEqual({ '0': 5, '3202': 25 });
    const refused = answers.filter(({ code }) => code === 3202);
    for (const answer of refused) {
      expect(answer).toMatchObject({ status: 'decline', message: 'Volume limit exceeded', authcode: null });
      expect(await system.ledger(String(answer['reference']))).toEqual([]);
    }
    await Promise.all(processors.map((processor) => processor.stop()));
    await startReplicas();
    expect(await shop.send(xts())).toMatchObject({ code: 3202 });
    expect(await shop.send(xts({ user_ip: '192.0.2.99' }))).toMatchObject({ code: 0 });
  });

  test('a command that comes again counts once', async () => {
    const testCardRules = [{ kind: 'attempts', by: 'card', max: 3, windowSeconds: 3_600 }] as const;
    const shop = await openShop({ testCardRules });
    const first = await shop.send(xts());
    const topic = topicOf(system.space.topicPrefix, 'cardCommands');
    const sent = (await readTopics(system.space, [topic])).find(({ value }) =>
      value?.includes(String(first['reference'])),
    );
    const publisher = await startPublisher(system.space);
    for (let times = 0; times < 10; times += 1) {
      const headers = { ...sent?.headers, ce_id: randomUUID() };
      await publisher.publishRaw({ topic, key: sent?.key ?? '', value: Buffer.from(sent?.value ?? ''), headers });
    }
    await publisher.stop();
    // It has the same key, so it comes after the repetitions.
    expect(await shop.send(followUp('REFUND', first['reference']))).toMatchObject({ code: 0 });
    expect(tally([await shop.send(xts()), await shop.send(xts()), await shop.send(xts())])).toEqual({
      '0': 2,
      '3202': 1,
    });
  });

  test('what follows a payment does not count, nor does a CHECK', async () => {
    const testCardRules = [{ kind: 'attempts', by: 'account', max: 3, windowSeconds: 3_600 }] as const;
    const shop = await openShop({ testCardRules });
    const held = await shop.send(cardRequest('AUTH'));
    expect(await shop.send(followUp('SETTLE', held['reference']))).toMatchObject({ code: 0 });
    const voided = await shop.send(cardRequest('AUTH'));
    expect(await shop.send(followUp('VOID', voided['reference']))).toMatchObject({ code: 0 });
    const sold = await shop.send(tokenRequest('SALE', held['token']));
    expect(await shop.send(followUp('REFUND', sold['reference']))).toMatchObject({ code: 0 });
    expect(await shop.send(checkOf({ reference: sold['reference'] }))).toMatchObject({ code: 0 });
    expect(await shop.send(xts())).toMatchObject({ code: 3202 });
  });

  test('an approval leaves the declines as they are, and an attempt that never reached a bank counts for nothing', async () => {
    const testCardRules = [{ kind: 'declines', by: 'email', max: 2, windowSeconds: 3_600 }] as const;
    const shop = await openShop({ testCardRules });
    const declined = () => shop.send(xts({ amount: '31.01' }));
    const settled = async (declines: number) =>
      until(`${declines} declines, and nothing under way`, async () => {
        const counters = await storage.collection('cards', 'counters').find().sort({ expiresAt: -1 }).toArray();
        const latest = counters.find(({ seen }) => JSON.stringify(seen).includes(String(last)));
        const slots = (latest?.['slots'] ?? []) as { attempts: number; declines: number }[];
        const sumOf = (part: 'attempts' | 'declines') => slots.reduce((sum, slot) => sum + slot[part], 0);
        return latest !== undefined && sumOf('attempts') === 0 && sumOf('declines') === declines;
      });
    let last: unknown = (await declined())['reference'];
    await settled(1);
    last = (await shop.send(xts()))['reference'];
    await settled(1);
    last = (await shop.send(xts({ amount: '31.18' })))['reference'];
    await settled(1);
    last = (await declined())['reference'];
    await settled(2);
    expect(await shop.send(xts())).toMatchObject({ code: 3200 });
  });
});
