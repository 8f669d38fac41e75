import type { RawAnswer, RawRequest } from './support/http';
import { FORM_TYPE, formOf, JSON_TYPE, rawRequest, sendAndFallSilent, sendAndHangUp } from './support/http';
import type { Storage } from './support/storage';
import { openStorage } from './support/storage';
import type { Body, System } from './support/system';
import { CARD_PATH, cardRequest, checkOf, CREDENTIALS, followUp, startSystem, uniqueId } from './support/system';

const LIMIT_BYTES = 64 * 1024;

let system: System;
let storage: Storage;
/** The state before the first bad request: the account's one good SALE. */
let before: Record<string, number>;

beforeAll(async () => {
  system = await startSystem('bad');
  storage = await openStorage(system.space);
  expect((await system.send(cardRequest('SALE'))).data).toMatchObject({ code: 0 });
  before = await storage.counts();
});

afterEach(async () => {
  expect(await storage.counts()).toEqual(before);
});

afterAll(async () => {
  await storage.close();
  await system.stop();
});

/** Every answer is an envelope with the id of its request. */
async function raw(request: RawRequest, port = system.edge.ports.api): Promise<RawAnswer> {
  const answer = await rawRequest(port, request);
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  expect(answer.headers['cache-control']).toBe('no-store');
  if (request.method === 'HEAD') return answer;
  expect(answer.body).toMatchObject({ api_version: 1, message: expect.stringMatching(/^.{6,255}$/) });
  expect(answer.body['sessionid']).toMatch(/^[0-9a-f-]{36}$/);
  expect(answer.headers['x-request-id']).toBe(answer.body['sessionid']);
  return answer;
}

async function refused(request: RawRequest): Promise<Body> {
  const answer = await raw(request);
  expect(answer).toMatchObject({ status: 200, body: { status: 'error' } });
  expect(answer.body).not.toHaveProperty('reference');
  return answer.body;
}

const json = (fields: Body): RawRequest => ({ body: JSON.stringify(fields) });
const form = (fields: Body, again?: Body): RawRequest => ({ headers: FORM_TYPE, body: formOf(fields, again) });
const sale = (more: Body = {}): Body => ({ ...CREDENTIALS, ...cardRequest('SALE'), ...more });

/** The fields of an answer's `errors`, with the code of each. */
const errorsOf = (body: Body): [string, number][] =>
  (body['errors'] as { field: string; code: number }[]).map(({ field, code }) => [field, code]);

describe('a body that does not parse gets 1001', () => {
  test.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['null', 'null'],
    ['a list', '[{"api_version":1}]'],
    ['a text', '"api_version=1"'],
    ['a number', '1'],
    ['an open object', '{"api_version":1'],
    ['something after the object', '{"api_version":1}}'],
    ['single quotes', "{'api_version':1}"],
    ['NaN', '{"api_version":1,"amount":NaN}'],
    ['Infinity', '{"api_version":1,"amount":Infinity}'],
    ['a leading zero', '{"api_version":01}'],
    ['half an exponent', '{"api_version":1,"amount":1e}'],
    ['hexadecimal', '{"api_version":0x1}'],
    ['a raw NUL byte', Buffer.from('{"api_version":"1\0"}')],
    ['nothing but NUL bytes', Buffer.alloc(64)],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['an open list, 60,000 deep', `{"address":${'['.repeat(60_000)}`],
    ['an object in a field', JSON.stringify(sale({ amount: { $gt: '' } }))],
    ['a list in a field', JSON.stringify(sale({ first_name: ['x'] }))],
    ['an object in a field that no request has', JSON.stringify(sale({ unknown: {} }))],
    ['30,000 levels', `{"address":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
    ['an amount twice', JSON.stringify(sale()).replace('{', '{"amount":"1",')],
    ['an amount twice, once escaped', JSON.stringify(sale()).replace('{', '{"am\\u006funt":"1",')],
    ['an unknown name twice', '{"a":1,"a":1}'],
    ['101 names', JSON.stringify(Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`n${i}`, i])))],
  ])('JSON: %s', async (_what, body) => {
    expect(await refused({ body })).toMatchObject({ code: 1001, message: 'Request format error' });
  });

  test.each<[string, string | Buffer]>([
    ['a % at the end', 'api_version=1%'],
    ['a % with one digit', 'api_version=%4'],
    ['a % without digits', 'api_version=%zz'],
    ['a % in a name', '%=1'],
    ['a byte that is not UTF-8', 'api_version=%ff'],
    ['a sequence that is not UTF-8', 'api_version=%c3%28'],
    ['an overlong NUL', 'api_version=%c0%80'],
    ['half a surrogate pair', 'api_version=%ed%a0%80'],
    ['invalid UTF-8, raw', Buffer.from([0x61, 0x3d, 0xff])],
  ])('form: %s', async (_what, body) => {
    expect(await refused({ headers: FORM_TYPE, body })).toMatchObject({ code: 1001 });
  });
});

describe('a value of a wrong type', () => {
  const WRONG = [true, false, 12];
  const isNumeric = (name: string, value: unknown): boolean => name === 'amount' && typeof value === 'number';

  test('gets 1004 in every field of a SALE, as the only problem', async () => {
    const names = Object.keys(cardRequest('SALE', { custom_note: 'x', mid_reference: 'x', date_of_birth: 'x' }));
    const cases = names.flatMap((name) =>
      WRONG.filter((value) => !isNumeric(name, value)).map((value) => ({ name, value })),
    );
    await Promise.all(
      cases.map(async ({ name, value }) => {
        const body = await refused(json(sale({ [name]: value })));
        const message = `Invalid ${name} in request message`;
        expect(body).toMatchObject({ code: 1004, message, errors: [{ field: name, code: 1004, message }] });
        expect(body['errors']).toHaveLength(1);
      }),
    );
  });

  test.each([
    ['SETTLE', 'reference'],
    ['VOID', 'reference'],
    ['REFUND', 'reference'],
  ] as const)('gets 1004 in %s as %s', async (type, name) => {
    for (const value of WRONG) {
      const body = await refused(json({ ...CREDENTIALS, ...followUp(type, 'x'), [name]: value }));
      expect(errorsOf(body)).toEqual([[name, 1004]]);
    }
  });

  test.each(['transaction_unique_id', 'reference'])('gets 1004 in CHECK as %s', async (name) => {
    for (const value of WRONG) {
      const body = await refused(json({ ...CREDENTIALS, ...checkOf({ [name]: value }) }));
      expect(body).toMatchObject({ code: 1004, message: `Invalid ${name} in request message` });
    }
  });

  test('gets 1004 as token', async () => {
    const { card_number: _number, card_exp_month: _month, card_exp_year: _year, cvv: _cvv, ...rest } = sale();
    for (const token of WRONG) expect(errorsOf(await refused(json({ ...rest, token })))).toEqual([['token', 1004]]);
  });

  test.each(['merchant_account', 'merchant_password'])('gets 2001 as %s', async (name) => {
    for (const value of WRONG) {
      const body = await refused(json(sale({ [name]: value })));
      expect(body).toMatchObject({ code: 2001, message: 'Incorrect value in merchant account or pass field' });
      expect(body).not.toHaveProperty('errors');
    }
  });

  test.each([...WRONG, 0, 1.5, '2', '1e0', '+1', 'one', '1.', '\u0000'])(
    'gets 1005 as api_version: %j',
    async (value) => {
      expect(await refused(json(sale({ api_version: value })))).toMatchObject({ code: 1005 });
    },
  );
});

describe('an amount', () => {
  test.each([
    ['1e400'],
    ['1e21'],
    ['1e-7'],
    ['-1'],
    ['-0.01'],
    ['0.00001'],
    ['10000000'],
    ['9999999.99991'],
    ['12345678901234567890123456789012345678901234567890'],
    ['"1e2"'],
    ['"1E2"'],
    ['"NaN"'],
    ['"Infinity"'],
    ['"0x10"'],
    ['"+10"'],
    ['"-10"'],
    ['" 10"'],
    ['"10 "'],
    ['"10."'],
    ['".5"'],
    ['"10,00"'],
    ['"1_000"'],
    ['"10.00000"'],
    ['"١٠"'],
    ['"1\\u00000"'],
  ])('%s gets 1004', async (literal) => {
    const { amount: _amount, ...rest } = sale();
    const body = await refused({ body: JSON.stringify(rest).replace(/}$/, `,"amount":${literal}}`) });
    expect(errorsOf(body)).toEqual([['amount', 1004]]);
  });
});

test('a NUL byte gets 1004 in every text field, 2001 in the credentials', async () => {
  const withNul = (value: unknown): string => `${String(value)}\u0000`;
  const { amount: _amount, ...texts } = cardRequest('SALE');
  for (const [name, value] of Object.entries(texts)) {
    const fields = sale({ [name]: withNul(value) });
    for (const request of [json(fields), form(fields)]) {
      expect(await refused(request)).toMatchObject({ code: 1004, message: `Invalid ${name} in request message` });
    }
  }
  for (const name of ['merchant_account', 'merchant_password'] as const) {
    expect(await refused(json(sale({ [name]: withNul(CREDENTIALS[name]) })))).toMatchObject({ code: 2001 });
  }
});

describe('names with a meaning in JavaScript or MongoDB', () => {
  const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '$where', 'a.b', ''];

  test('are ignored like other unknown names', async () => {
    for (const name of NAMES) {
      const inJson = JSON.stringify(sale({ first_name: undefined })).replace('{', `{"${name}":"polluted",`);
      for (const request of [{ body: inJson }, form(sale({ first_name: undefined }), { [name]: 'x' })]) {
        expect(await refused(request)).toMatchObject({ code: 1002, message: 'first_name not present in request' });
      }
    }
  });

  test('do not add fields to a request', async () => {
    const body = `{"__proto__":${JSON.stringify(sale())}}`;
    expect(await refused({ body })).toMatchObject({ code: 1001 });
  });

  test('are not valid custom fields', async () => {
    const names = ['custom_', 'custom_$where', 'custom_a.b', 'custom_A', `custom_${'a'.repeat(58)}`];
    const body = await refused(json(sale(Object.fromEntries(names.map((name) => [name, 'x'])))));
    expect(errorsOf(body).map(([, code]) => code)).toEqual(names.map(() => 1004));
  });
});

describe('a repeated form key', () => {
  test('makes its field invalid, with the code of the step that checks it', async () => {
    const codes: Body = { api_version: 1005, merchant_account: 2001, merchant_password: 2001 };
    for (const [name, value] of Object.entries(sale({ custom_note: 'x' }))) {
      const body = await refused(form(sale({ custom_note: 'x' }), { [name]: value }));
      expect([name, body['code']]).toEqual([name, codes[name] ?? 1004]);
    }
  });

  test('also if the second value is empty', async () => {
    expect(errorsOf(await refused(form(sale(), { city: '' })))).toEqual([['city', 1004]]);
  });
});

describe('too much of something', () => {
  test('unknown keys are ignored, up to 100 names', async () => {
    const known = formOf(sale({ first_name: undefined }));
    const keysTo = (names: number) =>
      Array.from({ length: names - known.split('&').length }, (_, index) => `k${index}`).join('&');
    const request = (names: number) => ({ headers: FORM_TYPE, body: `${known}&${keysTo(names)}` });
    expect(errorsOf(await refused(request(100)))).toEqual([['first_name', 1002]]);
    expect(await refused(request(101))).toMatchObject({ code: 1001 });
  });

  test('the 21st custom field gets 1004', async () => {
    const custom = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`custom_n${index}`, 'x']));
    expect(errorsOf(await refused(json(sale(custom))))).toEqual([['custom_n20', 1004]]);
  });

  test.each([
    ['JSON', JSON_TYPE, JSON.stringify({ ...CREDENTIALS, filler: '' }).replace(/""}$/, '"'), '"}'],
    ['form', FORM_TYPE, `${formOf(CREDENTIALS)}&filler=`, ''],
  ])('64 KiB of %s are read, one byte more is 413', async (_what, headers, head, tail) => {
    const filled = (bytes: number): string => head + 'x'.repeat(bytes - head.length - tail.length) + tail;
    const exact = await refused({ headers, body: filled(LIMIT_BYTES) });
    expect(exact).toMatchObject({ code: 1002, message: 'transaction_type not present in request' });
    for (const chunked of [false, true]) {
      const answer = await raw({ headers, body: filled(LIMIT_BYTES + 1), chunked });
      expect(answer).toMatchObject({ status: 413, body: { status: 'error', code: 1001 } });
    }
  });

  test('an Idempotency-Key of more than 255 characters gets 1004', async () => {
    const fields = sale({ country: 'XXX' });
    const of = (length: number) => refused({ ...json(fields), headers: { 'idempotency-key': 'k'.repeat(length) } });
    expect(errorsOf(await of(255))).toEqual([['country', 1004]]);
    expect(errorsOf(await of(256))).toEqual([
      ['country', 1004],
      ['Idempotency-Key', 1004],
    ]);
  });
});

describe('a request outside the interface', () => {
  test.each([
    ['text/plain'],
    ['application/xml'],
    ['multipart/form-data; boundary=x'],
    ['application/jsonp'],
    ['application/json, text/plain'],
    ['text/json'],
    [''],
  ])('content type "%s" is 415', async (type) => {
    const answer = await raw({ ...json(sale()), headers: { 'content-type': type } });
    expect(answer).toMatchObject({ status: 415, body: { status: 'error', code: 1001 } });
  });

  test('a compressed body is 415', async () => {
    const answer = await raw({ ...json(sale()), headers: { 'content-encoding': 'gzip' } });
    expect(answer).toMatchObject({ status: 415, body: { code: 1001 } });
  });

  test.each(['Application/JSON', 'application/json; charset=utf-8', 'application/json;charset="x"'])(
    'content type %s is JSON',
    async (type) => {
      const request = { ...json({ api_version: 2 }), headers: { 'content-type': type } };
      expect(await refused(request)).toMatchObject({ code: 1005 });
    },
  );

  test.each([
    '/',
    '/api/pf',
    `${CARD_PATH}/`,
    `${CARD_PATH}/x`,
    '/API/PF/HOST-TO-HOST',
    '/%',
    '/%00',
    '//',
    '/health/live',
  ])('the path %s is 404', async (path) => {
    const answer = await raw({ ...json(sale()), path });
    expect(answer).toMatchObject({
      status: 404,
      body: { status: 'error', code: 1000, message: 'Merchant gate error' },
    });
  });

  test.each(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'])('%s is 405', async (method) => {
    const answer = await raw({ ...json(sale()), method });
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe('POST');
    if (method !== 'HEAD') expect(answer.body).toMatchObject({ status: 'error', code: 1001 });
  });

  test('the query string is ignored', async () => {
    const query = new URLSearchParams(formOf(sale())).toString();
    const answer = await raw({ ...json({}), path: `${CARD_PATH}?${query}` });
    expect(answer.body).toMatchObject({ code: 1002, message: 'api_version not present in request' });
  });
});

describe('a body that does not arrive', () => {
  const head = [`POST ${CARD_PATH} HTTP/1.1`, 'host: x', 'content-type: application/json', 'content-length: 1000'];
  const half = `${head.join('\r\n')}\r\n\r\n${JSON.stringify(sale()).slice(0, 200)}`;

  test('is 408 after REQUEST_TIMEOUT_MS, and the connection ends', async () => {
    const edge = await system.startEdge({ REQUEST_TIMEOUT_MS: '200' });
    const [envelope = '', body = ''] = (await sendAndFallSilent(edge.ports.api, half)).split('\r\n\r\n');
    expect(envelope).toMatch(/^HTTP\/1\.1 408 /);
    const answer = JSON.parse(body) as Body;
    expect(answer).toMatchObject({ api_version: 1, status: 'error', code: 1001 });
    expect(envelope.toLowerCase()).toContain(`x-request-id: ${String(answer['sessionid'])}`);
  });

  test('leaves nothing behind when its sender disconnects', async () => {
    await Promise.all(Array.from({ length: 50 }, () => sendAndHangUp(system.edge.ports.api, half)));
    expect(await refused(json({}))).toMatchObject({ code: 1002 });
  });
});

test('one answer lists all invalid fields, in the order of the interface', async () => {
  const faults = {
    cof_type: 'never',
    pares: 'no padding=',
    custom_Note: 'x',
    user_ip: '300.1.1.1',
    user_email: 'ann',
    country: 'XXX',
    last_name: '',
    first_name: null,
    token: 'x',
    cvv: '12',
    card_exp_year: '30',
    currency: 'ABC',
    amount: 'ten',
    transaction_unique_id: 'short',
    date_of_birth: '2001-02-29',
    mid_reference: 'MD',
  };
  const body = await refused(json(sale(faults)));
  expect(body).toMatchObject({ code: 1004, message: 'Invalid transaction_unique_id in request message' });
  expect(errorsOf(body)).toEqual([
    ['transaction_unique_id', 1004],
    ['amount', 1004],
    ['currency', 1004],
    ['card_number', 1006],
    ['card_exp_month', 1006],
    ['card_exp_year', 1006],
    ['cvv', 1006],
    ['token', 1004],
    ['first_name', 1002],
    ['last_name', 1002],
    ['country', 1004],
    ['user_email', 1004],
    ['user_ip', 1004],
    ['reference', 1002],
    ['mid_reference', 1004],
    ['date_of_birth', 1004],
    ['cof_type', 1004],
    ['custom_Note', 1004],
    ['pares', 1004],
  ]);
});

test.each(['host-to-host', 'form'])(
  'the own card number in another field gets 1004, nothing is kept: %s',
  async (as) => {
    const request = as === 'form' ? form : json;
    const spaced = '4111 1111 1111 1111';
    const faults = {
      transaction_unique_id: 'order-4111111111111111',
      address: `Main Street ${spaced}`,
      user_email: '4111111111111111@example.com',
      descriptor_phone: '+4111.1111.1111.1111',
      custom_note: '4111%2D1111%2D1111%2D1111',
    };
    const body = await refused(request(sale({ card_number: '4111111111111111', ...faults })));
    expect(body).toMatchObject({ code: 1004, message: 'Invalid transaction_unique_id in request message' });
    expect(errorsOf(body)).toEqual(Object.keys(faults).map((field) => [field, 1004]));
  },
);

describe('the order of checks', () => {
  let used: unknown;
  beforeAll(async () => {
    used = uniqueId();
    await system.send(cardRequest('SALE', { transaction_unique_id: used }));
    const { administration } = system.accounts;
    await administration.create({ merchantAccount: 'order_closed' });
    await administration.changeState('order_closed', 'close');
    before = await storage.counts();
  });

  /** One fault per step, each in a field of its own, in the order of the checks. */
  const FAULTS: [step: string, code: number, fields: () => Body][] = [
    ['version', 1005, () => ({ api_version: 2 })],
    ['password', 2001, () => ({ merchant_password: 'not_the_password' })],
    ['type', 1004, () => ({ transaction_type: 'BUY' })],
    ['field', 1004, () => ({ country: 'XXX' })],
    ['account', 2009, () => ({ currency: 'EUR' })],
    ['id', 3001, () => ({ transaction_unique_id: used })],
    ['operation', 3002, () => ({ token: '00000000-0000-0000-0000-000000000000' })],
  ];
  const PAIRS = FAULTS.flatMap((first, index) => FAULTS.slice(index + 1).map((second) => [first, second] as const));
  const byToken = (): Body => {
    const { card_number: _number, card_exp_month: _month, card_exp_year: _year, cvv: _cvv, ...rest } = sale();
    return { ...rest, token: '00000000-0000-0000-0000-000000000001' };
  };

  test.each(PAIRS.map(([first, second]) => [first[0], second[0], first[1], first, second] as const))(
    '%s comes before %s: %i',
    async (_first, _second, code, first, second) => {
      expect(await refused(json({ ...byToken(), ...second[2](), ...first[2]() }))).toMatchObject({ code });
    },
  );

  test.each<[string, number, Body]>([
    ['no version, no credentials', 1002, { api_version: undefined, merchant_account: undefined }],
    ['no password, unknown account', 1002, { merchant_password: undefined, merchant_account: 'nobody_here' }],
    ['wrong password of a closed account', 2001, { merchant_account: 'order_closed' }],
    ['no type, wrong field', 1002, { transaction_type: undefined, country: 'XXX' }],
  ])('%s: %i', async (_what, code, fields) => {
    expect(await refused(json(sale(fields)))).toMatchObject({ code });
  });
});

test('after all this the service answers as before', async () => {
  const { data } = await system.send(cardRequest('SALE'));
  expect(data).toMatchObject({ status: 'success', code: 0 });
  before = await storage.counts();
});

test('an unknown field is ignored, however long, and the request with its key is accepted', async () => {
  const body = JSON.stringify(sale({ unknown: 'x'.repeat(60_000) }));
  const request: RawRequest = { body, headers: { 'idempotency-key': 'long' } };
  const first = await raw(request);
  expect(first.body).toMatchObject({ status: 'success', code: 0 });
  expect((await raw(request)).body).toEqual(first.body);
  before = await storage.counts();
});
