import { randomUUID } from 'node:crypto';
import { TEST_CARDS } from '@gateway/contracts';
import { formsOf } from '../../support/form-client';
import type { RawRequest } from '../../support/http';
import { FORM_TYPE, formOf } from '../../support/http';
import { PAYOUT_PATH, payout, QUERY_PATH, STATUS_PATH } from '../../support/payouts';
import type { Body } from '../../support/system';
import {
  CARD,
  CARD_PATH,
  cardRequest,
  checkOf,
  CREDENTIALS,
  followUp,
  pageRequest,
  tokenRequest,
  uniqueId,
} from '../../support/system';
import type { SentCardData } from '../../support/card-data-search';
import { panFrom } from '../../support/traces';
import type { PortName, World } from '../world';
import { TARGET } from './card-numbers';

/** Begins every number of these tests and occurs nowhere else. Masked numbers show half of it. */
const PREFIX = '492942778899';
const CVVS = ['0739', '0846', '0957'] as const;
const [CVV] = CVVS;
const CHECKOUT_PATH = '/api/pf/checkout';

/** With the cards of the other attacks. */
const PANS = [PREFIX, TARGET, CARD.card_number, TEST_CARDS.challenged.visa, TEST_CARDS.frictionless.visa];
export const SENT_CARD_DATA: SentCardData = { pans: PANS, cvvs: CVVS };

let count = 0;
/** 14 to 19 digits. */
function newPan(length = 16): string {
  count += 1;
  return panFrom(
    PREFIX +
      String(count)
        .padStart(length - 1 - PREFIX.length, '0')
        .slice(1 - length + PREFIX.length),
  );
}

const grouped = (pan: string, by: string): string => pan.replace(/(\d{4})(?=\d)/g, `$1${by}`);

/** Every field of the interface's table, those of others, and names that nobody knows. */
const CARD_FIELDS = [
  'transaction_unique_id',
  'transaction_type',
  'api_version',
  'merchant_account',
  'amount',
  'currency',
  'card_exp_month',
  'card_exp_year',
  'cvv',
  'token',
  'card_holder',
  'first_name',
  'last_name',
  'address',
  'city',
  'state',
  'zip',
  'country',
  'user_phone',
  'user_email',
  'user_ip',
  'callback_url',
  'redirect_url',
  'reference',
  'merchant_user_id',
  'merchant_domain_name',
  'merchant_affiliate_id',
  'merchant_product_name',
  'descriptor_merchant',
  'descriptor_phone',
  'mid_reference',
  'date_of_birth',
  'cof_type',
  'pares',
  'custom_note',
  'checkout_url',
  'receiver_name',
  'pan',
] as const;

/** Free text of requests without a card, which is kept with numbers masked. */
const FREE_TEXT = [
  'merchant_user_id',
  'merchant_domain_name',
  'merchant_affiliate_id',
  'merchant_product_name',
  'descriptor_merchant',
  'descriptor_phone',
  'custom_note',
] as const;
const CUSTOMER_TEXT = ['first_name', 'last_name', 'address', 'city', 'state'] as const;
const PAYOUT_TEXT = [
  'receiver_code',
  'receiver_name',
  'transfer_description',
  'receiver_address',
  'receiver_city',
  'receiver_street',
  'receiver_building_number',
  'receiver_apartment',
  'custom_note',
] as const;
/** Values of a few forms only, in which nothing else is kept. */
const PAYOUT_CODES = [
  'method',
  'type',
  'amount',
  'currency',
  'receiver_iban',
  'receiver_type',
  'receiver_bic',
  'receiver_country',
] as const;

/** A telephone number has 15 characters at most, and in test mode begins with a +. */
const PHONE_LENGTHS = [14, 15, 15];

/** As text of the field's form, so that it is not refused for its form alone. */
function inField(field: string, pan: string): string {
  switch (field) {
    case 'user_email':
      return `${pan}@example.com`;
    case 'callback_url':
    case 'redirect_url':
      return `https://shop.example/${pan}?card=${grouped(pan, '-')}`;
    case 'user_phone':
      return pan.length < 15 ? `+${pan}` : pan;
    case 'reference':
      return `${pan}ABCD`;
    case 'token':
      return `${pan}-${randomUUID()}`.slice(0, 36);
    default:
      return pan;
  }
}

/** Card data in every field and every place that an outsider can reach. What becomes of it is searched for at the end. */
export function seedCardData(world: () => World): void {
  async function accepted(request: Promise<Body>): Promise<Body> {
    const answer = await request;
    // Whatever becomes of it: the edge has read it.
    expect(answer).toHaveProperty('code');
    return answer;
  }

  test.each(['SALE', 'AUTH', 'AUTH3D', 'SALE3D', 'TOKENIZE'] as const)(
    '%s with its own number in every other field',
    async (type) => {
      const requests = CARD_FIELDS.flatMap((field) =>
        ['', ' ', '-'].map((separator, index) => {
          const card_number = newPan(field === 'user_phone' ? PHONE_LENGTHS[index] : undefined);
          const urls = { callback_url: 'https://shop.example/', redirect_url: 'https://shop.example/' };
          const request =
            type === 'TOKENIZE' ? { ...cardRequest('SALE'), transaction_type: type } : cardRequest(type, urls);
          const sent = { ...request, card_number, cvv: CVVS[index] };
          const written = field === 'user_phone' ? card_number : grouped(card_number, separator);
          return world().send({ ...sent, [field]: inField(field, written) });
        }),
      );
      await Promise.all(requests.map(accepted));
    },
    60_000,
  );

  test('requests without a card with a number in their free text', async () => {
    const sale = await world().send(cardRequest('SALE', { card_number: newPan(), cvv: CVV }));
    const auth = await world().send(cardRequest('AUTH', { card_number: newPan(), cvv: CVV }));
    expect([sale['code'], auth['code']]).toEqual([0, 0]);
    const texts = (names: readonly string[]): Body =>
      Object.fromEntries(names.map((name, index) => [name, grouped(newPan(), ['', ' ', '-'][index % 3] ?? '')]));
    for (const type of ['SETTLE', 'REFUND'] as const) {
      const reference = type === 'SETTLE' ? auth['reference'] : sale['reference'];
      expect(await world().send(followUp(type, reference, texts(FREE_TEXT)))).toMatchObject({ code: 0 });
    }
    const byToken = tokenRequest('SALE', sale['token'], texts([...FREE_TEXT, ...CUSTOMER_TEXT, 'card_holder']));
    expect(await world().send(byToken)).toMatchObject({ code: 0 });
    for (const fields of [{ reference: `${newPan()}ABCD` }, { transaction_unique_id: newPan() }]) {
      expect(await world().send(checkOf(fields))).toMatchObject({ code: 3014 });
    }
  });

  test('a card-entry page with numbers in its request and in its form', async () => {
    const texts = Object.fromEntries([...FREE_TEXT, ...CUSTOMER_TEXT].map((name) => [name, newPan()]));
    const request = pageRequest('SALE', { ...texts, redirect_url: 'https://shop.example/' });
    const opened = await world().send(request, CHECKOUT_PATH);
    const path = new URL(String(opened['checkout_url'])).pathname;
    const page = await world().exchange(world().ports.PORT, { method: 'GET', path });
    const [form] = formsOf({ status: 200, url: 'http://page', headers: {}, body: page.text });
    const right = { ...form?.fields, card_number: newPan(), card_exp: '12/30', cvv: CVV, card_holder: 'Ann Lee' };
    for (const wrong of [
      { card_number: newPan().slice(0, -1) },
      { card_holder: newPan(), card_number: '' },
      { card_exp: newPan() },
      { cvv: newPan() },
      { attempt: newPan() },
      { note: newPan() },
      { card_holder: grouped(newPan(), ' ') },
    ]) {
      const answer = await world().exchange(world().ports.PORT, {
        path,
        headers: FORM_TYPE,
        body: formOf({ ...right, ...wrong }),
      });
      expect([200, 303]).toContain(answer.status);
    }
  });

  test('payouts with a number in every field', async () => {
    const sent = [...PAYOUT_TEXT, ...PAYOUT_CODES].map((field) => {
      const more = field === 'receiver_code' ? { receiver_type: 'LEGAL' } : {};
      return world().send(payout({ ...more, cvv: CVV, card_number: newPan(), [field]: newPan() }), PAYOUT_PATH);
    });
    await Promise.all(sent.map(accepted));
    for (const field of ['transaction_unique_id', 'reference', 'transaction_type', 'note']) {
      await accepted(world().send({ ...checkOf({ reference: 'A'.repeat(20) }), [field]: newPan() }, STATUS_PATH));
    }
    for (const field of ['time_from', 'time_to', 'qod_type', 'order', 'page', 'limit']) {
      const query = { qod_type: 'transactions', time_from: 0, time_to: 1, [field]: newPan() };
      await accepted(world().send(query, QUERY_PATH));
    }
  });

  test('questions about callbacks with a number in every field', async () => {
    for (const field of ['reference', 'transaction_unique_id', 'time_from', 'limit', 'cursor', 'note']) {
      await accepted(world().send({ [field]: newPan() }, '/api/pf/callbacks'));
    }
    for (const field of ['cursor', 'since', 'wait', 'limit', 'note']) {
      await accepted(world().send({ wait: 0, [field]: newPan() }, '/api/pf/callbacks/events'));
    }
    await accepted(world().send({ callback_id: newPan() }, '/api/pf/callbacks/resend'));
  });

  const PORT_NAMES: readonly PortName[] = [
    'PORT',
    'THREEDS_PORT',
    'CARD_QUERY_PORT',
    'PAYOUT_QUERY_PORT',
    'CALLBACK_ADMIN_PORT',
  ];
  const HEADERS = [
    'user-agent',
    'referer',
    'origin',
    'cookie',
    'authorization',
    'x-forwarded-for',
    'x-request-id',
    'traceparent',
    'tracestate',
    'idempotency-key',
    'content-type',
    'content-encoding',
    'x-ds-signature',
    'accept-language',
  ];

  /** Requests that are refused before anyone reads their body, and bodies that cannot be read. */
  function unread(): RawRequest[] {
    const card = { ...CREDENTIALS, ...cardRequest('SALE'), card_number: newPan(), cvv: CVV };
    const query = () => `card_number=${newPan()}&cvv=${CVV}`;
    return [
      ...HEADERS.map((name) => ({
        body: JSON.stringify(card),
        headers: { [name]: name === 'content-type' ? `text/${newPan()}` : newPan() },
      })),
      ...HEADERS.map((name) => ({ method: 'GET', path: '/metrics', headers: { [name]: grouped(newPan(), '-') } })),
      { body: `{"card_number":"${newPan()}","cvv":"${CVV}"` },
      { body: `card_number=${newPan()}&cvv=${CVV}&%`, headers: FORM_TYPE },
      { body: formOf(card, { card_number: newPan(), cvv: CVV }), headers: FORM_TYPE },
      { body: JSON.stringify([card]) },
      { body: JSON.stringify({ ...card, card_number: { $ne: newPan() } }) },
      { body: JSON.stringify({ ...card, card_number: Number(newPan()) }) },
      { body: JSON.stringify({ ...card, [`custom_${newPan()}`]: 'x', [newPan()]: newPan() }) },
      { body: JSON.stringify({ ...card, merchant_password: newPan() }), headers: { 'x-forwarded-for': '198.19.0.1' } },
      { body: JSON.stringify({ ...card, merchant_account: newPan() }), headers: { 'x-forwarded-for': '198.19.0.2' } },
      { body: 'x'.repeat(65_536) + newPan() },
      ...['POST', 'GET', 'PUT', 'DELETE', 'OPTIONS'].flatMap((method) => [
        { method, path: `/${newPan()}`, body: '{}' },
        { method, path: `${CARD_PATH}?${query()}`, body: '{}' },
        { method, path: `${PAYOUT_PATH}?${query()}`, body: '{}' },
        { method, path: `/checkout/${newPan()}AAAAAA?${query()}`, headers: FORM_TYPE, body: query() },
        { method, path: `/challenge/${newPan()}?${query()}`, headers: FORM_TYPE, body: query() },
        { method, path: `/challenge/${newPan()}/result?${query()}` },
        { method, path: `/3ds/results?${query()}`, body: JSON.stringify({ messageType: newPan(), cvv: CVV }) },
        { method, path: `/operations/${newPan()}ABCD?account=${newPan()}` },
        { method, path: `/operations/${newPan()}ABCD/payment?account=${newPan()}` },
        { method, path: `/payouts/${newPan()}?account=${newPan()}`, body: `{"reason":"${newPan()}"}` },
        { method, path: `/deliveries/${newPan()}?account=${newPan()}`, body: `{"reason":"${newPan()}"}` },
        { method, path: `/deliveries?state=${newPan()}&account=${newPan()}&before=${newPan()}:x` },
        { method, path: `/callbacks?account=${newPan()}&payment=${newPan()}&before=${newPan()}:x&limit=1` },
        { method, path: `/callbacks/events?account=${newPan()}&after=${newPan()}:x&limit=1` },
        { method, path: `/callbacks/${newPan()}/resend?account=${newPan()}` },
        { method, path: `/metrics?${query()}` },
        { method, path: `/%${newPan()}` },
      ]),
    ];
  }

  test.each(PORT_NAMES)('paths, queries, headers and unreadable bodies at %s', async (name) => {
    for (const request of unread()) {
      const { status } = await world().exchange(world().ports[name], request);
      expect([name, request.path, status < 500 || status === 503]).toEqual([name, request.path, true]);
    }
  });

  test('the operations ports of all services', async () => {
    for (const [name, { opsUrl }] of world().services) {
      for (const path of ['metrics', 'health/ready', newPan()]) {
        const request = { method: 'GET', path: `/${path}?card_number=${newPan()}`, headers: { cookie: newPan() } };
        const { status } = await world().exchange(Number(new URL(opsUrl).port), request);
        expect([name, path, status < 500]).toEqual([name, path, true]);
      }
    }
  });

  test('forms of browsers at the pages of 3-D Secure', async () => {
    const first = await world().send(cardRequest('AUTH3D', { card_number: TEST_CARDS.challenged.visa, cvv: CVV }));
    const right = { PaReq: String(first['pareq']), TermUrl: 'https://localhost/term', MD: String(first['reference']) };
    const path = new URL(String(first['acs_url'])).pathname;
    const cres = Buffer.from(JSON.stringify({ messageType: 'CRes', messageVersion: '2.2.0', pan: newPan() })).toString(
      'base64url',
    );
    for (const [at, form] of [
      [path, { ...right, PaReq: newPan() }],
      [path, { ...right, MD: newPan() }],
      [path, { ...right, TermUrl: `https://evil.example/${newPan()}` }],
      [path, { ...right, card_number: newPan(), cvv: CVV }],
      ['/challenge/notification', { cres, threeDSSessionData: newPan() }],
      ['/challenge/notification', { cres: newPan(), threeDSSessionData: path.split('/').pop() }],
    ] as const) {
      const answer = await world().exchange(world().ports.THREEDS_PORT, {
        path: at,
        headers: FORM_TYPE,
        body: formOf(form),
      });
      expect(answer.status).toBeLessThan(500);
    }
  });

  test('a request with a key, twice', async () => {
    const fields = { ...cardRequest('SALE', { card_number: newPan(), cvv: CVV }), transaction_unique_id: uniqueId() };
    const key = { 'idempotency-key': newPan() };
    expect(await world().send(fields, CARD_PATH, key)).toMatchObject({ code: 0 });
    expect(await world().send(fields, CARD_PATH, key)).toMatchObject({ code: 0 });
  });
}
