import type { Simulator } from '../src/app';
import type { Json, PayoutClient } from './simulator-fixture';
import {
  clientOf,
  dropDatabase,
  IBAN,
  newDatabasePrefix,
  newKey,
  payoutBodyOf,
  payoutClientOf,
  startSimulator,
} from './simulator-fixture';

const prefix = newDatabasePrefix();
let simulator: Simulator;
let bank: PayoutClient;

beforeAll(async () => {
  simulator = await startSimulator(prefix);
  bank = payoutClientOf(simulator);
});

afterAll(async () => {
  await simulator.stop();
  await dropDatabase(prefix);
});

const BANK = {
  id: expect.stringMatching(/^\d{1,20}$/) as unknown,
  name: expect.any(String) as unknown,
  advice: expect.any(String) as unknown,
};

describe('a payout', () => {
  it('that is settled is answered, found by inquiry, and in the ledger once', async () => {
    const key = newKey();
    const { status, body } = await bank.pay(key, { amount: '12.34' });
    expect([status, body]).toEqual([
      200,
      {
        result: 'settled',
        transactionId: expect.stringMatching(/^.{1,255}$/) as unknown,
        bank: { ...BANK, reasonCode: '0', reasonDescription: 'Transaction processed successfully' },
      },
    ]);
    const { result: _result, ...facts } = body;
    expect(await bank.inquire(key)).toEqual({ status: 'settled', ...facts });
    expect(await bank.cancel(key)).toEqual({ status: 'settled', ...facts });
    expect(await bank.ledger(key)).toEqual([
      {
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as unknown,
        operation: 'payout',
        idempotencyKey: key,
        reference: key,
        amount: 12.34,
        currency: 'XTS',
        effect: 'settled',
      },
    ]);
    expect(await bank.ledgerOfPayment(key.slice(0, 16))).toEqual(await bank.ledger(key));
  });

  it.each([
    ['31.01', 'declined', 3101, 'Insufficient funds'],
    ['32.00', 'frauded', 3200, 'Declined by anti-fraud system'],
    ['33.00', 'failed', 3300, 'General payout error'],
  ])('of %s is %s with %d', async (amount, result, code, reason) => {
    const key = newKey();
    const { status, body } = await bank.pay(key, { amount });
    const facts = { code, reason, bank: { ...BANK, reasonCode: String(code), reasonDescription: reason } };
    expect([status, body]).toEqual([200, { result, ...facts }]);
    expect(await bank.inquire(key)).toEqual({ status: result, ...facts });
    expect(await bank.effects(key)).toEqual([result]);
  });

  it('in euros is settled, whatever the amount', async () => {
    for (const amount of ['31.01', '31.09', '31.18', '31.25', '31.33', '33.00']) {
      expect((await bank.pay(newKey(), { amount, currency: 'EUR' })).body).toMatchObject({ result: 'settled' });
    }
  });
});

describe('a bank that misbehaves', () => {
  it('31.09 commits and never answers', async () => {
    const key = newKey();
    await expect(bank.pay(key, { amount: '31.09' })).rejects.toThrow('fetch failed');
    expect(await bank.inquire(key)).toMatchObject({ status: 'settled' });
    expect((await bank.pay(key, { amount: '31.09' })).body).toMatchObject({ result: 'settled' });
    expect(await bank.effects(key)).toEqual(['settled']);
  });

  it('31.17 commits and answers what is not JSON', async () => {
    const key = newKey();
    const response = await fetch(`${bank.base}/bank/v1/payouts`, {
      method: 'POST',
      headers: { 'idempotency-key': key },
      body: JSON.stringify(payoutBodyOf(key, { amount: '31.17' })),
    });
    const text = await response.text();
    expect(response.status).toBe(200);
    expect(() => JSON.parse(text) as unknown).toThrow();
    expect(await bank.effects(key)).toEqual(['settled']);
  });

  it.each([
    ['31.18 drops the connection', '31.18'],
    ['31.25 answers HTTP 500', '31.25'],
  ])('%s and commits nothing: a cancellation makes that final', async (_name, amount) => {
    const key = newKey();
    const pay = bank.pay(key, { amount });
    if (amount === '31.18') await expect(pay).rejects.toThrow('fetch failed');
    else expect(await pay).toMatchObject({ status: 500 });
    expect(await bank.inquire(key)).toEqual({ status: 'not-found' });
    expect(await bank.cancel(key)).toEqual({ status: 'cancelled' });
    expect(await bank.inquire(key)).toEqual({ status: 'cancelled' });
    expect(await bank.pay(key, { amount })).toEqual({ status: 410, body: { error: 'cancelled' } });
    expect(await bank.effects(key)).toEqual(['cancelled']);
  });

  it('31.24 commits and says "unknown", to the first two inquiries too', async () => {
    const key = newKey();
    expect(await bank.pay(key, { amount: '31.24' })).toEqual({ status: 200, body: { result: 'unknown' } });
    expect(await bank.effects(key)).toEqual(['settled']);
    expect(await bank.inquire(key)).toEqual({ status: 'unknown' });
    expect(await bank.inquire(key)).toEqual({ status: 'unknown' });
    expect(await bank.inquire(key)).toMatchObject({ status: 'settled' });
  });

  it('31.33 commits only after the first inquiry was answered "not-found"', async () => {
    const key = newKey();
    await expect(bank.pay(key, { amount: '31.33' })).rejects.toThrow('fetch failed');
    expect(await bank.effects(key)).toEqual([]);
    expect(await bank.inquire(key)).toEqual({ status: 'not-found' });
    // The commit follows without another inquiry.
    while ((await bank.effects(key)).length === 0);
    expect(await bank.effects(key)).toEqual(['settled']);
    expect(await bank.cancel(key)).toMatchObject({ status: 'settled' });
  });

  it('31.33 never commits when it is cancelled first', async () => {
    const key = newKey();
    await expect(bank.pay(key, { amount: '31.33' })).rejects.toThrow('fetch failed');
    expect(await bank.cancel(key)).toEqual({ status: 'cancelled' });
    expect((await bank.pay(key, { amount: '31.33' })).status).toBe(410);
    expect(await bank.effects(key)).toEqual(['cancelled']);
  });
});

describe('an idempotency key', () => {
  it('gives the first answer again, and refuses another body', async () => {
    const key = newKey();
    const first = await bank.pay(key);
    expect(await bank.pay(key)).toEqual(first);
    const creditor = { name: 'Somebody', iban: IBAN.replace(/0$/, '1') };
    for (const fields of [{ amount: '50.01' }, { currency: 'EUR' }, { instant: true }, { creditor }]) {
      expect((await bank.pay(key, fields)).status).toBe(409);
    }
    expect(await bank.effects(key)).toEqual(['settled']);
  });

  it('is not shared with the acquirer', async () => {
    const key = newKey();
    await bank.pay(key);
    expect((await clientOf(simulator).perform('sale', key)).body).toMatchObject({ result: 'approved' });
    expect((await bank.effects(key)).sort()).toEqual(['settled', 'sold']);
  });

  it('that is cancelled before its payout arrives is refused for ever', async () => {
    const key = newKey();
    expect(await bank.cancel(key)).toEqual({ status: 'cancelled' });
    expect((await bank.pay(key)).status).toBe(410);
    expect(await bank.ledger(key)).toEqual([
      expect.objectContaining({ operation: null, reference: key, amount: null, effect: 'cancelled' }),
    ]);
  });
});

describe('a return', () => {
  it('of a settled payout is told until it is acknowledged, and is in the ledger once', async () => {
    const key = newKey();
    await bank.pay(key, { amount: '7.5', currency: 'EUR' });
    expect(await bank.comeBack(key)).toEqual({ status: 200, body: { status: 'returned' } });
    expect(await bank.comeBack(key, { reasonCode: 'AC06' })).toEqual({ status: 200, body: { status: 'returned' } });
    const told = { reference: key, reasonCode: 'AC04', at: expect.any(Number) as unknown };
    expect(await bank.returnsOf(key)).toEqual([told]);
    expect(await bank.returnsOf(key)).toEqual([told]);
    expect([await bank.acknowledge(key), await bank.acknowledge(key)]).toEqual([204, 204]);
    expect(await bank.returnsOf(key)).toEqual([]);

    expect((await bank.comeBack(key)).status).toBe(200);
    expect(await bank.returnsOf(key)).toEqual([]);
    expect(await bank.inquire(key)).toMatchObject({ status: 'settled' });
    expect(await bank.ledger(key)).toEqual([
      expect.objectContaining({ operation: 'payout', effect: 'settled' }),
      expect.objectContaining({ operation: 'return', amount: 7.5, currency: 'EUR', effect: 'returned' }),
    ]);
  });

  it.each([
    ['nothing', () => Promise.resolve()],
    ['a declined payout', (key: string) => bank.pay(key, { amount: '31.01' })],
    [
      'a payout that is held back',
      (key: string) => expect(bank.pay(key, { amount: '31.33' })).rejects.toThrow('fetch failed'),
    ],
  ])('of %s is refused with 409', async (_name, prepare) => {
    const key = newKey();
    await prepare(key);
    expect((await bank.comeBack(key)).status).toBe(409);
    expect(await bank.returnsOf(key)).toEqual([]);
  });

  it('is told oldest first, in the number that is asked for', async () => {
    const keys = [newKey(), newKey(), newKey()];
    for (const key of keys) {
      await bank.pay(key);
      await bank.comeBack(key);
    }
    const all = (await bank.returns()).map(({ reference }) => reference);
    expect(all.slice(-3)).toEqual(keys);
    expect((await bank.returns(2)).map(({ reference }) => reference)).toEqual(all.slice(0, 2));
    const first = all[0] as string;
    await bank.acknowledge(first);
    expect((await bank.returns(2)).map(({ reference }) => reference)).toEqual(all.slice(1, 3));
  });

  it('that never was cannot be acknowledged', async () => {
    expect(await bank.acknowledge(newKey())).toBe(404);
  });

  it.each([
    [{}],
    [{ reasonCode: '' }],
    [{ reasonCode: 'ac04' }],
    [{ reasonCode: 'A'.repeat(36) }],
    [{ reasonCode: 4 }],
  ])('with %j as its reason is refused with 400', async (body) => {
    const key = newKey();
    await bank.pay(key);
    expect((await bank.comeBack(key, body)).status).toBe(400);
    expect(await bank.effects(key)).toEqual(['settled']);
  });

  it.each(['0', '-1', '1001', 'x', ''])('is not listed with the limit %p', async (limit) => {
    expect((await bank.call('GET', `/bank/v1/returns?limit=${limit}`)).status).toBe(400);
  });

  it('is listed without a limit', async () => {
    expect((await bank.call('GET', '/bank/v1/returns')).status).toBe(200);
  });
});

describe('a malformed payout is refused with 400 and leaves no trace', () => {
  it.each<[string, Json | unknown[] | string]>([
    ['no JSON', '{'],
    ['an array', []],
    ['another reference than the key', { reference: 'OTHER' }],
    ['no amount', { amount: undefined }],
    ['a number as amount', { amount: 10 }],
    ['no currency', { currency: undefined }],
    ['no word about instant', { instant: undefined }],
    ['an object as description', { description: { $gt: '' } }],
    ['no creditor', { creditor: undefined }],
    ['a creditor without a name', { creditor: { iban: IBAN } }],
    ['a creditor without an IBAN', { creditor: { name: 'Somebody' } }],
    ['an IBAN in groups', { creditor: { name: 'Somebody', iban: 'DE89 3704 0044 0532 0130 00' } }],
    ['a short BIC', { creditor: { name: 'Somebody', iban: IBAN, bic: 'COBA' } }],
  ])('%s', async (_name, fields) => {
    const key = newKey();
    const isBody = typeof fields === 'string' || Array.isArray(fields);
    const answer = await bank.post(key, isBody ? fields : payoutBodyOf(key, fields));
    expect([answer.status, typeof answer.body['error']]).toEqual([400, 'string']);
    expect(await bank.inquire(key)).toEqual({ status: 'not-found' });
  });

  it('a malformed key, and paths that do not exist', async () => {
    expect((await bank.post('$ne', payoutBodyOf('$ne'))).status).toBe(400);
    expect((await bank.call('GET', '/bank/v1/payouts')).status).toBe(404);
    expect((await bank.call('POST', '/bank/v1/returns')).status).toBe(404);
  });
});
