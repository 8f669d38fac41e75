import type { Simulator } from '../src/app';
import type { Client, Json } from './simulator-fixture';
import {
  approvedTransaction,
  bodyOf,
  clientOf,
  dropDatabase,
  newDatabasePrefix,
  newKey,
  newPayment,
  referenceIn,
  startSimulator,
} from './simulator-fixture';

const prefix = newDatabasePrefix();
let simulator: Simulator;
let bank: Client;

beforeAll(async () => {
  simulator = await startSimulator(prefix);
  bank = clientOf(simulator);
});

afterAll(async () => {
  await simulator.stop();
  await dropDatabase(prefix);
});

const APPROVED_BANK = {
  id: expect.stringMatching(/^\d{1,20}$/) as unknown,
  name: expect.any(String) as unknown,
  descriptor: expect.any(String) as unknown,
};

/** Prepares each operation, and returns its reference and fields. */
const preparations: Record<string, (payment: string) => Promise<Json>> = {
  authorize: async () => ({}),
  sale: async () => ({}),
  capture: async (payment) => ({
    originalTransactionId: await approvedTransaction(bank, 'authorize', referenceIn(payment)),
  }),
  refund: async (payment) => ({
    originalTransactionId: await approvedTransaction(bank, 'sale', referenceIn(payment)),
  }),
};
const OPERATIONS = Object.keys(preparations);
const EFFECTS: Record<string, string> = {
  authorize: 'authorized',
  sale: 'sold',
  capture: 'captured',
  refund: 'refunded',
  void: 'voided',
};

async function prepared(operation: string, amount: string): Promise<{ reference: string; body: Json }> {
  const payment = newPayment();
  const fields = await preparations[operation]!(payment);
  const reference = referenceIn(payment);
  return { reference, body: bodyOf(operation, reference, { ...fields, amount }) };
}

/** Voids an authorization of this amount. */
async function preparedVoid(amount: string): Promise<{ reference: string; body: Json }> {
  const payment = newPayment();
  const originalTransactionId = await approvedTransaction(bank, 'authorize', referenceIn(payment), { amount });
  const reference = referenceIn(payment);
  return { reference, body: bodyOf('void', reference, { originalTransactionId }) };
}

/** Each operation with the amount that forces a code's behaviour: 31.09, or 41.09 for a void. */
const rows = (amount: string): [string, string][] => [
  ...OPERATIONS.map((operation): [string, string] => [operation, amount]),
  ['void', (Number(amount) + 10).toFixed(2)],
];
const prepare = (operation: string, amount: string) =>
  operation === 'void' ? preparedVoid(amount) : prepared(operation, amount);

describe('an approval', () => {
  it.each([...OPERATIONS, 'void'])(
    'of a %s is answered, found by inquiry, and in the ledger once',
    async (operation) => {
      const { reference, body } = await prepare(operation, '12.3456');
      const { status, body: answer } = await bank.post(reference, body);
      expect(status).toBe(200);
      expect(answer).toMatchObject({
        result: 'approved',
        transactionId: expect.stringMatching(/^.{1,255}$/) as unknown,
        bank: APPROVED_BANK,
      });
      if (operation === 'void' || operation === 'refund') expect(answer['authcode']).toBeNull();
      else expect(answer['authcode']).toMatch(/^[0-9A-Z]{6}$/);

      const { result: _result, ...facts } = answer;
      expect(await bank.inquire(reference)).toEqual({ status: 'approved', ...facts });
      expect(await bank.ledger(reference)).toEqual([
        {
          at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as unknown,
          operation,
          idempotencyKey: reference,
          reference,
          amount: 12.3456,
          currency: 'XTS',
          effect: EFFECTS[operation],
        },
      ]);
    },
  );

  it('is the answer in other currencies, whatever the amount', async () => {
    for (const amount of ['31.01', '31.09', '31.18', '31.25', '31.33']) {
      const { body } = await bank.perform('sale', newKey(), { amount, currency: 'EUR' });
      expect(body).toMatchObject({ result: 'approved' });
    }
  });
});

describe('a decline', () => {
  it.each([...rows('31.01'), ...rows('32.21')])('of a %s of %s', async (operation, amount) => {
    const code = Math.round(Number(amount) * 100) - (operation === 'void' ? 1000 : 0);
    const { reference, body } = await prepare(operation, amount);
    const { body: answer } = await bank.post(reference, body);
    const reason = code === 3101 ? 'Insufficient funds' : 'Sent for manual review by anti-fraud trust lists';
    expect(answer).toMatchObject({ result: 'declined', code, reason, bank: APPROVED_BANK });
    expect(await bank.inquire(reference)).toMatchObject({ status: 'declined', code, reason });
    expect(await bank.cancel(reference)).toMatchObject({ status: 'already_processed', result: 'declined', code });
    expect(await bank.effects(reference)).toEqual(['declined']);
    expect((await bank.post(reference, body)).body).toEqual(answer);
  });

  it('leaves the original as it was', async () => {
    const payment = newPayment();
    const originalTransactionId = await approvedTransaction(bank, 'authorize', referenceIn(payment));
    const declined = await bank.perform('capture', referenceIn(payment), { originalTransactionId, amount: '31.01' });
    expect(declined.body).toMatchObject({ result: 'declined', code: 3101 });
    const captured = await bank.perform('capture', referenceIn(payment), { originalTransactionId });
    expect(captured.body).toMatchObject({ result: 'approved' });
  });
});

describe('31.09 commits and never answers', () => {
  it.each(rows('31.09'))('%s of %s', async (operation, amount) => {
    const { reference, body } = await prepare(operation, amount);
    await expect(bank.post(reference, body)).rejects.toThrow('fetch failed');
    expect(await bank.effects(reference)).toEqual([EFFECTS[operation]]);
    expect(await bank.inquire(reference)).toMatchObject({ status: 'approved' });
    expect(await bank.cancel(reference)).toMatchObject({ status: 'already_processed', result: 'approved' });
  });

  it('holds the connection until the client goes away, and stops without waiting for it', async () => {
    const patient = await startSimulator(prefix, { SIMULATOR_SILENCE_MS: '600000' });
    const client = clientOf(patient);
    const leaving = new AbortController();
    const [left, waiting] = [newKey(), newKey()];
    const leaver = client.post(left, bodyOf('sale', left, { amount: '31.09' }), { signal: leaving.signal });
    const waiter = client.post(waiting, bodyOf('sale', waiting, { amount: '31.09' }));
    const failures = Promise.allSettled([leaver, waiter]);
    while ((await client.effects(left)).length + (await client.effects(waiting)).length < 2);
    leaving.abort();
    await expect(leaver).rejects.toThrow('aborted');
    const startedAt = performance.now();
    await patient.stop();
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect((await failures).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});

describe('31.17 commits and answers garbage', () => {
  it.each(rows('31.17'))('%s of %s', async (operation, amount) => {
    const { reference, body } = await prepare(operation, amount);
    const response = await fetch(`${bank.base}/acquirer/v1/operations`, {
      method: 'POST',
      headers: { 'idempotency-key': reference },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    expect(response.status).toBe(200);
    expect(() => JSON.parse(text) as unknown).toThrow();
    expect(await bank.inquire(reference)).toMatchObject({ status: 'approved' });
    expect(await bank.effects(reference)).toEqual([EFFECTS[operation]]);
  });
});

describe.each([
  ['31.18 drops the connection before it commits', '31.18', 'dropped'],
  ['31.25 answers HTTP 500 and commits nothing', '31.25', 'failed'],
])('%s', (_name, base, how) => {
  it.each(rows(base))('%s of %s', async (operation, amount) => {
    const { reference, body } = await prepare(operation, amount);
    const post = bank.post(reference, body);
    if (how === 'dropped') await expect(post).rejects.toThrow('fetch failed');
    else expect(await post).toMatchObject({ status: 500 });

    expect(await bank.effects(reference)).toEqual([]);
    expect(await bank.inquire(reference)).toEqual({ status: 'not_found' });
    expect(await bank.cancel(reference)).toEqual({ status: 'cancelled' });
    expect(await bank.inquire(reference)).toEqual({ status: 'cancelled' });
    expect(await bank.post(reference, body)).toEqual({ status: 410, body: { error: 'cancelled' } });
    expect(await bank.effects(reference)).toEqual(['cancelled']);
  });
});

describe('31.24 commits and says "unknown", to the first two inquiries too', () => {
  it.each(rows('31.24'))('%s of %s', async (operation, amount) => {
    const { reference, body } = await prepare(operation, amount);
    expect(await bank.post(reference, body)).toEqual({ status: 200, body: { result: 'unknown' } });
    expect(await bank.effects(reference)).toEqual([EFFECTS[operation]]);
    expect((await bank.post(reference, body)).body).toEqual({ result: 'unknown' });
    expect(await bank.inquire(reference)).toEqual({ status: 'unknown' });
    expect(await bank.inquire(reference)).toEqual({ status: 'unknown' });
    expect(await bank.inquire(reference)).toMatchObject({ status: 'approved', bank: APPROVED_BANK });
    expect((await bank.post(reference, body)).body).toMatchObject({ result: 'approved' });
    expect(await bank.effects(reference)).toEqual([EFFECTS[operation]]);
  });
});

describe('31.33 commits only after the first inquiry was answered "not found"', () => {
  it.each(rows('31.33'))('%s of %s', async (operation, amount) => {
    const { reference, body } = await prepare(operation, amount);
    await expect(bank.post(reference, body)).rejects.toThrow('fetch failed');
    await expect(bank.post(reference, body)).rejects.toThrow('fetch failed');
    expect(await bank.effects(reference)).toEqual([]);
    expect(await bank.inquire(reference)).toEqual({ status: 'not_found' });
    // The commit follows without another inquiry.
    while ((await bank.effects(reference)).length === 0);
    expect(await bank.effects(reference)).toEqual([EFFECTS[operation]]);
    expect(await bank.inquire(reference)).toMatchObject({ status: 'approved' });
    expect(await bank.cancel(reference)).toMatchObject({ status: 'already_processed', result: 'approved' });
  });

  it.each(rows('31.33'))('%s of %s: a cancellation that comes before is final', async (operation, amount) => {
    const { reference, body } = await prepare(operation, amount);
    await expect(bank.post(reference, body)).rejects.toThrow('fetch failed');
    expect(await bank.cancel(reference)).toEqual({ status: 'cancelled' });
    expect(await bank.inquire(reference)).toEqual({ status: 'cancelled' });
    expect((await bank.post(reference, body)).status).toBe(410);
    expect(await bank.effects(reference)).toEqual(['cancelled']);
  });

  it('is declined when its original was used up meanwhile', async () => {
    const { reference, body } = await prepared('capture', '31.33');
    await expect(bank.post(reference, body)).rejects.toThrow('fetch failed');
    const { originalTransactionId } = body;
    await approvedTransaction(bank, 'capture', referenceIn(reference.slice(0, 16)), { originalTransactionId });
    await bank.inquire(reference);
    while ((await bank.effects(reference)).length === 0);
    expect(await bank.effects(reference)).toEqual(['declined']);
    expect(await bank.inquire(reference)).toMatchObject({ status: 'declined', code: 3122 });
  });
});

describe('an idempotency key', () => {
  it('gives the first answer again, and refuses another body', async () => {
    const key = newKey();
    const first = await bank.perform('sale', key);
    expect(await bank.perform('sale', key)).toEqual(first);
    expect((await bank.perform('sale', key, { amount: '50.01' })).status).toBe(409);
    expect((await bank.perform('authorize', key)).status).toBe(409);
    expect(await bank.effects(key)).toEqual(['sold']);
  });

  it('that is cancelled before its request arrives is refused for ever', async () => {
    const key = newKey();
    expect(await bank.inquire(key)).toEqual({ status: 'not_found' });
    expect(await bank.cancel(key)).toEqual({ status: 'cancelled' });
    expect(await bank.cancel(key)).toEqual({ status: 'cancelled' });
    expect(await bank.perform('sale', key)).toEqual({ status: 410, body: { error: 'cancelled' } });
    expect(await bank.ledger(key)).toEqual([
      expect.objectContaining({ operation: null, reference: key, amount: null, currency: null, effect: 'cancelled' }),
    ]);
  });
});

describe('the books', () => {
  it('list a payment oldest first, by payment and by operation', async () => {
    const payment = newPayment();
    const [authorize, capture, refund] = [referenceIn(payment), referenceIn(payment), referenceIn(payment)];
    const authorization = await approvedTransaction(bank, 'authorize', authorize, { amount: '0.3' });
    const charge = await approvedTransaction(bank, 'capture', capture, {
      originalTransactionId: authorization,
      amount: '0.2999',
    });
    await approvedTransaction(bank, 'refund', refund, { originalTransactionId: charge, amount: '0.1' });
    const lines = await bank.ledgerOfPayment(payment);
    expect(lines.map(({ reference, effect, amount }) => [reference, effect, amount])).toEqual([
      [authorize, 'authorized', 0.3],
      [capture, 'captured', 0.2999],
      [refund, 'refunded', 0.1],
    ]);
    expect(await bank.ledger(capture)).toEqual([lines[1]]);
    expect(await bank.ledger(newKey())).toEqual([]);
  });

  it('name a late commit by the time of the commit', async () => {
    const payment = newPayment();
    const [held, later] = [referenceIn(payment), referenceIn(payment)];
    await expect(bank.perform('sale', held, { amount: '31.33' })).rejects.toThrow('fetch failed');
    await bank.perform('sale', later);
    await bank.inquire(held);
    await bank.inquire(held);
    expect((await bank.ledgerOfPayment(payment)).map(({ reference }) => reference)).toEqual([later, held]);
  });

  it('find the authorization of a void by its payment, where no transaction is named', async () => {
    const payment = newPayment();
    await approvedTransaction(bank, 'authorize', referenceIn(payment), { amount: '41.01' });
    expect((await bank.perform('void', referenceIn(payment))).body).toMatchObject({ result: 'declined', code: 3101 });
  });

  it('allow a late void in the place of a refund, and neither after the other', async () => {
    for (const [first, second] of [
      ['void', 'refund'],
      ['refund', 'void'],
    ] as const) {
      const payment = newPayment();
      const authorization = await approvedTransaction(bank, 'authorize', referenceIn(payment));
      const original = { originalTransactionId: authorization };
      const charge = await approvedTransaction(bank, 'capture', referenceIn(payment), original);
      const fields = { void: original, refund: { originalTransactionId: charge } };
      expect((await bank.perform(first, referenceIn(payment), fields[first])).body).toMatchObject({
        result: 'approved',
      });
      expect((await bank.perform(second, referenceIn(payment), fields[second])).body).toMatchObject({ code: 3122 });
    }
  });

  it('let a late void name the capture, and go by the amount of the authorization', async () => {
    for (const [amount, answer] of [
      ['60', { result: 'approved' }],
      ['41.01', { result: 'declined', code: 3101 }],
    ] as const) {
      const payment = newPayment();
      const authorization = await approvedTransaction(bank, 'authorize', referenceIn(payment), { amount });
      const charge = await approvedTransaction(bank, 'capture', referenceIn(payment), {
        originalTransactionId: authorization,
        amount: '5',
      });
      const { body } = await bank.perform('void', referenceIn(payment), { originalTransactionId: charge });
      expect(body).toMatchObject(answer);
    }
  });

  it.each(['SIM-NOBODYSREFERENCE000', 'not ours', '$ne'])('know no transaction %s', async (originalTransactionId) => {
    for (const operation of ['capture', 'refund', 'void']) {
      expect((await bank.perform(operation, newKey(), { originalTransactionId })).body).toMatchObject({
        result: 'declined',
        code: 3122,
        reason: 'Invalid acquirer reference',
      });
    }
  });
});

describe('an authentication of the cardholder', () => {
  const threeDS = { eci: '05', authenticationValue: 'AAECAwQFBgcICQoLDA0ODxAREhM=' };
  const ids = { threeDSServerTransID: 'a', dsTransID: 'b', version: '2.2.0' };

  it.each<[string, string, Json, string]>([
    ['sale', 'sold', { threeDS }, '05'],
    ['authorize', 'authorized', { threeDS: { ...threeDS, ...ids, eci: '02' } }, '02'],
    ['sale', 'sold', { threeDS, eci: '05' }, '05'],
    ['sale', 'sold', { threeDS, eci: '5' }, '05'],
    ['sale', 'sold', { threeDS: null, eci: '5' }, '5'],
    ['authorize', 'authorized', { eci: '06' }, '06'],
  ])('comes with a %s (%s) as %p: its ECI is in the ledger', async (operation, effect, fields, eci) => {
    const key = newKey();
    expect((await bank.perform(operation, key, fields)).body).toMatchObject({ result: 'approved' });
    expect(await bank.ledger(key)).toEqual([expect.objectContaining({ effect, eci })]);
  });

  it('comes with a decline, too', async () => {
    const key = newKey();
    await bank.perform('sale', key, { threeDS, amount: '31.01' });
    expect(await bank.ledger(key)).toEqual([expect.objectContaining({ effect: 'declined', eci: '05' })]);
  });

  it('makes a request another one when its ECI differs', async () => {
    const key = newKey();
    const first = await bank.perform('sale', key, { threeDS });
    expect(await bank.perform('sale', key, { threeDS })).toEqual(first);
    expect((await bank.perform('sale', key)).status).toBe(409);
    expect((await bank.perform('sale', key, { threeDS: { ...threeDS, eci: '06' } })).status).toBe(409);
  });

  it('is ignored in other operations', async () => {
    const payment = newPayment();
    const originalTransactionId = await approvedTransaction(bank, 'sale', referenceIn(payment));
    const key = referenceIn(payment);
    await approvedTransaction(bank, 'refund', key, { originalTransactionId, threeDS: 'anything' });
    expect((await bank.ledger(key))[0]).not.toHaveProperty('eci');
  });
});

describe('a malformed request is refused with 400 and leaves no trace', () => {
  it.each<[string, (reference: string) => unknown]>([
    ['no JSON', () => '{'],
    ['an array', () => []],
    ['null', () => null],
    ['an unknown operation', (reference) => bodyOf('steal', reference)],
    ['an operation named like an inherited property', (reference) => bodyOf('constructor', reference)],
    ['no reference', (reference) => bodyOf('sale', reference, { reference: undefined })],
    ['a reference with a dollar sign', (reference) => bodyOf('sale', reference, { reference: '$where' })],
    ['a number as amount', (reference) => bodyOf('sale', reference, { amount: 10 })],
    ['an amount with a sign', (reference) => bodyOf('sale', reference, { amount: '-1' })],
    ['no amount', (reference) => bodyOf('sale', reference, { amount: undefined })],
    ['no currency', (reference) => bodyOf('sale', reference, { currency: undefined })],
    ['a currency of nobody', (reference) => bodyOf('sale', reference, { currency: 'XXQ' })],
    ['no card', (reference) => bodyOf('sale', reference, { card: undefined })],
    ['a card number with letters', (reference) => bodyOf('sale', reference, { card: { number: '4111x' } })],
    ['an object as mid', (reference) => bodyOf('sale', reference, { mid: { $gt: '' } })],
    ...[
      'text',
      [],
      {},
      { eci: '05' },
      { authenticationValue: 'AAECAwQFBgcICQoLDA0ODxAREhM=' },
      { eci: '5', authenticationValue: 'AAECAwQFBgcICQoLDA0ODxAREhM=' },
      { eci: '08', authenticationValue: 'AAECAwQFBgcICQoLDA0ODxAREhM=' },
      { eci: '05', authenticationValue: 'AAECAwQFBgcICQoLDA0ODxAREhMA' },
      { eci: '05', authenticationValue: 'AAECAwQFBgcICQoLDA0ODxAREhM=', dsTransID: { $ne: '' } },
    ].map((threeDS): [string, (reference: string) => unknown] => [
      `the authentication ${JSON.stringify(threeDS)}`,
      (reference) => bodyOf('sale', reference, { threeDS }),
    ]),
    [
      'an ECI that is not that of the authentication',
      (reference) =>
        bodyOf('sale', reference, {
          eci: '06',
          threeDS: { eci: '05', authenticationValue: 'AAECAwQFBgcICQoLDA0ODxAREhM=' },
        }),
    ],
    ['a capture of nothing', (reference) => bodyOf('capture', reference)],
    ['an object as original', (reference) => bodyOf('capture', reference, { originalTransactionId: { $ne: null } })],
  ])('%s', async (_name, body) => {
    const key = newKey();
    const answer = await bank.post(key, body(key));
    expect([answer.status, typeof answer.body['error']]).toEqual([400, 'string']);
    expect(await bank.inquire(key)).toEqual({ status: 'not_found' });
  });

  it.each(['', 'with space', '$ne', 'K'.repeat(65)])('the key %p', async (key) => {
    expect((await bank.post(key, bodyOf('sale', newKey()))).status).toBe(400);
  });

  it('64 KiB and one byte', async () => {
    const key = newKey();
    const body = JSON.stringify(bodyOf('sale', key));
    expect((await bank.post(key, body.padEnd(64 * 1024 + 1))).status).toBe(413);
    expect((await bank.post(key, body.padEnd(64 * 1024))).status).toBe(200);
  });

  it.each(['/ledger', '/ledger?reference=', '/ledger?reference=a%20b', '/ledger?payment=SHORT'])('%s', async (path) => {
    expect((await bank.call('GET', path)).status).toBe(400);
  });

  it.each([
    ['GET', '/'],
    ['GET', '/acquirer/v1/operations'],
    ['POST', '/ledger?reference=A'],
    ['GET', '/acquirer/v1/operations/a/b'],
  ])('%s %s is no path', async (method, path) => {
    expect((await bank.call(method, path)).status).toBe(404);
  });
});
