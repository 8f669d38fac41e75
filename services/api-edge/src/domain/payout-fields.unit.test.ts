import { InitiatePayout } from '@gateway/contracts';
import { isoBankAddresses } from '../adapters/bank-addresses/iso';
import type { RawFields } from './body';
import { DUPLICATE } from './body';
import type { FieldCheck } from './field-check';
import { checkTable } from './field-check';
import { checkPayoutWindow, PAYOUT_CHECK_TABLE, PAYOUT_QUERY_TABLE, payoutTable } from './payout-fields';
import type { PayoutRequest } from './payout-request';
import type { Sent } from './raw-fields.fixture';
import { rawFields } from './raw-fields.fixture';

const NOW_MS = Date.UTC(2026, 10, 21);
const PAN = '4111111111111111';
const IBAN = 'DE89370400440532013000';

type Fields = Record<string, Sent>;

/** The example of each country in the IBAN registry. */
const REGISTERED = (
  'AD1200012030200359100100 AL47212110090000000235698741 AT611904300234573201 BE68539007547034 ' +
  'BG80BNBG96611020345678 CH9300762011623852957 CY17002001280000001200527600 CZ6508000000192000145399 ' +
  'DE89370400440532013000 DK5000400440116243 EE382200221020145685 ES9121000418450200051332 FI2112345600000785 ' +
  'FR1420041010050500013M02606 GB29NWBK60161331926819 GI75NWBK000000007099453 GR1601101250000000012300695 ' +
  'HR1210010051863000160 HU42117730161111101800000000 IE29AIBK93115212345678 IS140159260076545510730339 ' +
  'IT60X0542811101000000123456 LI21088100002324013AA LT121000011101001000 LU280019400644750000 ' +
  'LV80BANK0000435195001 MC5811222000010123456789030 MD24AG000225100013104168 ME25505000012345678951 ' +
  'MK07250120000058984 MT84MALT011000012345MTLCAST001S NL91ABNA0417164300 NO9386011117947 ' +
  'PL61109010140000071219812874 PT50000201231234567890154 RO49AAAA1B31007593840000 RS35260005601001611379 ' +
  'SE4550000000058398257466 SI56263300012039086 SK3112000000198742637541 SM86U0322509800000000270100 ' +
  'VA59001123000012345678'
).split(' ');
/** Valid IBANs outside SEPA. The last three use a territory's own code. */
const BEYOND_SEPA = [
  'BR1800360305000010009795493C1',
  'SA0380000000608010167519',
  'XK051212012345678906',
  'TR330006100519786457841326',
  'UA213223130000026007233566001',
  'AE070331234567890123456',
  'GE29NB0000000101904917',
  'GL8964710001000206',
  'FO6264600001631634',
];

const REQUIRED: Fields = {
  method: 'init',
  transaction_unique_id: 'p',
  amount: '10.00',
  currency: 'EUR',
  callback_url: 'https://shop.example/payouts',
  type: 'sepa',
  receiver_iban: IBAN,
  receiver_name: 'Ann Lee',
  transfer_description: 'Invoice 7',
};
const OPTIONAL: Fields = {
  receiver_type: 'LEGAL',
  receiver_code: '12-34',
  receiver_bic: 'COBADEFFXXX',
  receiver_address: 'Main Street 12, Berlin',
  receiver_city: 'Berlin',
  receiver_country: 'DEU',
  receiver_zip: '10115',
  receiver_street: 'Main Street',
  receiver_building_number: '12',
  receiver_apartment: '3',
};
const ALL: Fields = { ...REQUIRED, ...OPTIONAL };
/** The interface's order. */
const ORDER = [
  'method',
  'transaction_unique_id',
  'amount',
  'currency',
  'callback_url',
  'type',
  'receiver_iban',
  'receiver_type',
  'receiver_code',
  'receiver_name',
  'receiver_bic',
  'transfer_description',
  'receiver_address',
  'receiver_city',
  'receiver_country',
  'receiver_zip',
  'receiver_street',
  'receiver_building_number',
  'receiver_apartment',
];

/** Characters outside the basic plane count as one each. */
const long = (length: number): string => '😀'.repeat(length);
const lengths = (min: number, max: number) => ({
  valid: [long(min), long(max), 'x'.repeat(max)],
  invalid: [...(min > 1 ? [long(min - 1)] : []), long(max + 1), 'a\0b', 'a\nb', '\ud800x'],
});

const EXAMPLES: Record<string, { valid: Sent[]; invalid: Sent[] }> = {
  method: { valid: ['init'], invalid: ['Init', 'INIT', 'check', 'init '] },
  transaction_unique_id: {
    valid: ['1', 'a'.repeat(45), '!~', 'EXPIRY-1', 'expiry'],
    invalid: ['a'.repeat(46), 'a b', 'ü', 'a\t', 'expiry-', 'expiry-1'],
  },
  amount: {
    valid: ['0', '10', '0.0001', '9999999.9999', 10, 0.01, 1e2],
    invalid: ['10000000', '1.00001', '-1', '+1', '1e2', '1,5', ' 1', 'ten', -1, 1e-7, NaN, 1e400],
  },
  currency: { valid: ['EUR', 'XTS', 'USD'], invalid: ['eur', 'EURO', 'XXX', 'DEM'] },
  callback_url: {
    valid: ['https://shop.example', 'HTTPS://shop.example:444/a?b#c', `https://s.example/${'a'.repeat(2030)}`],
    invalid: [
      'http://shop.example',
      'https:shop.example',
      'https://',
      '//shop.example',
      'https://u:p@shop.example',
      'https://shop example',
      `https://s.example/${'a'.repeat(2031)}`,
    ],
  },
  type: { valid: ['sepa'], invalid: ['SEPA', 'swift', 'sepa_instant'] },
  receiver_iban: {
    valid: [...REGISTERED, 'DE89 3704 0044 0532 0130 00', 'de89370400440532013000', `${IBAN}${' '.repeat(42)}`],
    invalid: [
      ...BEYOND_SEPA,
      'DE88370400440532013000',
      'DE8937040044053201300',
      'DE893704004405320130000',
      'DE89-3704-0044-0532-0130-00',
      'DE8937040044053201300O',
      'AX2112345600000785',
      'RS35260005601001611378',
      'NO9386011117948',
      'GB29NWBK6016133192681９',
      'ſ'.repeat(22),
      '37040044053201300',
      `${IBAN}${' '.repeat(43)}`,
    ],
  },
  receiver_type: { valid: ['PERSONAL', 'LEGAL'], invalid: ['personal', 'COMPANY'] },
  receiver_code: lengths(1, 20),
  receiver_name: lengths(1, 70),
  receiver_bic: {
    valid: ['COBADEFF', 'COBADEFFXXX', 'cobadeff', 'NTSBDEB1', 'AIBKIE2D'],
    invalid: ['COBADEF', 'COBADEFFX', 'COBADEFFXX', 'COBADEFFXXXX', 'COBA DEFF', 'COBAQQFF', '1234DEFF', 'COBAD3FF'],
  },
  transfer_description: lengths(1, 140),
  receiver_address: lengths(2, 64),
  receiver_city: lengths(2, 32),
  receiver_country: { valid: ['DEU', 'BRA'], invalid: ['DE', 'deu', 'XKX', 'ABC'] },
  receiver_zip: lengths(2, 10),
  receiver_street: lengths(2, 64),
  receiver_building_number: lengths(1, 16),
  receiver_apartment: lengths(1, 35),
};

const NO_TEXT: Sent[] = [true, false, DUPLICATE];

const PAYOUT_TABLE = payoutTable(isoBankAddresses);
const checkPayoutFields = (fields: RawFields, nowMs: number) => checkTable(PAYOUT_TABLE, fields, nowMs);
type Check<Request> = (fields: RawFields, nowMs: number) => FieldCheck<Request>;

function problems<Request>(check: Check<Request>, fields: Fields): string[] {
  const result = check(rawFields(fields), NOW_MS);
  return result.ok ? [] : result.problems.map(({ code, field }) => `${code} ${field}`);
}
function accepted<Request>(check: Check<Request>, fields: Fields): Request {
  const result = check(rawFields(fields), NOW_MS);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.request;
}
const payout = (fields: Fields): PayoutRequest => accepted(checkPayoutFields, fields);
const without = (fields: Fields, name: string): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([other]) => other !== name));

describe('a field of a payout', () => {
  const pairs = (kind: 'valid' | 'invalid') =>
    ORDER.flatMap((name) => EXAMPLES[name]![kind].map((value): [string, Sent] => [name, value]));

  it.each(pairs('valid'))('%s may be %j', (name, value) =>
    expect(problems(checkPayoutFields, { ...ALL, [name]: value })).toEqual([]),
  );

  it.each(pairs('invalid'))('%s may not be %j', (name, value) =>
    expect(checkPayoutFields(rawFields({ ...ALL, [name]: value }), NOW_MS)).toEqual({
      ok: false,
      problems: [expect.objectContaining({ field: name, code: 1004, message: `Invalid ${name} in request message` })],
    }),
  );

  it.each(ORDER)('%s accepts no other type', (name) => {
    const odd = name === 'amount' ? NO_TEXT : [...NO_TEXT, 0, 1, 89370400440532013000];
    for (const value of odd) {
      expect(problems(checkPayoutFields, { ...ALL, [name]: value })).toEqual([`1004 ${name}`]);
    }
  });

  it.each(Object.keys(REQUIRED))('%s is required', (name) => {
    for (const fields of [without(ALL, name), { ...ALL, [name]: '' }, { ...ALL, [name]: null }]) {
      expect(problems(checkPayoutFields, fields)).toEqual([`1002 ${name}`]);
    }
  });

  it('is refused, however long it is', () => {
    for (const name of ORDER) {
      for (const unit of ['a', '1', ' ', 'DE89', '😀']) {
        expect(problems(checkPayoutFields, { ...ALL, [name]: unit.repeat(65_536 / unit.length) })).toEqual([
          `1004 ${name}`,
        ]);
      }
    }
  });
});

describe('a payout', () => {
  it('needs no optional field, and treats empty or null ones as absent', () => {
    expect(problems(checkPayoutFields, REQUIRED)).toEqual([]);
    for (const name of Object.keys(OPTIONAL)) {
      expect(problems(checkPayoutFields, { ...REQUIRED, [name]: '' })).toEqual([]);
      expect(problems(checkPayoutFields, { ...REQUIRED, [name]: null })).toEqual([]);
    }
  });

  it('with a receiver_code needs its receiver_type', () => {
    expect(problems(checkPayoutFields, { ...REQUIRED, receiver_code: '1' })).toEqual(['1002 receiver_type']);
    expect(problems(checkPayoutFields, { ...REQUIRED, receiver_code: '' })).toEqual([]);
    expect(problems(checkPayoutFields, { ...REQUIRED, receiver_type: 'LEGAL' })).toEqual([]);
    expect(problems(checkPayoutFields, { ...REQUIRED, receiver_code: '1', receiver_type: 'X' })).toEqual([
      '1004 receiver_type',
    ]);
  });

  it('reports all problems together, in the order of the table, custom fields last', () => {
    const spoilt = Object.fromEntries([...ORDER].reverse().map((name) => [name, true]));
    expect(problems(checkPayoutFields, { custom_: 'x', ...spoilt })).toEqual([
      ...ORDER.map((name) => `1004 ${name}`),
      '1004 custom_',
    ]);
  });

  it('ignores all other fields', () => {
    expect(payout({ ...REQUIRED, transaction_type: 'SALE', card_number: PAN, order: 1, __proto__: 'x' })).toEqual(
      payout(REQUIRED),
    );
  });

  it("has the request's fields, IBAN and BIC in electronic form", () => {
    const sent = { ...ALL, receiver_iban: 'de89 3704 0044 0532 0130 00', receiver_bic: 'cobadeffxxx', custom_a: '7' };
    expect(payout(sent)).toEqual({
      transactionUniqueId: 'p',
      amountE4: 100_000,
      currency: 'EUR',
      callbackUrl: 'https://shop.example/payouts',
      receiver: {
        iban: IBAN,
        bic: 'COBADEFFXXX',
        name: 'Ann Lee',
        type: 'LEGAL',
        code: '12-34',
        address: {
          street: 'Main Street',
          buildingNumber: '12',
          apartment: '3',
          zip: '10115',
          city: 'Berlin',
          country: 'DEU',
        },
      },
      description: 'Invoice 7',
      custom: { custom_a: '7' },
    });
  });

  it('keeps the deprecated address only without a structured one', () => {
    const old = { ...REQUIRED, receiver_address: 'Main Street 12' };
    expect(payout(old).receiver.address).toEqual({ unstructured: 'Main Street 12' });
    expect(payout(REQUIRED).receiver).toEqual({ iban: IBAN, name: 'Ann Lee', address: {} });
    for (const name of ORDER.slice(ORDER.indexOf('receiver_city'))) {
      const { address } = payout({ ...old, [name]: OPTIONAL[name] as string }).receiver;
      expect(Object.values(address)).toEqual([OPTIONAL[name]]);
    }
  });

  it('masks card numbers in free text, but not an IBAN that looks like one', () => {
    const free = Object.keys(EXAMPLES).filter(
      (name) => EXAMPLES[name]!.valid.includes(long(1)) || /address|city|street/.test(name),
    );
    const fields = Object.fromEntries(free.filter((name) => name !== 'receiver_zip').map((name) => [name, PAN]));
    // Sixteen digits fit in all of them.
    expect(Object.keys(fields)).toHaveLength(8);
    expect(JSON.stringify(payout({ ...ALL, ...fields, custom_a: PAN }))).not.toContain(PAN);
    // The BBAN contains 4111 1111 1111 1111.
    const iban = 'LT684111111111111111';
    expect(isoBankAddresses.isIban(iban)).toBe(true);
    expect(payout({ ...REQUIRED, receiver_iban: iban }).receiver.iban).toBe(iban);
  });

  it('fits the contract at the limits of its fields', () => {
    const longest = Object.fromEntries(
      ORDER.filter((name) => EXAMPLES[name]!.valid.length === 3 && typeof EXAMPLES[name]!.valid[1] === 'string')
        .filter((name) => !['currency', 'callback_url', 'receiver_iban'].includes(name))
        .map((name) => [name, EXAMPLES[name]!.valid[1]!]),
    );
    const { custom: _, ...request } = payout({ ...ALL, ...longest, callback_url: EXAMPLES['callback_url']!.valid[2]! });
    const command = {
      ...request,
      payoutId: 'ABCDEFGHIJKLMNOP',
      reference: 'ABCDEFGHIJKLMNOP0001',
      merchantAccount: 'demo_merchant',
      acceptedAt: NOW_MS,
      feeE4: 0,
      token: '3b0e9c1e-55a1-8c3f-9f7a-0123456789ab',
      instant: false,
    };
    expect(InitiatePayout.problem(command)).toBeUndefined();
  });
});

describe('the CHECK of a payout', () => {
  const check = (fields: RawFields, nowMs: number) => checkTable(PAYOUT_CHECK_TABLE, fields, nowMs);

  it('asks by id, which wins, or by reference', () => {
    expect(accepted(check, { transaction_unique_id: 'p' })).toEqual({ transactionUniqueId: 'p' });
    expect(accepted(check, { reference: 'R' })).toEqual({ reference: 'R' });
    expect(accepted(check, { transaction_unique_id: 'p', reference: 'R' })).toEqual({ transactionUniqueId: 'p' });
    expect(accepted(check, { transaction_unique_id: 'expiry-1' })).toEqual({ transactionUniqueId: 'expiry-1' });
  });

  it.each<[string, Fields, string[]]>([
    ['neither', {}, ['1002 transaction_unique_id']],
    ['both empty', { transaction_unique_id: '', reference: null }, ['1002 transaction_unique_id']],
    ['a long id', { transaction_unique_id: 'a'.repeat(46) }, ['1004 transaction_unique_id']],
    ['an id that is no text', { transaction_unique_id: 7 }, ['1004 transaction_unique_id']],
    ['a long reference', { reference: 'A'.repeat(21) }, ['1004 reference']],
    ['a reference that is no text', { reference: true }, ['1004 reference']],
    ['a long reference beside an id', { transaction_unique_id: 'p', reference: 'A'.repeat(21) }, ['1004 reference']],
  ])('refuses %s', (_, fields, expected) => expect(problems(check, fields)).toEqual(expected));

  it('accepts a reference of 20 characters', () => expect(problems(check, { reference: 'A'.repeat(20) })).toEqual([]));
});

describe('a query', () => {
  const check = (fields: RawFields, nowMs: number) => checkTable(PAYOUT_QUERY_TABLE, fields, nowMs);
  const QUERY: Fields = { time_from: 100, time_to: '200', qod_type: 'transactions' };

  it('has defaults', () =>
    expect(accepted(check, QUERY)).toEqual({ from: 100, to: 200, order: 'asc', page: 1, limit: 1_000 }));

  it.each<[Fields, object]>([
    [{ order: 'acs' }, { order: 'asc' }],
    [{ order: 'asc' }, { order: 'asc' }],
    [{ order: 'desc' }, { order: 'desc' }],
    [
      { page: 2, limit: 1 },
      { page: 2, limit: 1 },
    ],
    [
      { page: '00000000000003', limit: '1000' },
      { page: 3, limit: 1_000 },
    ],
    [{ page: 9_007_199_254_740 }, { page: 9_007_199_254_740 }],
    [
      { time_from: 0, time_to: 253_402_300_799 },
      { from: 0, to: 253_402_300_799 },
    ],
    [
      { page: '', limit: null, order: '' },
      { page: 1, limit: 1_000, order: 'asc' },
    ],
  ])('reads %j', (fields, expected) => expect(accepted(check, { ...QUERY, ...fields })).toMatchObject(expected));

  const numbers = ['-1', '+1', '1.5', '1e2', ' 1', '', 'x', '0x1', '1'.repeat(17), 1.5, -1, NaN, Infinity, 1e400];
  const odd: [string, Sent][] = [
    ...['time_from', 'time_to', 'page', 'limit'].flatMap((name) =>
      [...numbers.filter((value) => value !== ''), ...NO_TEXT].map((value): [string, Sent] => [name, value]),
    ),
    ['time_to', 253_402_300_800],
    ['time_from', 1_700_000_000_000],
    ['qod_type', 'TRANSACTIONS'],
    ['qod_type', 1],
    ['order', 'ASC'],
    ['order', 'up'],
    ['order', 1],
    ['page', 0],
    ['page', '0'],
    ['page', 9_007_199_254_741],
    ['limit', 0],
    ['limit', 1_001],
    ['limit', '1001'],
  ];
  it.each(odd)('refuses %s %p', (name, value) =>
    expect(problems(check, { ...QUERY, [name]: value })).toEqual([`1004 ${name}`]),
  );

  it.each(Object.keys(QUERY))('needs %s', (name) =>
    expect(problems(check, without(QUERY, name))).toEqual([`1002 ${name}`]),
  );

  it('reports its problems in the order of the table', () =>
    expect(problems(check, { limit: 0, page: 0, order: 0, time_to: '' })).toEqual([
      '1002 time_from',
      '1002 time_to',
      '1002 qod_type',
      '1004 order',
      '1004 page',
      '1004 limit',
    ]));

  it('must not end before it begins', () => {
    const window = (from: number, to: number) =>
      checkPayoutWindow(accepted(check, { ...QUERY, time_from: from, time_to: to }));
    expect(window(100, 99)).toBe(5002);
    expect(window(100, 100)).toBeUndefined();
    expect(window(99, 100)).toBeUndefined();
  });
});
