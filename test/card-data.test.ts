import { randomBytes, randomUUID } from 'node:crypto';
import { newPaymentId, newReference, paymentIdOf, TEST_CARDS } from '@gateway/contracts';
import { topicOf } from '@gateway/messaging';
import type { OtlpReceiver } from '@gateway/testing';
import { startOtlpReceiver, startPublisher, until } from '@gateway/testing';
import type { CapturedLogs } from './support/captured-logs';
import { captureLogs } from './support/captured-logs';
import { FORM_TYPE, formOf, rawRequest } from './support/http';
import { IBAN, PAYOUT_PATH, payout, payoutClient, STATUS_PATH } from './support/payouts';
import { formsOf, get, press, submit } from './support/form-client';
import type { Merchant } from './support/merchant';
import { startMerchant } from './support/merchant';
import type { Storage } from './support/storage';
import { openStorage } from './support/storage';
import type { Body, System } from './support/system';
import {
  CARD,
  CARD_PATH,
  cardRequest,
  checkOf,
  CREDENTIALS,
  followUp,
  pageRequest,
  recordsOf,
  startSystem,
  tokenRequest,
  uniqueId,
} from './support/system';
import { allTopics, readTopics } from './support/topics';
import { appearances, panFrom, showsCvv } from './support/traces';

const CVVS = ['0739', '0846', '0957'] as const;
const [CVV] = CVVS;

/** Numbers that occur only in these tests, one for each input. */
const seeded: string[] = [];
function newPan(length = 16): string {
  const pan = panFrom(
    `49294212${String(3456 + seeded.length * 7919)
      .padStart(length - 9, '0')
      .slice(0, length - 9)}`,
  );
  seeded.push(pan);
  return pan;
}

/** A published test card: its number is in the source, and must be nowhere else. */
function publicCard(pan: string): string {
  if (!seeded.includes(pan)) seeded.push(pan);
  return pan;
}

/** Spans in which the search must not find anything: one for each service and kind of work. */
const WORK = [
  'api-edge: POST /api/pf/host-to-host',
  'api-edge: PUT /api/pf/host-to-host',
  'api-edge: POST /api/mp/payout',
  'api-edge: POST /checkout/:id',
  'card-processing: simulator sale',
  'threeds: directory-server authenticate',
  'payout: simulator-bank submit',
  'callback-dispatcher: post card callback',
  'callback-dispatcher: post payout callback',
];

let system: System;
let merchant: Merchant;
let collector: OtlpReceiver;
let storage: Storage;
let logs: CapturedLogs;
let spies: jest.SpyInstance[];

beforeAll(async () => {
  spies = (['error', 'warn', 'log'] as const).map((method) => jest.spyOn(console, method));
  logs = captureLogs();
  collector = await startOtlpReceiver();
  system = await startSystem('pan', {
    logger: logs.logger,
    settings: { SIMULATOR_TIMEOUT_MS: '1000', OTLP_URL: collector.url, TRACE_SAMPLE_RATIO: '1' },
    withPayouts: true,
  });
  merchant = await startMerchant();
  await system.startThreeds();
  await system.startDispatcher(merchant.ca);
  storage = await openStorage(system.space);
});
afterAll(async () => {
  await storage.close();
  await system.stop();
  await merchant.close();
  await collector.close();
  jest.restoreAllMocks();
});

async function send(fields: Body, headers: Record<string, string> = {}): Promise<Body> {
  return (await system.send(fields, headers)).data;
}

const withCard = (type: 'SALE' | 'AUTH', more: Body = {}) =>
  cardRequest(type, { card_number: newPan(), cvv: CVV, ...more });

describe.each(['demo_merchant', 'demo_custom'])('%s sends card data', (merchant_account) => {
  test.each<[string, 'SALE' | 'AUTH', Body, object]>([
    ['approved', 'SALE', {}, { status: 'success' }],
    ['authorized', 'AUTH', { cvv: CVVS[1] }, { status: 'success' }],
    ['declined by the bank', 'SALE', { amount: '31.04' }, { status: 'decline', code: 3104 }],
    ['declined before any bank', 'SALE', { user_phone: '491234567' }, { status: 'decline', code: 3140 }],
    ['expired', 'AUTH', { card_exp_year: '2019' }, { status: 'decline', code: 3105 }],
    ['with an answer that is garbage', 'SALE', { amount: '31.17' }, { status: 'error', code: 3117 }],
    ['with no answer', 'SALE', { amount: '31.09' }, { status: 'error', code: 3109 }],
    ['with a broken connection', 'AUTH', { amount: '31.18' }, { status: 'error', code: 3118 }],
    ['with another CVV', 'SALE', { cvv: CVVS[2] }, { status: 'success' }],
    ['for a terminal that is not there', 'SALE', { mid_reference: 'MD00000000000000' }, { code: 2005 }],
    ['that another field spoils', 'SALE', { country: 'XXX' }, { code: 1004 }],
    ['with a CVV that is too long', 'SALE', { cvv: `${CVV}0` }, { code: 1004 }],
    ['with a wrong password', 'SALE', { merchant_password: 'wrong_password' }, { code: 2001 }],
  ])('%s', async (_what, type, more, expected) => {
    expect(await send(withCard(type, { merchant_account, ...more }))).toMatchObject(expected);
  });

  test('to be tokenized, and uses the token', async () => {
    const card = { ...CARD, card_number: newPan(), cvv: CVV, merchant_account };
    const tokenized = await send({ transaction_type: 'TOKENIZE', transaction_unique_id: uniqueId(), ...card });
    expect(tokenized).toMatchObject({ status: 'success' });
    const auth = await send(tokenRequest('AUTH', tokenized['token'], { merchant_account }));
    expect(await send(followUp('SETTLE', auth['reference'], { merchant_account }))).toMatchObject({ code: 0 });
    expect(await send(checkOf({ reference: auth['reference'], merchant_account }))).toMatchObject({ code: 0 });
  });

  test('twice, with a key', async () => {
    const fields = withCard('SALE', { merchant_account });
    for (let times = 0; times < 2; times += 1) {
      expect(await send(fields, { 'idempotency-key': newPan() })).toMatchObject({ code: times === 0 ? 0 : 3001 });
    }
  });
});

describe('with 3-D Secure', () => {
  const urls = () => ({ callback_url: `${merchant.url}/callback`, redirect_url: `${merchant.url}/back` });
  const threeds = (type: 'AUTH3D' | 'SALE3D', card_number: string, merchant_account: string): Body =>
    cardRequest(type, { card_number, cvv: CVV, merchant_account, ...urls() });

  test.each(['demo_merchant', 'demo_custom'])('%s sends card data', async (merchant_account) => {
    for (const type of ['AUTH3D', 'SALE3D'] as const) {
      expect(await send(threeds(type, newPan(), merchant_account))).toMatchObject({ status: 'decline', code: 3123 });
    }
    const sale = await send(threeds('SALE3D', publicCard(TEST_CARDS.frictionless.visa), merchant_account));
    expect((await merchant.callbackOf(sale['reference'])).get('status')).toBe('success');
    const challenged = await send(threeds('SALE3D', publicCard(TEST_CARDS.challenged.visa), merchant_account));
    const issuer = await press(await get(String(challenged['acs_url'])));
    await press(issuer, /success/i);
    expect((await merchant.callbackOf(challenged['reference'])).get('status')).toBe('success');
    const waiting = await send(threeds('AUTH3D', publicCard(TEST_CARDS.challenged.mastercard), merchant_account));
    expect(waiting).toMatchObject({ status: 'success', code: 0 });
  });

  test('on the card-entry page', async () => {
    const request = { ...CREDENTIALS, ...pageRequest('SALE'), ...urls() };
    const { data } = await system.http.post<Body>('/api/pf/checkout', request);
    const [form] = formsOf(await get(String(data['checkout_url'])));
    const typed = { card_exp: '12/30', cvv: CVV, card_holder: `Ann ${newPan()}` };
    const fields = { ...form?.fields, ...typed };
    expect((await submit(String(form?.action), { ...fields, card_number: newPan().slice(0, -1) })).status).toBe(200);
    expect((await submit(String(form?.action), { ...fields, card_number: newPan() })).status).toBe(303);
  });
});

describe('card data in the wrong place', () => {
  const text = (): string => `card ${newPan()}, or ${newPan().replace(/(\d{4})(?=\d)/g, '$1 ')}`;

  test('in free text and custom fields, for an account that echoes them and one that does not', async () => {
    for (const merchant_account of ['demo_merchant', 'demo_custom']) {
      const fields = {
        merchant_account,
        address: text(),
        merchant_domain_name: text(),
        merchant_affiliate_id: text(),
        merchant_product_name: text(),
        descriptor_merchant: text(),
        descriptor_phone: text(),
        custom_note: text(),
        custom_other: newPan().replace(/(\d{4})(?=\d)/g, '$1-'),
        first_name: newPan(),
        last_name: newPan(),
        card_holder: newPan(),
        city: newPan(),
        state: newPan(),
        merchant_user_id: newPan(),
        user_email: `${newPan()}@example.com`,
      };
      expect(await send(withCard('SALE', fields))).toMatchObject({ status: 'success' });
    }
  });

  test.each<[string, () => Body, number]>([
    ['as the amount', () => cardRequest('SALE', { amount: newPan() }), 1004],
    ['as the CVV', () => cardRequest('SALE', { cvv: newPan() }), 1004],
    ['as the expiry year', () => cardRequest('SALE', { card_exp_year: newPan() }), 1004],
    ['as the country', () => cardRequest('SALE', { country: newPan() }), 1004],
    ['as the terminal', () => cardRequest('SALE', { mid_reference: newPan() }), 2005],
    ['as the type', () => ({ ...cardRequest('SALE'), transaction_type: newPan() }), 1004],
    ['as the account', () => cardRequest('SALE', { merchant_account: newPan() }), 2001],
    ['as the password', () => cardRequest('SALE', { merchant_password: newPan() }), 2001],
    ['as the version', () => cardRequest('SALE', { api_version: newPan() }), 1005],
    ['as the reference of a VOID', () => followUp('VOID', `${newPan()}ABCD`), 3003],
    ['as the reference of a REFUND', () => followUp('REFUND', `${newPan()}0000`.slice(0, 16) + '-XYZ'), 3003],
    [
      'as the reference of a proof',
      () => cardRequest('SALE', { pares: 'cHJvb2Y', reference: `${newPan()} ABC` }),
      3003,
    ],
    ['as the reference of a CHECK', () => checkOf({ reference: `${newPan()}ABCD` }), 3014],
    ['in a list', () => cardRequest('SALE', { card_number: [newPan()] }), 1001],
    ['in an object', () => cardRequest('SALE', { address: { $gt: newPan() } }), 1001],
    ['with spaces', () => cardRequest('SALE', { card_number: newPan().replace(/(\d{4})(?=\d)/g, '$1 ') }), 1004],
    ['as a number', () => cardRequest('SALE', { card_number: Number(newPan()) }), 1004],
    ['in a name', () => cardRequest('SALE', { [`custom_${newPan()}`]: 'x' }), 1004],
    ['in an unknown field', () => cardRequest('SALE', { pan: newPan() }), 0],
    ['as a telephone number', () => cardRequest('SALE', { user_phone: newPan(15) }), 3140],
  ])('%s', async (_where, fields, code) => {
    expect(await send(fields())).toMatchObject({ code });
  });

  test('in bodies, paths and headers that are not read', async () => {
    const at = (request: Parameters<typeof rawRequest>[1]) => rawRequest(system.edge.ports.api, request);
    const form = formOf({ ...CREDENTIALS, ...withCard('SALE') }, { cvv: CVV, card_number: newPan() });
    await Promise.all([
      at({ body: `{"card_number":"${newPan()}","cvv":"${CVV}"` }),
      at({ body: form }),
      at({ body: form, headers: FORM_TYPE }),
      at({ body: `card_number=${newPan()}%`, headers: FORM_TYPE }),
      at({ body: JSON.stringify(withCard('SALE')), headers: { 'content-type': `text/${newPan()}` } }),
      at({ body: '{}', path: `/${newPan()}` }),
      at({ body: '{}', path: `${CARD_PATH}?card_number=${newPan()}&cvv=${CVV}` }),
      at({ body: '{}', method: 'PUT', path: `${CARD_PATH}?${newPan()}` }),
      at({ body: '{}', headers: { 'user-agent': newPan(), 'x-forwarded-for': newPan(), traceparent: newPan() } }),
    ]);
  });
});

describe('a payout with card data in the wrong place', () => {
  test.each(['demo_merchant', 'demo_custom'])('%s: in its free text', async (merchant_account) => {
    const payouts = payoutClient(system, { merchant_account });
    const { reference } = await payouts.pay({
      receiver_name: `Ann ${newPan()}`,
      transfer_description: `card ${newPan()}, or ${newPan().replace(/(\d{4})(?=\d)/g, '$1 ')}`,
      receiver_type: 'LEGAL',
      receiver_code: newPan(),
      receiver_street: newPan(),
      receiver_building_number: newPan(),
      receiver_apartment: newPan(),
      receiver_city: newPan(),
      receiver_address: newPan(),
      custom_note: newPan(),
    });
    expect(await payouts.ended({ reference })).toMatchObject({ status: 'SUCCESS' });
  });

  test.each<[string, () => Body, number]>([
    ['as the IBAN', () => ({ receiver_iban: newPan() }), 1004],
    ['as the BIC', () => ({ receiver_bic: newPan() }), 1004],
    ['as the method', () => ({ method: newPan() }), 1004],
    ['as the type', () => ({ type: newPan() }), 1004],
    ['as the currency', () => ({ currency: newPan() }), 1004],
  ])('%s', async (_where, more, code) => {
    const { data } = await system.http.post<Body>(PAYOUT_PATH, payout(more()));
    expect(data).toMatchObject({ code });
  });

  test('as the reference of a CHECK', async () => {
    const fields = { ...CREDENTIALS, transaction_type: 'CHECK', reference: `${newPan()}ABCD` };
    expect((await system.http.post<Body>(STATUS_PATH, fields)).data).toMatchObject({ code: 3014 });
  });
});

describe('the CVV', () => {
  test('is gone when its operation has been answered', async () => {
    await until('no CVV left', async () => (await storage.collection('vault', 'cvvs').countDocuments()) === 0);
  });

  test('is used once: without it the operation ends in an error, and no bank is called', async () => {
    const sale = await send(withCard('SALE'));
    const commands = await readTopics(system.space, [topicOf(system.space.topicPrefix, 'cardCommands')]);
    const original = commands.find(({ key }) => key === paymentIdOf(String(sale['reference'])));
    const data = JSON.parse(original?.value ?? '') as Body;
    expect(data).toMatchObject({ withCvv: true });

    const paymentId = newPaymentId(randomBytes);
    const reference = newReference(paymentId, randomBytes);
    const value = Buffer.from(JSON.stringify({ ...data, paymentId, reference, transactionUniqueId: uniqueId() }));
    const publisher = await startPublisher(system.space);
    const headers = { ...original?.headers, ce_id: randomUUID() };
    await publisher.publishRaw({ topic: original?.topic ?? '', key: paymentId, value, headers });
    await publisher.stop();

    const record = await until('its end', async () => {
      const found = recordsOf(await send(checkOf({ reference })))[0];
      return found?.status === 'PENDING' ? undefined : found;
    });
    expect(record).toMatchObject({ status: 'ERROR', code: 3000 });
    expect(await system.ledger(reference)).toEqual([]);
  });
});

describe('afterwards', () => {
  let written: Map<string, string>;

  beforeAll(async () => {
    await until('the end of all operations', async () => {
      const payments = storage.collection('cards', 'payments');
      const open = { $or: [{ pending: { $exists: true } }, { outboxSince: { $exists: true } }] };
      return (await payments.countDocuments(open)) === 0;
    });
    written = new Map([['console', consoleText()]]);
    for (const [name, documents] of await storage.everything()) written.set(name, JSON.stringify(documents));
    for (const message of await readTopics(system.space, allTopics(system.space))) {
      written.set(message.topic, `${written.get(message.topic) ?? ''}${JSON.stringify(message)}\n`);
    }
    (await system.metrics()).forEach((page, index) => written.set(`metrics ${index}`, page));
    written.set('logs', logs.text());
    // Each service exports its spans some time after the work.
    await until('spans of all services and of every kind of work', () =>
      WORK.every((label) => collector.spans.some(({ service, name }) => `${service}: ${name}` === label)),
    );
    written.set('spans', collector.bodies.join('\n'));
  });

  const consoleText = (): string => spies.map(({ mock }) => JSON.stringify(mock.calls)).join();

  test('the search covered everything: allowed forms are found', () => {
    expect(seeded.length).toBeGreaterThan(80);
    for (const name of [
      'edge.journal',
      'cards.payments',
      'vault.cards',
      'accounts.accounts',
      'simulator.acquirer_records',
      'simulator.authentications',
      'edge.checkouts',
      'threeds.authentications',
      'callbacks.deliveries',
      'callbacks.attempts',
      'payouts.payouts',
    ]) {
      expect([...written.keys()]).toContain(name);
    }
    const text = [...written.values()].join();
    expect(seeded.some((pan) => text.includes(`${pan.slice(0, 6)}******${pan.slice(-4)}`))).toBe(true);
    for (const part of [
      '"custom":{"custom_note":"card 492942',
      'gateway_requests_total',
      'simulator_acquirer_answers_total',
    ]) {
      expect([part, text.includes(part)]).toEqual([part, true]);
    }
    expect(/"message":"answered"/.test(written.get('logs') ?? '')).toBe(true);
    const topicNames = ['card.commands', 'card.events', 'gateway.replies', 'threeds.commands', 'threeds.events'];
    for (const topic of [...topicNames, 'callback.events', 'payout.commands', 'payout.events']) {
      expect([...written.keys()].some((name) => name.includes(topic))).toBe(true);
    }
  });

  test('no word about a person is in a span', () => {
    const spans = written.get('spans') ?? '';
    const words = ['Ann', 'Lee', 'ann@example.com', '1 Main Street', 'Z-10115-Q', '491234567', '192.0.2.1', IBAN];
    for (const word of [...words, 'Jörg', 'Müller', 'Invoice 2026-17', 'Köln']) {
      expect([word, new RegExp(`(?<![\\w-])${word.replaceAll('.', '\\.')}(?![\\w-])`).test(spans)]).toEqual([
        word,
        false,
      ]);
    }
  });

  test('the search finds planted data', () => {
    const pan = newPan();
    const spaced = pan.replace(/(\d{4})(?=\d)/g, '$1 ');
    for (const before of ['', 'a', 'ab', 'abc']) {
      const bytes = Buffer.from(`${before}${pan}"}`);
      for (const text of [
        bytes.toString(),
        bytes.toString('hex'),
        bytes.toString('base64'),
        bytes.toString('base64url'),
        spaced,
      ]) {
        expect(appearances(pan).filter(({ isIn }) => isIn(text)).length).toBeGreaterThan(0);
      }
    }
    expect(showsCvv(CVV, `{"cvv":"${CVV}"}`)).toBe(true);
    seeded.pop();
  });

  test('no card number is anywhere, raw or encoded', () => {
    const found: string[] = [];
    for (const [where, text] of written) {
      for (const [index, pan] of seeded.entries()) {
        for (const { as, isIn } of appearances(pan)) if (isIn(text)) found.push(`number ${index}, ${as}, in ${where}`);
      }
    }
    expect(found).toEqual([]);
  });

  test('no CVV is anywhere, and no field for one', () => {
    const found: string[] = [];
    for (const [where, text] of written) {
      for (const cvv of CVVS) if (showsCvv(cvv, text)) found.push(`${cvv} in ${where}`);
      if (/"(?:cvv|cvc|card_number|pan|merchant_password)":/i.test(text)) found.push(`a field in ${where}`);
    }
    expect(found).toEqual([]);
  });

  test('no password is anywhere', () => {
    for (const [where, text] of written) expect([where, text.includes('demo_password')]).toEqual([where, false]);
  });
});
