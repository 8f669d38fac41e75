import type { Body, System } from './support/system';
import {
  CARD,
  CARD_PATH,
  cardRequest,
  checkOf,
  CREDENTIALS,
  CUSTOM,
  followUp,
  recordsOf,
  startSystem,
  tokenRequest,
  uniqueId,
} from './support/system';

let system: System;
beforeAll(async () => {
  system = await startSystem('ops');
});
afterAll(() => system.stop());

async function send(fields: Body): Promise<Body> {
  const { status, data } = await system.send(fields);
  expect(status).toBe(200);
  return data;
}

const effects = async (reference: unknown): Promise<string[]> =>
  (await system.ledger(String(reference))).map((entry) => entry.effect);

describe('a charge', () => {
  test('SALE with full card data collects the amount once and answers with the card transaction response', async () => {
    const request = cardRequest('SALE');
    const response = await send(request);
    expect(response).toEqual({
      api_version: 1,
      merchant_account: CREDENTIALS.merchant_account,
      sessionid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      transaction_unique_id: request['transaction_unique_id'],
      token: expect.stringMatching(/^[0-9a-f-]{36}$/),
      reference: expect.stringMatching(/^[0-9A-Z]{20}$/),
      timestamp: expect.any(Number),
      authcode: expect.stringMatching(/^.{1,24}$/),
      status: 'success',
      code: 0,
      message: 'Transaction processed successfully',
    });
    expect(await system.ledger(String(response['reference']))).toMatchObject([
      { operation: 'sale', effect: 'sold', amount: 10, idempotencyKey: response['reference'] },
    ]);
  });

  test('by token uses the same card and the same token', async () => {
    const first = await send(cardRequest('AUTH'));
    const again = await send(cardRequest('SALE'));
    expect(again['token']).toBe(first['token']);
    const byToken = await send(tokenRequest('SALE', first['token']));
    expect(byToken).toMatchObject({ status: 'success', code: 0, token: first['token'] });
    expect(await effects(byToken['reference'])).toEqual(['sold']);
  });

  test('with a token that another merchant got: 3002', async () => {
    const foreign = await send(cardRequest('SALE', CUSTOM));
    const own = await send(cardRequest('SALE'));
    expect(foreign['token']).not.toBe(own['token']);
    expect(await send(tokenRequest('SALE', foreign['token']))).toMatchObject({ status: 'error', code: 3002 });
  });

  test('as a form is the same as JSON', async () => {
    const fields = { ...CREDENTIALS, ...cardRequest('SALE') } as unknown as Record<string, string>;
    const { data } = await system.http.post<Body>(CARD_PATH, new URLSearchParams(fields));
    expect(data).toMatchObject({ status: 'success', code: 0 });
  });

  test.each([
    ['31.01', 'decline', 3101, 'Insufficient funds'],
    ['31.40', 'decline', 3140, 'General bank decline'],
    ['32.02', 'decline', 3202, 'Volume limit exceeded'],
    ['32.21', 'decline', 3221, 'Sent for manual review by anti-fraud trust lists'],
    ['31.33', 'error', 3109, 'Timeout between PSP and bank'],
  ])('amount %s gets %s %i', async (amount, status, code, message) => {
    expect(await send(cardRequest('SALE', { amount }))).toMatchObject({ status, code, message, authcode: null });
  });

  test('a phone without + is declined at once', async () => {
    const response = await send(cardRequest('SALE', { user_phone: '491234567' }));
    expect(response).toMatchObject({ status: 'decline', code: 3140, message: 'General bank decline' });
    expect(await system.ledger(String(response['reference']))).toEqual([]);
  });

  test('an expired card is declined in test mode only before 2020', async () => {
    expect(await send(cardRequest('SALE', { card_exp_year: '2019' }))).toMatchObject({ status: 'decline', code: 3105 });
    expect(await send(cardRequest('SALE', { card_exp_year: '2020' }))).toMatchObject({ status: 'success' });
  });

  test('a proof of an unknown AUTH3D: 3003, and no money moves', async () => {
    const { reference } = await send(cardRequest('AUTH'));
    const response = await send(cardRequest('SALE', { pares: 'cHJvb2Y', reference }));
    expect(response).toMatchObject({ status: 'error', code: 3003 });
    expect(await system.ledger(String(response['reference']))).toEqual([]);
  });

  test('TOKENIZE returns the token that a charge with the card would get', async () => {
    const { cvv: _cvv, ...card } = CARD;
    const tokenized = await send({ transaction_type: 'TOKENIZE', transaction_unique_id: uniqueId(), ...card });
    expect(tokenized).toMatchObject({ status: 'success', code: 0, authcode: null });
    expect((await send(cardRequest('SALE')))['token']).toBe(tokenized['token']);
  });
});

describe('follow-ups of an AUTH', () => {
  test('SETTLE once, within the amount, then REFUND once', async () => {
    const auth = await send(cardRequest('AUTH'));
    expect(await send(followUp('SETTLE', auth['reference'], { amount: '10.01' }))).toMatchObject({ code: 3016 });
    expect(await send(followUp('SETTLE', auth['reference'], { currency: 'EUR' }))).toMatchObject({ code: 2009 });
    const settled = await send(followUp('SETTLE', auth['reference'], { amount: '4.00' }));
    expect(settled).toMatchObject({ status: 'success', code: 0, token: auth['token'] });
    expect(String(settled['reference']).slice(0, 16)).toBe(String(auth['reference']).slice(0, 16));
    expect(await send(followUp('SETTLE', auth['reference']))).toMatchObject({ status: 'error', code: 3010 });
    expect(await send(followUp('VOID', auth['reference']))).toMatchObject({ status: 'error', code: 3004 });
    expect(await send(followUp('REFUND', settled['reference'], { amount: '4.01' }))).toMatchObject({ code: 3022 });
    const refunded = await send(followUp('REFUND', settled['reference'], { amount: '1.00' }));
    expect(refunded).toMatchObject({ status: 'success', code: 0 });
    expect(await send(followUp('REFUND', settled['reference'], { amount: '1.00' }))).toMatchObject({ code: 3009 });
    expect(await effects(settled['reference'])).toEqual(['captured']);
    expect(await effects(refunded['reference'])).toEqual(['refunded']);
  });

  test('VOID releases the hold, once, and no SETTLE after it', async () => {
    const auth = await send(cardRequest('AUTH'));
    const voided = await send(followUp('VOID', auth['reference']));
    expect(voided).toMatchObject({ status: 'success', code: 0 });
    expect(await effects(voided['reference'])).toEqual(['voided']);
    expect(await send(followUp('VOID', auth['reference']))).toMatchObject({ code: 3008 });
    expect(await send(followUp('SETTLE', auth['reference']))).toMatchObject({ code: 3008 });
  });

  test('a reference that does not exist and one of another merchant get the same answer', async () => {
    const auth = await send(cardRequest('AUTH'));
    const unknown = await send(followUp('VOID', 'ABCDEFGHIJKLMNOP0001'));
    const foreign = await send(followUp('VOID', auth['reference'], CUSTOM));
    for (const response of [unknown, foreign]) expect(response).toMatchObject({ status: 'error', code: 3003 });
    expect(Object.keys(unknown).sort()).toEqual(Object.keys(foreign).sort());
    expect(await send(followUp('VOID', auth['reference']))).toMatchObject({ status: 'success' });
  });
});

describe('CHECK', () => {
  test('shows the requested operation and its follow-ups, oldest first', async () => {
    const auth = await send(cardRequest('AUTH'));
    const settled = await send(followUp('SETTLE', auth['reference']));
    const refunded = await send(followUp('REFUND', settled['reference']));
    const ofAuth = await send(checkOf({ transaction_unique_id: auth['transaction_unique_id'] }));
    expect(ofAuth).toMatchObject({
      api_version: 1,
      merchant_account: CREDENTIALS.merchant_account,
      status: 'success',
      code: 0,
    });
    expect(recordsOf(ofAuth)).toMatchObject([
      {
        reference: auth['reference'],
        transaction_type: 'AUTH',
        status: 'SUCCESS',
        code: 0,
        authcode: auth['authcode'],
      },
      { reference: settled['reference'], transaction_type: 'SETTLE', status: 'SUCCESS', token: auth['token'] },
      { reference: refunded['reference'], transaction_type: 'REFUND', status: 'SUCCESS' },
    ]);
    const ofSettle = await send(checkOf({ reference: settled['reference'] }));
    expect(recordsOf(ofSettle).map((record) => record.transaction_type)).toEqual(['SETTLE', 'REFUND']);
  });

  test('the unique id wins over the reference', async () => {
    const [one, other] = [await send(cardRequest('SALE')), await send(cardRequest('SALE'))];
    const by = { transaction_unique_id: one['transaction_unique_id'], reference: other['reference'] };
    expect(recordsOf(await send(checkOf(by)))[0]?.reference).toBe(one['reference']);
  });

  test('shows a refused operation under its own id', async () => {
    const refused = await send(followUp('REFUND', 'ABCDEFGHIJKLMNOP0001'));
    const checked = await send(checkOf({ transaction_unique_id: refused['transaction_unique_id'] }));
    expect(recordsOf(checked)).toMatchObject([{ transaction_type: 'REFUND', status: 'ERROR', code: 3003 }]);
  });

  test('of an unknown operation, or another merchant’s: 3014', async () => {
    const sale = await send(cardRequest('SALE'));
    for (const fields of [
      checkOf({ transaction_unique_id: uniqueId() }),
      checkOf({ reference: 'ABCDEFGHIJKLMNOP0001' }),
      checkOf({ reference: sale['reference'], ...CUSTOM }),
      checkOf({ transaction_unique_id: sale['transaction_unique_id'], ...CUSTOM }),
      checkOf({ transaction_unique_id: 'expiry-ABCDEFGHIJKLMNOP0001' }),
    ]) {
      expect(await send(fields)).toMatchObject({ status: 'error', code: 3014, transactions: [] });
    }
  });
});

describe('the same request again', () => {
  test('without a key its id is already used: 3001', async () => {
    const request = cardRequest('SALE');
    await send(request);
    expect(await send(request)).toMatchObject({ status: 'error', code: 3001 });
  });

  test('a request that failed validation does not use up its id', async () => {
    const request = cardRequest('SALE');
    expect(await send({ ...request, card_number: '1' })).toMatchObject({ code: 1004 });
    expect(await send(request)).toMatchObject({ status: 'success' });
  });

  test('with a key it gets the first response again, byte for byte', async () => {
    const request = cardRequest('SALE');
    const first = await system.send(request, { 'Idempotency-Key': 'key-1' });
    const again = await system.send(request, { 'Idempotency-Key': 'key-1' });
    expect(first.headers['idempotency-replayed']).toBeUndefined();
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.headers['x-request-id']).toBe(first.data['sessionid']);
    expect(again.data).toEqual(first.data);
    expect(await effects(first.data['reference'])).toEqual(['sold']);
    const other = await send({ ...request, amount: '11.00' });
    expect(other).toMatchObject({ code: 3001 });
    const otherBody = await system.send(
      { ...request, transaction_unique_id: uniqueId() },
      { 'Idempotency-Key': 'key-1' },
    );
    expect(otherBody.data).toMatchObject({ status: 'error', code: 3001 });
  });

  test('twenty at once with a key have one effect and one answer', async () => {
    const request = cardRequest('SALE');
    const headers = { 'Idempotency-Key': 'key-2' };
    const all = await Promise.all(Array.from({ length: 20 }, () => system.send(request, headers)));
    const [first] = all;
    for (const response of all) expect(response.data).toEqual(first?.data);
    expect(await effects(first?.data['reference'])).toEqual(['sold']);
  });

  test('twenty at once without a key: one succeeds', async () => {
    const request = cardRequest('SALE');
    const all = await Promise.all(Array.from({ length: 20 }, () => send(request)));
    expect(all.filter((response) => response['code'] === 0)).toHaveLength(1);
    expect(all.filter((response) => response['code'] === 3001)).toHaveLength(19);
  });
});

describe('money rules under races', () => {
  test('of many SETTLEs one moves money', async () => {
    const auth = await send(cardRequest('AUTH'));
    const all = await Promise.all(Array.from({ length: 10 }, () => send(followUp('SETTLE', auth['reference']))));
    expect(all.map((response) => response['code']).sort()).toEqual([0, ...Array<number>(9).fill(3010)]);
  });

  test('VOID and SETTLE exclude each other', async () => {
    for (let round = 0; round < 5; round += 1) {
      const auth = await send(cardRequest('AUTH'));
      const all = await Promise.all(
        ['VOID', 'SETTLE', 'VOID', 'SETTLE'].map((type) => send(followUp(type as 'VOID', auth['reference']))),
      );
      expect(all.filter((response) => response['code'] === 0)).toHaveLength(1);
    }
  });

  test('of many REFUNDs one moves money', async () => {
    const sale = await send(cardRequest('SALE'));
    const all = await Promise.all(
      Array.from({ length: 10 }, () => send(followUp('REFUND', sale['reference'], { amount: '1.00' }))),
    );
    expect(all.map((response) => response['code']).sort()).toEqual([0, ...Array<number>(9).fill(3009)]);
  });
});

describe('custom parameters', () => {
  test('are in the responses of an account that has them activated, and only there', async () => {
    const named = { descriptor_merchant: '12.5', descriptor_phone: 'not a number' };
    const response = await send(cardRequest('SALE', { ...CUSTOM, ...named }));
    expect(response).toMatchObject({
      status: 'success',
      custom_card_bin: '411111',
      custom_card_last: '1111',
      custom_card_month: '12',
      custom_card_year: '30',
      custom_card_brand: 'Visa',
      custom_card_cardholder: 'Ann Lee',
      custom_user_first_name: 'Ann',
      custom_user_phone: '+491234567',
      custom_descriptor_merchant: '12.5',
      custom_mid_reference: expect.stringMatching(/^MD[0-9A-F]{14}$/),
      secure_storage_id: expect.stringMatching(/^[0-9a-f]{1,45}$/),
      custom_bank_transaction_id: expect.any(String),
    });
    expect(response).not.toHaveProperty('custom_descriptor_phone');
    const plain = await send(cardRequest('SALE', named));
    expect(Object.keys(plain).filter((name) => name.startsWith('custom_'))).toEqual([]);
    const refunded = await send(followUp('REFUND', response['reference'], CUSTOM));
    expect(refunded).toMatchObject({ status: 'success', custom_card_last: '1111' });
  });
});
