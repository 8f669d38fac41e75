import { until } from '@gateway/testing';
import { inquire } from '../src/application/keyed';
import { createAcquirerRecords } from '../src/adapters/mongo/acquirer';
import type { Simulator } from '../src/app';
import type { Client, PayoutClient } from './simulator-fixture';
import { authenticationRequest, bankClientOf, press, startThreedsServer } from './threeds-server-fixture';
import {
  approvedTransaction,
  bodyOf,
  clientOf,
  connectDatabase,
  dropDatabase,
  newDatabasePrefix,
  newKey,
  newPayment,
  payoutClientOf,
  referenceIn,
  startSimulator,
} from './simulator-fixture';

const prefix = newDatabasePrefix();
const RACES = 60;
let replicas: Simulator[];
let one: Client;
let other: Client;
let payouts: [PayoutClient, PayoutClient];

beforeAll(async () => {
  replicas = await Promise.all([startSimulator(prefix), startSimulator(prefix)]);
  [one, other] = replicas.map(clientOf) as [Client, Client];
  payouts = replicas.map(payoutClientOf) as [PayoutClient, PayoutClient];
});

afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()));
  await dropDatabase(prefix);
});

const either = (index: number): Client => (index % 2 === 0 ? one : other);
const count = (length: number): number[] => Array.from({ length }, (_, index) => index);

describe('50 identical requests at once, at two replicas', () => {
  it.each([
    ['sale', '50', 'sold'],
    ['authorize', '50', 'authorized'],
    ['sale', '31.01', 'declined'],
    ['sale', '31.24', 'sold'],
  ])('%s of %s: one effect, one answer', async (operation, amount, effect) => {
    const key = newKey();
    const answers = await Promise.all(count(50).map((index) => either(index).perform(operation, key, { amount })));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]?.status).toBe(200);
    expect(await one.effects(key)).toEqual([effect]);
  });

  it.each([
    ['capture', 'authorize', 'captured'],
    ['refund', 'sale', 'refunded'],
    ['void', 'authorize', 'voided'],
  ])('%s after %s: one effect, one answer', async (operation, before, effect) => {
    const payment = newPayment();
    const originalTransactionId = await approvedTransaction(one, before, referenceIn(payment));
    const key = referenceIn(payment);
    const answers = await Promise.all(
      count(50).map((index) => either(index).perform(operation, key, { originalTransactionId })),
    );
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]?.body).toMatchObject({ result: 'approved' });
    expect(await one.effects(key)).toEqual([effect]);
  });
});

describe('different keys that use up the same transaction', () => {
  it.each([
    ['capture', 'authorize', 'captured'],
    ['refund', 'sale', 'refunded'],
    ['void', 'authorize', 'voided'],
  ])('%s after %s: one is approved, the others get 3122', async (operation, before, effect) => {
    const payment = newPayment();
    const originalTransactionId = await approvedTransaction(one, before, referenceIn(payment));
    const answers = await Promise.all(
      count(20).map((index) => either(index).perform(operation, referenceIn(payment), { originalTransactionId })),
    );
    const codes = answers.map(({ body }) => body['code'] ?? body['result']).sort();
    expect(codes).toEqual([...Array<number>(19).fill(3122), 'approved']);
    const effects = (await one.ledgerOfPayment(payment)).map((line) => line.effect);
    expect(effects.filter((done) => done === effect)).toHaveLength(1);
  });

  it('a capture and a void: a capture is never approved after a void', async () => {
    const outcomes = await Promise.all(
      count(RACES).map(async (index) => {
        const payment = newPayment();
        const originalTransactionId = await approvedTransaction(either(index), 'authorize', referenceIn(payment));
        const [capture] = await Promise.all([
          either(index).perform('capture', referenceIn(payment), { originalTransactionId }),
          either(index + 1).perform('void', referenceIn(payment), { originalTransactionId }),
        ]);
        const effects = (await one.ledgerOfPayment(payment)).map(({ effect }) => effect);
        return { captured: capture.body['result'] === 'approved', effects };
      }),
    );
    for (const { captured, effects } of outcomes) {
      expect(effects.filter((effect) => effect === 'captured')).toHaveLength(captured ? 1 : 0);
      // The void is approved either way, early or late.
      expect(effects.filter((effect) => effect === 'voided')).toHaveLength(1);
    }
  });
});

describe('a cancellation against a commit: one of them wins, never both', () => {
  it('of an ordinary sale', async () => {
    await Promise.all(
      count(RACES).map(async (index) => {
        const key = newKey();
        const [sale, cancellation] = await Promise.all([
          either(index).perform('sale', key),
          either(index + 1).cancel(key),
        ]);
        const cancelled = cancellation['status'] === 'cancelled';
        expect(sale.status).toBe(cancelled ? 410 : 200);
        expect(cancellation['status']).toBe(cancelled ? 'cancelled' : 'already_processed');
        expect(await one.effects(key)).toEqual([cancelled ? 'cancelled' : 'sold']);
      }),
    );
  });

  it('of a late commit, with inquiries at both replicas', async () => {
    const wins = await Promise.all(
      count(RACES).map(async (index) => {
        const key = newKey();
        await expect(either(index).perform('sale', key, { amount: '31.33' })).rejects.toThrow('fetch failed');
        const [, , cancellation] = await Promise.all([
          either(index).inquire(key),
          either(index + 1).inquire(key),
          // Like a resolver: first "not found", then the cancellation, while others inquire.
          either(index + 1)
            .inquire(key)
            .then(() => either(index).cancel(key)),
        ]);
        const cancelled = cancellation['status'] === 'cancelled';
        expect(await one.inquire(key)).toMatchObject({ status: cancelled ? 'cancelled' : 'approved' });
        expect(await other.cancel(key)).toMatchObject({ status: cancelled ? 'cancelled' : 'already_processed' });
        expect(await one.effects(key)).toEqual([cancelled ? 'cancelled' : 'sold']);
        return cancelled;
      }),
    );
    expect(wins).toHaveLength(RACES);
  });

  it('counts the unknown inquiries of both replicas together', async () => {
    const key = newKey();
    await one.perform('sale', key, { amount: '31.24' });
    const answers = await Promise.all(count(10).map((index) => either(index).inquire(key)));
    expect(answers.filter(({ status }) => status === 'unknown')).toHaveLength(2);
    expect(answers.filter(({ status }) => status === 'approved')).toHaveLength(8);
  });
});

describe('payouts at two replicas', () => {
  const at = (index: number): PayoutClient => payouts[index % 2]!;

  it.each([
    ['50', 'settled'],
    ['32.00', 'frauded'],
    ['31.24', 'settled'],
  ])('50 identical ones of %s at once: one effect (%s), one answer', async (amount, effect) => {
    const key = newKey();
    const answers = await Promise.all(count(50).map((index) => at(index).pay(key, { amount })));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]?.status).toBe(200);
    expect(await one.effects(key)).toEqual([effect]);
  });

  it('a cancellation against a settlement: one of them wins, never both', async () => {
    await Promise.all(
      count(RACES).map(async (index) => {
        const key = newKey();
        const [paid, { status }] = await Promise.all([at(index).pay(key), at(index + 1).cancel(key)]);
        expect(paid.status).toBe(status === 'cancelled' ? 410 : 200);
        expect(await one.effects(key)).toEqual([status]);
      }),
    );
  });

  it('a cancellation against a late settlement: one of them wins, never both', async () => {
    await Promise.all(
      count(RACES).map(async (index) => {
        const key = newKey();
        await expect(at(index).pay(key, { amount: '31.33' })).rejects.toThrow('fetch failed');
        await at(index).inquire(key);
        const { status } = await at(index + 1).cancel(key);
        expect(['cancelled', 'settled']).toContain(status);
        expect(await at(index).inquire(key)).toMatchObject({ status });
        expect(await one.effects(key)).toEqual([status]);
      }),
    );
  });

  it('20 returns of one payout at once: it comes back once, and is acknowledged at either', async () => {
    const key = newKey();
    await at(0).pay(key);
    const answers = await Promise.all(count(20).map((index) => at(index).comeBack(key)));
    for (const answer of answers) expect(answer).toEqual({ status: 200, body: { status: 'returned' } });
    expect(await one.effects(key)).toEqual(['settled', 'returned']);
    expect(await at(1).returnsOf(key)).toHaveLength(1);
    expect(await at(0).acknowledge(key)).toBe(204);
    expect(await at(1).returnsOf(key)).toEqual([]);
  });
});

describe('after a restart', () => {
  async function restarted<T>(
    before: (bank: Client) => Promise<void>,
    after: (bank: Client) => Promise<T>,
  ): Promise<T> {
    const first = await startSimulator(prefix);
    await before(clientOf(first));
    await first.stop();
    const second = await startSimulator(prefix);
    const result = await after(clientOf(second));
    await second.stop();
    return result;
  }

  it('a held request still waits for its first inquiry', async () => {
    const key = newKey();
    await restarted(
      (bank) => expect(bank.perform('sale', key, { amount: '31.33' })).rejects.toThrow('fetch failed'),
      async (bank) => {
        expect(await bank.effects(key)).toEqual([]);
        expect(await bank.inquire(key)).toEqual({ status: 'not_found' });
        expect(await bank.inquire(key)).toMatchObject({ status: 'approved' });
      },
    );
  });

  it('a commit that was due when the process died is made at the next inquiry, unless it is cancelled first', async () => {
    const [asked, cancelled] = [newKey(), newKey()];
    const connection = await connectDatabase(prefix);
    const records = await createAcquirerRecords(connection);
    const ports = { records, now: Date.now };
    await restarted(
      async (bank) => {
        for (const key of [asked, cancelled]) {
          await expect(bank.perform('sale', key, { amount: '31.33' })).rejects.toThrow('fetch failed');
          // `afterwards` does not run, as if the process had died.
          expect((await inquire(ports, key)).answer).toEqual({ kind: 'not-found' });
        }
      },
      async (bank) => {
        expect(await bank.effects(asked)).toEqual([]);
        expect(await bank.cancel(cancelled)).toEqual({ status: 'cancelled' });
        expect(await bank.inquire(asked)).toMatchObject({ status: 'approved' });
        expect([await bank.effects(asked), await bank.effects(cancelled)]).toEqual([['sold'], ['cancelled']]);
      },
    );
    await connection.close();
  });

  it('answers, cancellations and the count of inquiries are what they were', async () => {
    const [sold, unknown, cancelled] = [newKey(), newKey(), newKey()];
    let first: unknown;
    await restarted(
      async (bank) => {
        first = await bank.perform('sale', sold);
        await bank.perform('sale', unknown, { amount: '31.24' });
        await bank.inquire(unknown);
        await bank.cancel(cancelled);
      },
      async (bank) => {
        expect(await bank.perform('sale', sold)).toEqual(first);
        expect(await bank.inquire(unknown)).toEqual({ status: 'unknown' });
        expect(await bank.inquire(unknown)).toMatchObject({ status: 'approved' });
        expect((await bank.perform('sale', cancelled)).status).toBe(410);
      },
    );
  });
});

it('payouts, held ones and returns outlive a restart', async () => {
  const [held, back] = [newKey(), newKey()];
  const first = await startSimulator(prefix);
  const before = payoutClientOf(first);
  await expect(before.pay(held, { amount: '31.33' })).rejects.toThrow('fetch failed');
  const settled = await before.pay(back);
  await before.comeBack(back);
  await first.stop();

  const second = await startSimulator(prefix);
  const after = payoutClientOf(second);
  expect(await after.pay(back)).toEqual(settled);
  expect(await after.returnsOf(back)).toHaveLength(1);
  expect(await after.inquire(held)).toEqual({ status: 'not-found' });
  expect(await after.inquire(held)).toMatchObject({ status: 'settled' });
  await second.stop();
});

describe('a challenge outlives restarts', () => {
  it('its page, its decision, and a result that nobody took yet', async () => {
    const server = await startThreedsServer();
    // Later than every retry, so that due results are sent at once.
    const later = (): number => Date.now() + 60_000;
    const first = await startSimulator(prefix);
    const ares = await bankClientOf(first).challenge(authenticationRequest(server));
    await first.stop();

    const id = ares['threeDSServerTransID'] as string;
    const second = await startSimulator(prefix);
    await server.stop();
    const decided = await press(await bankClientOf(second).open(ares), 'failure');
    expect([decided.status, decided.location]).toEqual([307, `${server.url}/notification`]);
    await second.stop();

    const back = await startThreedsServer(Number(new URL(server.url).port));
    const third = await startSimulator(prefix, {}, [], later);
    await until('the result is there', () => back.results(id).length === 1);
    const reopened = await bankClientOf(third).open(ares);
    expect(reopened.forms.map(({ fields }) => fields['decision'])).toEqual(['failure']);
    await third.stop();
    await back.stop();
  });
});

it('a stopping simulator answers what it has begun', async () => {
  const stopping = await startSimulator(prefix, { SIMULATOR_LATENCY_MS: '150' });
  const client = clientOf(stopping);
  const key = newKey();
  const answer = client.post(key, bodyOf('sale', key));
  // The commit comes before the latency, so the answer is still pending.
  while ((await one.effects(key)).length === 0);
  const startedAt = performance.now();
  await stopping.stop();
  // The client keeps the connection alive; stopping does not wait for it.
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  expect(await answer).toMatchObject({ status: 200, body: { result: 'approved' } });
});
