import type { TransactionType } from '@gateway/contracts';
import { ChargeCard, messageForField, Secret, TRANSACTION_TYPES, VoidAuthorization } from '@gateway/contracts';
import Ajv2020 from 'ajv/dist/2020';
import fc from 'fast-check';
import { DUPLICATE, parseJsonBody } from './body';
import type { CardRequests, CheckoutRequest } from './card-request';
import { CHECKOUT_TYPES } from './card-request';
import type { FieldCheck } from './field-check';
import { checkTable } from './field-check';
import { cardTable, checkoutTable } from './fields';
import type { Sent } from './raw-fields.fixture';
import { rawFields } from './raw-fields.fixture';

const NOW_MS = Date.UTC(2025, 5, 15, 12);
const PAN = '4111111111111111';
const OTHER_PAN = '5555555555554444';
const TOKEN = '3b0e9c1e-55a1-8c3f-9f7a-0123456789ab';

type Fields = Record<string, Sent>;

const CUSTOMER: Fields = {
  first_name: 'Ann',
  last_name: 'Lee',
  country: 'DEU',
  user_email: 'ann@example.com',
  user_ip: '192.0.2.1',
};
const MONEY: Fields = { amount: '10.00', currency: 'XTS' };
const CARD: Fields = { card_number: PAN, card_exp_month: '12', card_exp_year: '2030' };
const ID: Fields = { transaction_unique_id: 'order-00000001' };
/** Fields that the gateway adds to a command. */
const ACCEPTED = {
  paymentId: 'ABCDEFGHIJKLMNOP',
  reference: 'ABCDEFGHIJKLMNOP0001',
  merchantAccount: 'demo_merchant',
  transactionUniqueId: 'order-00000001',
  acceptedAt: NOW_MS,
  deadline: NOW_MS,
};
const BASE: Fields = { reference: 'ABCDEFGHIJKLMNOP0001' };
const URLS: Fields = { callback_url: 'https://shop.example/callback', redirect_url: 'https://shop.example/done' };
const FULL_CARD: Fields = { ...ID, ...MONEY, ...CARD, card_holder: 'Ann Lee', ...CUSTOMER };
const BY_TOKEN: Fields = { ...ID, ...MONEY, token: TOKEN, card_holder: 'Ann Lee', ...CUSTOMER };

/** The kinds of requests in the table: one per type, and the request for a card-entry page. */
const KINDS = [...TRANSACTION_TYPES, 'CHECKOUT'] as const;
type Kind = (typeof KINDS)[number];
type Requests = CardRequests & { CHECKOUT: CheckoutRequest };

/** Required fields only. */
const MINIMAL: Record<Kind, Fields> = {
  AUTH: FULL_CARD,
  AUTH3D: FULL_CARD,
  SALE: FULL_CARD,
  SALE3D: { ...FULL_CARD, ...URLS },
  SETTLE: { ...ID, ...MONEY, ...BASE },
  VOID: { ...ID, ...BASE },
  REFUND: { ...ID, ...MONEY, ...BASE },
  CHECK: ID,
  TOKENIZE: { ...ID, ...CARD, card_holder: 'Ann Lee' },
  CHECKOUT: { ...ID, ...MONEY, ...CUSTOMER, redirect_url: 'https://shop.example/done' },
};

/** A valid value for each field, and values around its rule. In the order of the interface's table, `pares` last. */
const EXAMPLES: Record<string, { valid: Sent[]; invalid: Sent[] }> = {
  transaction_unique_id: {
    valid: ['order-00000001', 'a'.repeat(11), '~'.repeat(45), '!"#$%&\'()*+,', 'EXPIRY-00000', 'xexpiry-0000'],
    invalid: [
      'a'.repeat(10),
      'a'.repeat(46),
      'order 00000001',
      ' order-00000001',
      'order-ü0000001',
      'order-\t0000001',
      'expiry-00001',
      'expiry-ABCDEFGHIJKLMNOP0001',
    ],
  },
  amount: {
    valid: ['10.00', '0', '0.0001', '9999999.9999', '0000010.5', 0, 0.0001, 9999999.9999, 100, 1e2, 12.5, 1.1, -0],
    invalid: [
      '10000000',
      '9999999.99991',
      '10000000.0000',
      '0.00001',
      '10.00000',
      '-1',
      '-0',
      '+1',
      '1e2',
      '1E2',
      '1e-2',
      '.5',
      '5.',
      '1,5',
      '1 000',
      ' 1',
      '1\n',
      '0x10',
      '0b1',
      'NaN',
      'Infinity',
      '1_000',
      '١',
      '１０',
      'ten',
      '1'.repeat(60_000),
      '0.' + '0'.repeat(60_000),
      10000000,
      9999999.99991,
      0.00001,
      1e-7,
      1e21,
      1e400,
      -1e400,
      -1,
      -0.0001,
      NaN,
      2 ** 53,
      2 ** 53 + 2,
      0.1 + 0.2,
      Number.MIN_VALUE,
      Number.MAX_VALUE,
    ],
  },
  currency: {
    valid: ['XTS', 'EUR', 'JPY', 'BHD'],
    invalid: ['xts', 'eur', 'EU', 'EURO', 'XXX', 'DEM', 'ABC', 'EUR ', '978'],
  },
  card_number: {
    valid: [PAN, '4222222222222', '378282246310005', '6304000000000000000', '0000000000000000'],
    invalid: [
      '4111111111111112',
      '411111111111',
      '42222222222222222222',
      '4111 1111 1111 1111',
      '4111-1111-1111-1111',
      '４１１１１１１１１１１１１１１１',
      'abcdefghijklmnop',
    ],
  },
  card_exp_month: { valid: ['01', '09', '10', '12'], invalid: ['00', '13', '1', '012', '-1', ' 1', '1e', '１２'] },
  card_exp_year: {
    valid: ['2020', '2030', '0000', '9999'],
    invalid: ['30', '203', '20300', '-203', '20.0', '2e03', 'abcd'],
  },
  cvv: { valid: ['123', '000', '1234'], invalid: ['12', '12345', '12a', '1.2', '-12', ' 123'] },
  token: { valid: [TOKEN, 'x'.repeat(36)], invalid: ['x'.repeat(35), 'x'.repeat(37)] },
  card_holder: {
    valid: ['Al', 'A'.repeat(32), '李雷', '😀'.repeat(32)],
    invalid: ['A', 'A'.repeat(33), '😀', '😀'.repeat(33)],
  },
  first_name: {
    valid: ['A', 'A'.repeat(32), '😀'.repeat(32), "D'Arc-Ñ", '<script>'],
    invalid: ['A'.repeat(33), '😀'.repeat(33)],
  },
  last_name: { valid: ['A', 'A'.repeat(32)], invalid: ['A'.repeat(33)] },
  address: { valid: ['12', 'A'.repeat(64)], invalid: ['1', 'A'.repeat(65)] },
  city: { valid: ['Au', 'A'.repeat(32)], invalid: ['Å', 'A'.repeat(33)] },
  state: { valid: ['A', 'A'.repeat(32)], invalid: ['A'.repeat(33)] },
  zip: { valid: ['12', 'A'.repeat(10)], invalid: ['1', 'A'.repeat(11)] },
  country: {
    valid: ['DEU', 'USA', 'SSD', 'ALA'],
    invalid: ['deu', 'DE', 'DEUT', 'XKX', 'XKK', 'ANT', 'SCG', 'SUN', 'AAA', 'ZZZ'],
  },
  user_phone: { valid: ['+491234', '1234567', '+12345678901234', 'ext. 12'], invalid: ['123456', '1'.repeat(16)] },
  user_email: {
    valid: [
      'ann@example.com',
      'a@b.co',
      "!#$%&'*+/=?^_`{|}~-@x-y.example",
      'a.b.c@d.e.example',
      'jürgen@müller.example',
      `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(59)}.de`,
    ],
    invalid: [
      'a@b.c',
      'ann',
      'ann@',
      '@example.com',
      'ann@example',
      'ann@@example.com',
      'ann@ex@ample.com',
      'ann lee@example.com',
      'ann@example.com ',
      'ann@exa mple.com',
      '.ann@example.com',
      'ann.@example.com',
      'a..b@example.com',
      'ann@.example.com',
      'ann@example..com',
      'ann@example.com.',
      'ann@-example.com',
      'ann@example-.com',
      'ann@192.0.2.1',
      'ann@[192.0.2.1]',
      '"ann"@example.com',
      'Ann <ann@example.com>',
      'ann@example.com,b@example.com',
      `${'a'.repeat(65)}@example.com`,
      `ann@${'b'.repeat(64)}.com`,
      `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(60)}.de`,
    ],
  },
  user_ip: {
    valid: ['192.0.2.1', '::1', '2001:db8::ffff', '::ffff:192.0.2.1'],
    invalid: ['192.0.2', '192.0.2.256', '192.0.2.1:80', '[::1]', 'fe80::1%1', 'localhost', 'a'.repeat(46)],
  },
  callback_url: {
    valid: [
      'https://a',
      'https://shop.example',
      'HTTPS://shop.example:8443/p?q=@#f',
      'https://[::1]/',
      'https://bücher.example/ü',
      `https://a/${'b'.repeat(2038)}`,
    ],
    invalid: [
      'http://shop.example',
      'https:',
      'https://',
      'https:///path',
      'https:shop.example',
      'https:/shop.example',
      '//shop.example',
      '/path',
      'shop.example',
      'ftp://shop.example',
      'javascript:alert(1)',
      'https://user@shop.example',
      'https://user:pw@shop.example',
      'https://@shop.example',
      'https://:@shop.example',
      'https://shop.example\\@evil.example',
      'https:\\\\shop.example',
      'https://shop.example/a b',
      ' https://shop.example',
      'https://shop.example ',
      'https://shop.example:99999',
      'https://shop.example:x',
      'https://?q',
      'https://#f',
      'https://[::1',
      `https://a/${'b'.repeat(2039)}`,
    ],
  },
  redirect_url: {
    valid: ['https://shop.example/done?order=1'],
    invalid: ['http://shop.example/done', 'https://u@shop.example', `https://a/${'b'.repeat(2039)}`],
  },
  reference: {
    valid: ['ABCDEFGHIJKLMNOP0001', 'x'.repeat(20), `${' '.repeat(19)}x`],
    invalid: ['x'.repeat(19), 'x'.repeat(21)],
  },
  merchant_user_id: { valid: ['1', 'A'.repeat(32)], invalid: ['A'.repeat(33)] },
  merchant_domain_name: { valid: ['1', 'A'.repeat(255)], invalid: ['A'.repeat(256)] },
  merchant_affiliate_id: { valid: ['1', 'A'.repeat(255)], invalid: ['A'.repeat(256)] },
  merchant_product_name: { valid: ['1', 'A'.repeat(255)], invalid: ['A'.repeat(256)] },
  descriptor_merchant: { valid: ['1', 'A'.repeat(255)], invalid: ['A'.repeat(256)] },
  descriptor_phone: { valid: ['1', 'A'.repeat(255)], invalid: ['A'.repeat(256)] },
  mid_reference: { valid: ['MD0123456789ABCD', 'x'.repeat(16)], invalid: ['x'.repeat(15), 'x'.repeat(17)] },
  date_of_birth: {
    valid: ['1990-01-31', '2025-06-14', '2024-02-29', '2000-02-29', '1900-02-28'],
    invalid: [
      '2025-06-15',
      '2025-06-16',
      '2026-01-01',
      '2023-02-29',
      '1900-02-29',
      '1990-04-31',
      '1990-00-10',
      '1990-13-10',
      '1990-01-00',
      '1990-01-32',
      '90-01-01',
      '1990-1-1',
      '01.01.1990',
      '1990/01/01',
      '19900101',
      '1990-01-01T00:00',
      '0000-01-01',
      '-990-01-01',
    ],
  },
  cof_type: {
    valid: ['CIT-initial', 'CIT-subsequent', 'MIT'],
    invalid: ['mit', 'CIT', 'CIT-Initial', 'MIT ', 'toString'],
  },
  pares: {
    valid: ['x', 'aA0-_', 'x'.repeat(4096)],
    invalid: ['x'.repeat(4097), 'a+b', 'a/b', 'a=', 'a.b', 'a b', 'ü'],
  },
};
const NAMES = Object.keys(EXAMPLES);
/** Invalid for every field. */
const NO_TEXT: Sent[] = [true, false, DUPLICATE];
const noTextOr = (...values: Sent[]): Sent[] => [...values, ...NO_TEXT];
const valid = (name: string): Sent => EXAMPLES[name]!.valid[0]!;

const CHARGE_OPTIONAL = [
  'address',
  'city',
  'state',
  'zip',
  'user_phone',
  'merchant_user_id',
  'merchant_domain_name',
  'merchant_affiliate_id',
  'merchant_product_name',
  'descriptor_merchant',
  'descriptor_phone',
  'mid_reference',
  'date_of_birth',
  'cof_type',
];
const FOLLOW_UP_OPTIONAL = ['merchant_user_id', 'descriptor_merchant', 'descriptor_phone'];

/** In addition to the required fields of MINIMAL: optional and forbidden ones. */
const OPTIONAL: Record<Kind, string[]> = {
  AUTH: ['cvv', ...CHARGE_OPTIONAL],
  AUTH3D: ['cvv', 'callback_url', 'redirect_url', ...CHARGE_OPTIONAL],
  SALE: ['cvv', ...CHARGE_OPTIONAL],
  SALE3D: ['cvv', ...CHARGE_OPTIONAL],
  SETTLE: ['merchant_domain_name', 'merchant_affiliate_id', 'merchant_product_name', ...FOLLOW_UP_OPTIONAL],
  VOID: FOLLOW_UP_OPTIONAL,
  REFUND: FOLLOW_UP_OPTIONAL,
  CHECK: ['reference'],
  TOKENIZE: ['cvv'],
  CHECKOUT: ['callback_url', ...CHARGE_OPTIONAL],
};
const FORBIDDEN: Partial<Record<Kind, string[]>> = {
  AUTH3D: ['token'],
  SALE3D: ['token'],
  TOKENIZE: ['token'],
  VOID: ['amount', 'currency'],
  CHECKOUT: ['card_number', 'card_exp_month', 'card_exp_year', 'cvv', 'token'],
};
/** Allowed depending on other fields; they have their own tests. */
const CONDITIONAL: Partial<Record<Kind, string[]>> = {
  AUTH: ['token', 'reference', 'pares'],
  SALE: ['token', 'reference', 'pares'],
};

const tableOf = (kind: Kind) => (kind === 'CHECKOUT' ? checkoutTable('SALE') : cardTable(kind));

function checkMap<K extends Kind>(kind: K, fields: ReadonlyMap<string, Sent>): FieldCheck<Requests[K]> {
  return checkTable<unknown>(tableOf(kind), rawFields(fields), NOW_MS) as FieldCheck<Requests[K]>;
}

function check<K extends Kind>(kind: K, fields: Fields): FieldCheck<Requests[K]> {
  return checkMap(kind, new Map(Object.entries(fields)));
}

function without(fields: Fields, ...names: string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

function problemsOf(type: Kind, fields: Fields): string[] {
  const result = check(type, fields);
  return result.ok ? [] : result.problems.map(({ code, field }) => `${code} ${field}`);
}

function requestOf<K extends Kind>(type: K, fields: Fields): Requests[K] {
  const result = check(type, fields);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.request;
}

/** A complete request of some type that reads the field. */
function requestWith(name: string, value: Sent): [TransactionType, Fields] {
  if (name === 'token') return ['SALE', { ...BY_TOKEN, token: value }];
  if (name === 'pares') return ['SALE', { ...FULL_CARD, ...BASE, pares: value }];
  if (name === 'reference') return ['SETTLE', { ...MINIMAL.SETTLE, reference: value }];
  return ['SALE3D', { ...MINIMAL.SALE3D, [name]: value }];
}

const READ = KINDS.flatMap((type) =>
  [...Object.keys(MINIMAL[type]), ...OPTIONAL[type]].map((name): [Kind, string] => [type, name]),
);

describe('a field', () => {
  it.each(NAMES.flatMap((name) => EXAMPLES[name]!.valid.map((value): [string, Sent] => [name, value])))(
    '%s may be %j',
    (name, value) => {
      const [type, fields] = requestWith(name, value);
      expect(problemsOf(type, fields)).toEqual([]);
    },
  );

  it.each(NAMES.flatMap((name) => EXAMPLES[name]!.invalid.map((value): [string, Sent] => [name, value])))(
    '%s may not be %j',
    (name, value) => {
      const [type, fields] = requestWith(name, value);
      const result = check(type, fields);
      expect(result).toEqual({
        ok: false,
        problems: [expect.objectContaining({ field: name, code: 1004, message: `Invalid ${name} in request message` })],
      });
    },
  );

  it.each(NAMES)('the documented schema of %s allows its values, and no other types', (name) => {
    const [type] = requestWith(name, valid(name));
    const { rows, lastRows = [] } = tableOf(type);
    const row = [...rows, ...lastRows].find((one) => one.name === name);
    const matches = new Ajv2020({ strict: false, validateFormats: false }).compile(row?.schema ?? false);
    expect(EXAMPLES[name]!.valid.filter((value) => !matches(value))).toEqual([]);
    expect([true, [], {}].filter((value) => matches(value))).toEqual([]);
  });

  it.each(NAMES)('%s accepts no other type and no repetition', (name) => {
    const odd = name === 'amount' ? NO_TEXT : noTextOr(0, 1, 12, 4111111111111111, NaN);
    for (const value of odd) {
      const [type, fields] = requestWith(name, value);
      expect(problemsOf(type, fields)).toEqual([`1004 ${name}`]);
    }
  });

  it.each(NAMES)('%s allows no control characters and no lone surrogates', (name) => {
    const value = valid(name) as string;
    for (const bad of [
      '\0',
      '\u0001',
      '\t',
      '\n',
      '\r',
      '\u001b',
      '\u001f',
      '\u007f',
      '\u0080',
      '\u009f',
      '\ud800',
      '\udc00',
      '\udc00\udc00',
      '\ud800\ud800',
    ]) {
      for (const spoilt of [
        bad + value.slice(1),
        value.slice(0, -1) + bad,
        value.slice(0, 1) + bad + value.slice(2),
        bad,
      ]) {
        const [type, fields] = requestWith(name, spoilt);
        expect(problemsOf(type, fields)).toEqual([`1004 ${name}`]);
      }
    }
  });

  it('is refused, however long it is', () => {
    for (const name of NAMES) {
      for (const unit of ['a', '1', '.', 'a.', ':', 'a@', '4 ', '😀']) {
        const [type, fields] = requestWith(name, unit.repeat(65_536 / unit.length));
        expect(problemsOf(type, fields)).toEqual([`1004 ${name}`]);
      }
    }
  });
});

describe.each(KINDS)('%s', (type) => {
  const minimal = MINIMAL[type];
  const required = Object.keys(minimal);
  const read = [...required, ...OPTIONAL[type]];

  it('accepts a request with the required fields only', () => {
    expect(problemsOf(type, minimal)).toEqual([]);
    expect(requestOf(type, minimal).transactionType).toBe(type === 'CHECKOUT' ? 'SALE' : type);
  });

  it('accepts a request with all its fields', () => {
    expect(problemsOf(type, { ...Object.fromEntries(read.map((name) => [name, valid(name)])), ...minimal })).toEqual(
      [],
    );
  });

  it.each(required)('needs %s', (name) => {
    for (const fields of [without(minimal, name), { ...minimal, [name]: '' }, { ...minimal, [name]: null }]) {
      const result = check(type, fields);
      expect(result).toEqual({
        ok: false,
        problems: [expect.objectContaining({ field: name, code: 1002, message: `${name} not present in request` })],
      });
    }
  });

  it('treats an empty or null optional field as absent', () => {
    for (const name of OPTIONAL[type]) {
      expect(problemsOf(type, { ...minimal, [name]: '' })).toEqual([]);
      expect(problemsOf(type, { ...minimal, [name]: null })).toEqual([]);
    }
  });

  it('checks each field it reads', () => {
    for (const name of read) {
      for (const value of noTextOr(EXAMPLES[name]!.invalid[0]!)) {
        expect(problemsOf(type, { ...minimal, [name]: value })).toEqual([`1004 ${name}`]);
      }
    }
  });

  it('refuses forbidden fields, whatever their value', () => {
    for (const name of FORBIDDEN[type] ?? []) {
      for (const value of noTextOr(valid(name), 'x', 1)) {
        const result = check(type, { ...minimal, [name]: value });
        expect(result).toEqual({
          ok: false,
          problems: [
            expect.objectContaining({ field: name, code: 1006, message: `${name} should not be present in request` }),
          ],
        });
      }
      expect(problemsOf(type, { ...minimal, [name]: '' })).toEqual([]);
      expect(problemsOf(type, { ...minimal, [name]: null })).toEqual([]);
    }
  });

  it('ignores all other fields', () => {
    const others = NAMES.filter(
      (name) => ![...read, ...(FORBIDDEN[type] ?? []), ...(CONDITIONAL[type] ?? [])].includes(name),
    );
    const expected = JSON.stringify(requestOf(type, minimal));
    for (const name of [...others, 'anything', '__proto__', 'constructor', 'merchant_password', 'PARes', 'Custom_a']) {
      for (const value of noTextOr('unread', PAN, 1)) {
        const fields = new Map<string, Sent>([...Object.entries(minimal), [name, value]]);
        const result = checkMap(type, fields);
        expect(JSON.stringify(result)).toBe(`{"ok":true,"request":${expected}}`);
      }
    }
  });

  it('reports all problems together, in the order of the table', () => {
    const invalid = NAMES.filter((name) => read.includes(name));
    const inReverse: Fields = Object.fromEntries(
      invalid.toReversed().map((name) => [name, EXAMPLES[name]!.invalid[0]!]),
    );
    expect(problemsOf(type, inReverse)).toEqual(invalid.map((name) => `1004 ${name}`));
    expect(problemsOf(type, {})).toEqual(NAMES.filter((name) => required.includes(name)).map((name) => `1002 ${name}`));
  });
});

it('reports missing, invalid and forbidden fields together, custom ones after the table, pares last', () => {
  const fields: Fields = {
    pares: '!',
    custom_b: 1,
    cof_type: 'x',
    token: 'short',
    card_exp_year: '30',
    card_number: '1',
    amount: 'ten',
    custom_a: '',
  };
  expect(problemsOf('AUTH', fields)).toEqual([
    '1002 transaction_unique_id',
    '1004 amount',
    '1002 currency',
    '1006 card_number',
    '1006 card_exp_year',
    '1004 token',
    '1002 card_holder',
    '1002 first_name',
    '1002 last_name',
    '1002 country',
    '1002 user_email',
    '1002 user_ip',
    '1002 reference',
    '1004 cof_type',
    '1004 custom_b',
    '1004 pares',
  ]);
});

it('has the registered message for each problem', () => {
  for (const [type, name] of READ) {
    const result = check(type, { ...MINIMAL[type], [name]: true });
    expect(result.ok ? undefined : result.problems[0].message).toBe(messageForField(1004, name));
  }
});

describe.each(['AUTH', 'SALE'] as const)('%s by token', (type) => {
  it('needs no card data', () => {
    expect(requestOf(type, BY_TOKEN).instrument).toEqual({ kind: 'token', token: TOKEN });
  });

  it('still needs the cardholder, and does not keep it', () => {
    expect(problemsOf(type, without(BY_TOKEN, 'card_holder'))).toEqual(['1002 card_holder']);
    expect(JSON.stringify(requestOf(type, { ...BY_TOKEN, card_holder: 'Somebody' }))).not.toContain('Somebody');
  });

  it.each(['card_number', 'card_exp_month', 'card_exp_year', 'cvv'])('excludes %s', (name) => {
    for (const value of noTextOr(valid(name), 'wrong', 1)) {
      const result = check(type, { ...BY_TOKEN, [name]: value });
      expect(result).toEqual({
        ok: false,
        problems: [
          expect.objectContaining({ field: name, code: 1006, message: `${name} should not be present in request` }),
        ],
      });
    }
    expect(problemsOf(type, { ...BY_TOKEN, [name]: '' })).toEqual([]);
    expect(problemsOf(type, { ...BY_TOKEN, [name]: null })).toEqual([]);
  });

  it('excludes all of them', () => {
    expect(problemsOf(type, { ...BY_TOKEN, ...CARD, cvv: '123' })).toEqual([
      '1006 card_number',
      '1006 card_exp_month',
      '1006 card_exp_year',
      '1006 cvv',
    ]);
  });

  it('needs card data if the token is empty', () => {
    expect(problemsOf(type, { ...BY_TOKEN, token: '' })).toEqual([
      '1002 card_number',
      '1002 card_exp_month',
      '1002 card_exp_year',
    ]);
  });

  it('is by token even when the token is invalid', () => {
    expect(problemsOf(type, { ...BY_TOKEN, token: true })).toEqual(['1004 token']);
  });
});

describe.each(['AUTH', 'SALE'] as const)('%s after an AUTH3D', (type) => {
  const proof = { ...BASE, pares: 'proof' };

  it.each([FULL_CARD, BY_TOKEN])('carries reference and pares, by card or by token', (fields) => {
    const expected = { reference: 'ABCDEFGHIJKLMNOP0001', pares: 'proof' };
    expect(requestOf(type, { ...fields, ...proof }).authentication).toEqual(expected);
    expect(requestOf(type, fields)).not.toHaveProperty('authentication');
  });

  it('needs both or none', () => {
    expect(problemsOf(type, { ...FULL_CARD, ...BASE })).toEqual(['1002 pares']);
    expect(problemsOf(type, { ...FULL_CARD, pares: 'proof' })).toEqual(['1002 reference']);
    expect(problemsOf(type, { ...FULL_CARD, ...BASE, pares: '' })).toEqual(['1002 pares']);
    expect(problemsOf(type, { ...FULL_CARD, reference: 'short' })).toEqual(['1004 reference', '1002 pares']);
    expect(problemsOf(type, { ...FULL_CARD, reference: null, pares: null })).toEqual([]);
  });
});

describe.each(CHECKOUT_TYPES)('a card-entry page for a %s', (type) => {
  it("keeps the merchant's fields, and the return address", () => {
    const fields = { ...MINIMAL.CHECKOUT, ...URLS, mid_reference: 'MD0123456789ABCD', custom_a: '1' };
    expect(checkTable(checkoutTable(type), rawFields(fields), NOW_MS)).toEqual({
      ok: true,
      request: {
        transactionType: type,
        transactionUniqueId: 'order-00000001',
        amountE4: 100_000,
        currency: 'XTS',
        midReference: 'MD0123456789ABCD',
        customer: { firstName: 'Ann', lastName: 'Lee', country: 'DEU', email: 'ann@example.com', ip: '192.0.2.1' },
        notes: { custom: { custom_a: '1' } },
        callbackUrl: 'https://shop.example/callback',
        redirectUrl: 'https://shop.example/done',
      },
    });
  });
});

describe('CHECK', () => {
  it('looks for a transaction_unique_id, even beside a reference', () => {
    const by = { transactionUniqueId: 'order-00000001' };
    expect(requestOf('CHECK', ID)).toEqual({ transactionType: 'CHECK', by });
    expect(requestOf('CHECK', { ...ID, ...BASE })).toEqual({ transactionType: 'CHECK', by });
  });

  it('looks for a reference', () => {
    expect(requestOf('CHECK', BASE)).toEqual({ transactionType: 'CHECK', by: { reference: 'ABCDEFGHIJKLMNOP0001' } });
  });

  it('needs one of the two', () => {
    expect(problemsOf('CHECK', {})).toEqual(['1002 transaction_unique_id']);
    expect(problemsOf('CHECK', { transaction_unique_id: '', reference: '' })).toEqual(['1002 transaction_unique_id']);
    expect(problemsOf('CHECK', { reference: 'short' })).toEqual(['1004 reference']);
  });

  it('finds the automatic void at the end of a hold', () => {
    const by = { transactionUniqueId: 'expiry-ABCDEFGHIJKLMNOP0001' };
    expect(requestOf('CHECK', { transaction_unique_id: by.transactionUniqueId }).by).toEqual(by);
  });
});

describe('custom fields', () => {
  const custom = (fields: Fields) => requestOf('VOID', { ...MINIMAL.VOID, ...fields }).notes.custom;
  const problems = (fields: Fields) => problemsOf('VOID', { ...MINIMAL.VOID, ...fields });
  const many = (count: number): Fields =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`custom_${i}`, 'x']));

  it('are kept as they are', () => {
    const sent = { custom_a: '1', custom_user_phone: '+49 30 1' };
    expect(custom(sent)).toEqual(sent);
    expect(custom({})).toBeUndefined();
  });

  it('fit the contracts at their limits', () => {
    const names = Array.from({ length: 20 }, (_, i) => `custom_${'a'.repeat(55)}${10 + i}`);
    const { notes, baseReference } = requestOf('VOID', {
      ...MINIMAL.VOID,
      ...Object.fromEntries(names.map((name) => [name, '😀'.repeat(255)])),
    });
    expect(Object.keys(notes.custom ?? {})).toEqual(names);
    expect(VoidAuthorization.problem({ ...ACCEPTED, baseReference, notes })).toBeUndefined();
  });

  it('that are empty or null count as absent', () => {
    expect(custom({ custom_a: '', custom_b: null, 'custom_not a name': '' })).toBeUndefined();
    expect(Object.keys(custom({ custom_a: '', custom_b: null, ...many(20) }) ?? {})).toHaveLength(20);
  });

  it.each([`custom_${'a'.repeat(57)}`, 'custom__', 'custom_0'])('may be named %s', (name) =>
    expect(custom({ [name]: 'x' })).toEqual({ [name]: 'x' }),
  );

  it.each([
    ['custom_', 'custom_'],
    ['custom_A', 'custom_A'],
    ['custom_a-b', 'custom_a?b'],
    ['custom_ü', 'custom_?'],
    ['custom_$&', 'custom_??'],
    ['custom_a\0', 'custom_a?'],
    ['custom_<b>', 'custom_?b?'],
    [`custom_${'a'.repeat(58)}`, `custom_${'a'.repeat(57)}`],
    [`custom_${'a'.repeat(60_000)}`, `custom_${'a'.repeat(57)}`],
    [`custom_${PAN}`, 'custom_411111******1111'],
    [`custom_${'a'.repeat(45)}${PAN}`, `custom_${'a'.repeat(45)}411111******`],
  ])('may not be named %j', (name, field) => {
    const result = check('VOID', { ...MINIMAL.VOID, [name]: 'x' });
    expect(result).toEqual({
      ok: false,
      problems: [expect.objectContaining({ field, code: 1004, message: `Invalid ${field} in request message` })],
    });
  });

  it('have values of 1 to 255 characters', () => {
    expect(custom({ custom_a: 'x'.repeat(255), custom_b: '😀'.repeat(255) })).toBeDefined();
    expect(problems({ custom_a: 'x'.repeat(256) })).toEqual(['1004 custom_a']);
    expect(problems({ custom_a: '😀'.repeat(256) })).toEqual(['1004 custom_a']);
  });

  it('have text values without control characters', () => {
    for (const value of noTextOr(1, 'a\0b', 'a\nb', '\ud800')) {
      expect(problems({ custom_a: value })).toEqual(['1004 custom_a']);
    }
  });

  it('are twenty at most: later ones are invalid', () => {
    expect(Object.keys(custom(many(20)) ?? {})).toHaveLength(20);
    expect(problems(many(21))).toEqual(['1004 custom_20']);
    expect(problems({ custom_bad: 1, ...many(21) })).toEqual(['1004 custom_bad', '1004 custom_19', '1004 custom_20']);
    expect(problems(many(6_000))).toHaveLength(5_980);
  });

  it('are checked in every request, CHECK included', () => {
    for (const type of KINDS) {
      expect(problemsOf(type, { ...MINIMAL[type], custom_a: 1 })).toEqual(['1004 custom_a']);
      expect(problemsOf(type, { ...MINIMAL[type], custom_a: '1' })).toEqual([]);
    }
  });
});

describe('the request', () => {
  const everything: Fields = {
    ...FULL_CARD,
    cvv: '123',
    address: 'Main Street 12',
    city: 'Springfield',
    state: 'IL',
    zip: '62701',
    user_phone: '+12175550123',
    merchant_user_id: 'u-1',
    merchant_domain_name: 'shop.example',
    merchant_affiliate_id: 'a-1',
    merchant_product_name: 'Shoes',
    descriptor_merchant: 'SHOP*SHOES',
    descriptor_phone: '+1800555',
    mid_reference: 'MD0123456789ABCD',
    date_of_birth: '1990-01-31',
    cof_type: 'CIT-initial',
    custom_order: '7',
  };
  const customer = {
    firstName: 'Ann',
    lastName: 'Lee',
    address: 'Main Street 12',
    city: 'Springfield',
    state: 'IL',
    zip: '62701',
    country: 'DEU',
    phone: '+12175550123',
    email: 'ann@example.com',
    ip: '192.0.2.1',
    dateOfBirth: '1990-01-31',
  };
  const notes = {
    userId: 'u-1',
    domainName: 'shop.example',
    affiliateId: 'a-1',
    productName: 'Shoes',
    descriptor: 'SHOP*SHOES',
    descriptorPhone: '+1800555',
    custom: { custom_order: '7' },
  };
  const card = { pan: PAN, expMonth: '12', expYear: '2030', holder: 'Ann Lee' };

  it.each(['AUTH', 'AUTH3D', 'SALE', 'SALE3D'] as const)('of an %s has all fields of the request', (type) => {
    const request = requestOf(type, { ...everything, ...URLS });
    const urls = { callbackUrl: 'https://shop.example/callback', redirectUrl: 'https://shop.example/done' };
    expect(request).toEqual({
      transactionType: type,
      transactionUniqueId: 'order-00000001',
      amountE4: 100_000,
      currency: 'XTS',
      instrument: { kind: 'card', card: expect.any(Secret) as unknown, cvv: expect.any(Secret) as unknown },
      midReference: 'MD0123456789ABCD',
      cofType: 'CIT-initial',
      customer,
      notes,
      ...(type.endsWith('3D') ? urls : {}),
    });
    const { instrument } = request;
    if (instrument.kind !== 'card') throw new Error('no card');
    expect(instrument.card.expose()).toEqual(card);
    expect(instrument.cvv?.expose()).toBe('123');
  });

  it('has no property for absent fields', () => {
    const { instrument, customer: sparse, ...request } = requestOf('SALE', FULL_CARD);
    expect(Object.keys(request).sort()).toEqual([
      'amountE4',
      'currency',
      'notes',
      'transactionType',
      'transactionUniqueId',
    ]);
    expect(Object.keys(instrument)).toEqual(['kind', 'card']);
    expect(Object.keys(sparse).sort()).toEqual(['country', 'email', 'firstName', 'ip', 'lastName']);
    expect(request.notes).toEqual({});
  });

  it('of a follow-up has its base, and only the notes that it accepts', () => {
    const sent = { ...everything, ...BASE };
    const some = {
      userId: 'u-1',
      descriptor: 'SHOP*SHOES',
      descriptorPhone: '+1800555',
      custom: { custom_order: '7' },
    };
    const common = { transactionUniqueId: 'order-00000001', baseReference: 'ABCDEFGHIJKLMNOP0001' };
    const money = { amountE4: 100_000, currency: 'XTS' };
    expect(requestOf('SETTLE', sent)).toEqual({ transactionType: 'SETTLE', ...common, ...money, notes });
    expect(requestOf('REFUND', sent)).toEqual({ transactionType: 'REFUND', ...common, ...money, notes: some });
    const voiding = without(sent, 'amount', 'currency');
    expect(requestOf('VOID', voiding)).toEqual({ transactionType: 'VOID', ...common, notes: some });
  });

  it('of a TOKENIZE has the card, but neither CVV nor customer', () => {
    const request = requestOf('TOKENIZE', everything);
    expect(request.card.expose()).toEqual(card);
    expect(Object.keys(request).sort()).toEqual(['card', 'notes', 'transactionType', 'transactionUniqueId']);
    expect(request.notes).toEqual({ custom: { custom_order: '7' } });
  });

  it.each([
    ['0', 0],
    [0.0001, 1],
    ['0.1', 1_000],
    [1.1, 11_000],
    [31.01, 310_100],
    ['9999999.9999', 99_999_999_999],
    [9999999.9999, 99_999_999_999],
    [1e6, 10_000_000_000],
  ])('has the amount %p as %i ten-thousandths', (amount, amountE4) =>
    expect(requestOf('REFUND', { ...MINIMAL.REFUND, amount }).amountE4).toBe(amountE4),
  );

  it.each([
    ['10', undefined],
    ['1e1', undefined],
    ['0.1e2', undefined],
    ['10.0000000', undefined],
    ['9007199254740993', '1004 amount'],
    ['1e400', '1004 amount'],
    ['-1', '1004 amount'],
    ['1e-5', '1004 amount'],
    ['1.00001', '1004 amount'],
  ])('is the value of the JSON number %s', (number, problem) => {
    const body = parseJsonBody(
      new TextEncoder().encode(JSON.stringify({ ...MINIMAL.REFUND, amount: 0 }).replace(':0,', `:${number},`)),
    );
    if (body === 'malformed') throw new Error(body);
    const result = checkTable(cardTable('REFUND'), body, NOW_MS);
    expect(result.ok ? undefined : `${result.problems[0].code} ${result.problems[0].field}`).toBe(problem);
  });

  it('shows no card number in any free text', () => {
    const masked = '555555******4444';
    const long = ['first_name', 'last_name', 'address', 'city', 'state', 'card_holder'];
    const own = [
      'merchant_user_id',
      'merchant_domain_name',
      'merchant_affiliate_id',
      'merchant_product_name',
      'descriptor_merchant',
      'descriptor_phone',
      'custom_a',
    ];
    const request = requestOf('SALE', {
      ...FULL_CARD,
      ...Object.fromEntries([...long, ...own].map((name) => [name, `no ${OTHER_PAN}`])),
    });
    expect(JSON.stringify(request)).not.toContain(OTHER_PAN);
    const { firstName, lastName, address, city, state } = request.customer;
    expect([firstName, lastName, address, city, state]).toEqual(Array(5).fill(`no ${masked}`));
    const { custom, ...texts } = request.notes;
    expect(Object.values({ ...texts, ...custom })).toEqual(Array(7).fill(`no ${masked}`));
    expect(request.instrument.kind === 'card' && request.instrument.card.expose().holder).toBe(`no ${masked}`);
  });
});

describe('any valid request', () => {
  const digits = (minLength: number, maxLength = minLength) =>
    fc.string({ unit: fc.constantFrom(...'0123456789'), minLength, maxLength });
  const luhnDigit = (text: string) =>
    String(
      ([...text]
        .reverse()
        .reduce((sum, digit, i) => sum + (i % 2 === 0 ? ((2 * +digit) % 10) + (+digit > 4 ? 1 : 0) : +digit), 0) *
        9) %
        10,
    );
  const pan = fc
    .tuple(
      fc.constantFrom('4', '51', '55', '2221', '34', '37', '6011', '65', '3528', '300', '36', '50', '62'),
      digits(18),
      fc.integer({ min: 12, max: 18 }),
    )
    .map(([prefix, more, length]) => (prefix + more).slice(0, length))
    .map((text) => text + luhnDigit(text));
  const character = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 1 })
    .filter((c) => !/[\p{Cc}\p{Cs}\d]/u.test(c));
  const textOf = (minLength: number, maxLength: number) => fc.string({ unit: character, minLength, maxLength });
  const amount = fc
    .integer({ min: 0, max: 99_999_999_999 })
    .map((e4) => ({ e4, text: `${Math.floor(e4 / 10_000)}.${String(e4 % 10_000).padStart(4, '0')}` }));

  const request = fc
    .record({
      number: pan,
      other: pan,
      amount,
      asNumber: fc.boolean(),
      cvv: fc.option(digits(3, 4), { nil: undefined }),
      names: fc.array(textOf(1, 32), { minLength: 2, maxLength: 2 }),
      holder: textOf(2, 32),
      email: fc.emailAddress().filter((email) => email.length >= 6),
      ip: fc.oneof(fc.ipV4(), fc.ipV6()),
      id: fc.string({
        unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
        minLength: 11,
        maxLength: 45,
      }),
      notes: fc.record(
        {
          address: textOf(2, 30),
          merchant_product_name: textOf(1, 200),
          descriptor_merchant: textOf(1, 200),
          custom_note: textOf(1, 200),
        },
        { requiredKeys: [] },
      ),
      echo: fc.constantFrom<'before' | 'after' | 'none'>('before', 'after', 'none'),
      url: fc
        .webUrl({ validSchemes: ['https'], withQueryParameters: true, withFragments: true })
        .filter((url) => url.length <= 2048),
    })
    .map((drawn) => {
      // The merchant also writes another card's number where it does not belong.
      const echo = (text: string) =>
        drawn.echo === 'none' ? text : drawn.echo === 'before' ? `${drawn.other} ${text}` : `${text} ${drawn.other}`;
      const fields: Fields = {
        transaction_unique_id: drawn.id,
        amount: drawn.asNumber ? Number(drawn.amount.text) : drawn.amount.text,
        currency: 'EUR',
        card_number: drawn.number,
        card_exp_month: '01',
        card_exp_year: '2031',
        ...(drawn.cvv === undefined ? {} : { cvv: drawn.cvv }),
        card_holder: drawn.holder,
        first_name: drawn.names[0]!,
        last_name: drawn.names[1]!,
        country: 'FRA',
        user_email: drawn.email,
        user_ip: drawn.ip,
        callback_url: drawn.url,
        redirect_url: drawn.url,
        ...Object.fromEntries(Object.entries(drawn.notes).map(([name, text]) => [name, echo(text)])),
      };
      return { fields, drawn };
    });

  it('is accepted, with its exact amount and without visible card data', () => {
    fc.assert(
      fc.property(request, fc.constantFrom('AUTH', 'SALE', 'AUTH3D', 'SALE3D'), ({ fields, drawn }, type) => {
        fc.pre(!drawn.id.startsWith('expiry-') && !`${drawn.id} ${drawn.other}`.includes(drawn.number));
        const body = parseJsonBody(new TextEncoder().encode(JSON.stringify(fields)));
        if (body === 'malformed') throw new Error(body);
        const result = checkTable(cardTable(type), body, NOW_MS);
        if (!result.ok) throw new Error(JSON.stringify(result.problems));
        expect(result.request.amountE4).toBe(drawn.amount.e4);
        expect(JSON.stringify(result.request.notes)).not.toContain(drawn.other);
        expect(JSON.stringify(result.request)).not.toContain(drawn.number);
        const { instrument, amountE4, currency, customer, notes } = result.request;
        expect(instrument.kind === 'card' && instrument.card.expose().pan).toBe(drawn.number);
        const command = { ...ACCEPTED, amountE4, currency, customer, notes, token: TOKEN, withCvv: true };
        expect(ChargeCard.problem(command)).toBeUndefined();
      }),
      { numRuns: 1000 },
    );
  });

  it('or invalid request gets an answer, with problems in order', () => {
    const anyValue = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      fc.constant(DUPLICATE),
    );
    const name = fc.constantFrom(...NAMES, 'custom_a', '__proto__');
    fc.assert(
      fc.property(fc.constantFrom(...KINDS), fc.array(fc.tuple(name, anyValue)), (type, entries) => {
        const result = checkMap(type, new Map([...Object.entries(MINIMAL[type]), ...entries]));
        const order = [...NAMES.slice(0, -1), 'custom_a', 'pares'];
        const places = result.ok ? [] : result.problems.map(({ field }) => order.indexOf(field));
        expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
      }),
      { numRuns: 1000 },
    );
  });
});

test('a card number sent as a token is masked; a token is kept', () => {
  const tokenOf = (token: string): unknown => {
    const checked = checkTable(cardTable('SALE'), rawFields({ ...BY_TOKEN, token }), NOW_MS);
    return checked.ok && checked.request.instrument.kind === 'token' ? checked.request.instrument.token : undefined;
  };
  expect(tokenOf(TOKEN)).toBe(TOKEN);
  expect(tokenOf(`${PAN}-${PAN}-xx`)).not.toContain(PAN);
});

describe("a field that contains the request's own card number", () => {
  const SPACED = '4111 1111 1111 1111';
  /** Only fields whose own rule accepts a card number in them. */
  const SUSPECT: Fields = {
    transaction_unique_id: `order-${PAN}`,
    card_holder: `Ann ${SPACED}`,
    first_name: PAN,
    last_name: SPACED,
    address: `Main Street ${PAN}`,
    city: '4111-1111-1111-1111',
    state: '4111.1111.1111.1111',
    user_email: `${PAN}@example.com`,
    callback_url: 'https://shop.example/?card=4111%201111%201111%201111',
    redirect_url: 'https://shop.example/4111/1111/1111/1111',
    reference: `${PAN}ABCD`,
    merchant_user_id: `u${PAN}`,
    merchant_domain_name: PAN,
    merchant_affiliate_id: SPACED,
    merchant_product_name: 'card ４１１１ 1111 1111 1111',
    descriptor_merchant: PAN,
    descriptor_phone: `+${PAN}`,
    custom_note: `pay ${SPACED}`,
    pares: `x${PAN}`,
  };
  const types = ['AUTH', 'SALE', 'AUTH3D', 'SALE3D', 'TOKENIZE'] as const;
  /** All other fields are ignored. */
  const isRead: Record<(typeof types)[number], (name: string) => boolean> = {
    AUTH: (name) => !name.endsWith('_url'),
    SALE: (name) => !name.endsWith('_url'),
    AUTH3D: (name) => name !== 'pares' && name !== 'reference',
    SALE3D: (name) => name !== 'pares' && name !== 'reference',
    TOKENIZE: (name) => ['transaction_unique_id', 'card_holder', 'custom_note'].includes(name),
  };

  it.each(types)('gets 1004 in %s, all in the order of the table', (type) => {
    const names = Object.keys(SUSPECT).filter(isRead[type]);
    expect(names.length).toBeGreaterThan(2);
    expect(problemsOf(type, { ...MINIMAL[type], ...SUSPECT })).toEqual(names.map((name) => `1004 ${name}`));
  });

  it.each(Object.keys(SUSPECT).filter(isRead.SALE3D))('is the only problem of a SALE3D: %s', (name) =>
    expect(problemsOf('SALE3D', { ...MINIMAL.SALE3D, [name]: SUSPECT[name]! })).toEqual([`1004 ${name}`]),
  );

  it('is the phone, also with a plus', () => {
    const card = { ...MINIMAL.SALE, card_number: '4222222222222' };
    for (const user_phone of ['+4222222222222', '4222222222222', '42 22222222222']) {
      expect([user_phone, problemsOf('SALE', { ...card, user_phone })]).toEqual([user_phone, ['1004 user_phone']]);
    }
  });

  it('may be of any range', () => {
    const card_number = '0000000000000000';
    expect(problemsOf('SALE', { ...MINIMAL.SALE, card_number, address: `no ${card_number}` })).toEqual([
      '1004 address',
    ]);
    expect(problemsOf('SALE', { ...MINIMAL.SALE, card_number, [`custom_${card_number}`]: 'x' })).toEqual([
      '1004 custom_****************',
    ]);
  });

  it('is ignored where the field is', () => {
    expect(problemsOf('SALE', { ...MINIMAL.SALE, pan: PAN, callback_url: `https://shop.example/${PAN}` })).toEqual([]);
  });

  it("is masked in free text, or kept elsewhere, if it is another card's", () => {
    const request = requestOf('SALE', { ...MINIMAL.SALE, ...SUSPECT, card_number: OTHER_PAN });
    expect(request.transactionUniqueId).toBe(SUSPECT['transaction_unique_id']);
    expect(request.customer.address).toBe('Main Street 411111******1111');
  });

  it('is looked for only beside a valid card number', () => {
    expect(problemsOf('SALE', { ...MINIMAL.SALE, card_number: `${PAN}1`, address: `${PAN}1` })).toEqual([
      '1004 card_number',
    ]);
    expect(problemsOf('SALE', { ...BY_TOKEN, address: PAN })).toEqual([]);
    expect(problemsOf('SALE', { ...BY_TOKEN, card_number: PAN, address: PAN })).toEqual(['1006 card_number']);
  });
});

describe('the callback address of an AUTH', () => {
  const auth = rawFields(MINIMAL.AUTH);
  const fields = (callbackUrl: Sent) => rawFields({ ...MINIMAL.AUTH, callback_url: callbackUrl });

  test.each(['https://shop.example/callback', 'http://shop.example', 'nonsense', 7, ''])(
    'is ignored, whatever it is, for accounts without callbacks about holds: %j',
    (callbackUrl) => {
      const checked = checkTable(cardTable('AUTH'), fields(callbackUrl), NOW_MS);
      expect(checked).toEqual(checkTable(cardTable('AUTH'), auth, NOW_MS));
    },
  );

  test('is read for accounts with them, and is an https URL there', () => {
    const table = cardTable('AUTH', { withHoldCallbacks: true });
    expect(checkTable(table, fields('https://shop.example/callback'), NOW_MS)).toMatchObject({
      ok: true,
      request: { callbackUrl: 'https://shop.example/callback' },
    });
    expect(checkTable(table, fields('http://shop.example'), NOW_MS)).toMatchObject({
      ok: false,
      problems: [{ field: 'callback_url', code: 1004 }],
    });
    const without = checkTable(table, auth, NOW_MS);
    expect(without).toEqual(checkTable(cardTable('AUTH'), auth, NOW_MS));
  });
});
