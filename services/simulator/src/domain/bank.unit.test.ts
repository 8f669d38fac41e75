import type { PayoutOrder, PayoutRecord } from './bank';
import {
  decidePayout,
  payoutEntryOf,
  payoutResultOf,
  payoutStatusOf,
  returnEntryOf,
  returnOf,
  sameOrder,
} from './bank';
import { decideCancellation, decideInquiry, decideRepetition } from './keyed';

const NOW = 1_700_000_000_000;
const KEY = 'PAYOUT00000000000001';

function order(fields: Partial<PayoutOrder> = {}): PayoutOrder {
  return {
    idempotencyKey: KEY,
    reference: KEY,
    amountE4: 100_000,
    currency: 'XTS',
    instant: false,
    creditor: { country: 'DE', last4: '3000' },
    ...fields,
  };
}

/** What is stored of a payout of this amount. */
function recordOf(amountE4: number): PayoutRecord {
  const { record } = decidePayout(order({ amountE4 }), NOW);
  if (record === undefined) throw new Error(`nothing is stored of ${amountE4}`);
  return record;
}

describe('the amount of a payout decides', () => {
  it.each<[number, string, number]>([
    [310_100, 'declined', 3101],
    [314_000, 'declined', 3140],
    [320_000, 'frauded', 3200],
    [322_100, 'frauded', 3221],
    [330_000, 'failed', 3300],
    [333_000, 'failed', 3330],
  ])('%d: %s with %d, and the ledger says so', (amountE4, result, code) => {
    const { record, reaction } = decidePayout(order({ amountE4 }), NOW);
    if (reaction.kind !== 'outcome') throw new Error(`no outcome but ${reaction.kind}`);
    expect(payoutResultOf(reaction.record)).toMatchObject({ result, code, bank: { reasonCode: String(code) } });
    expect(payoutEntryOf(record!)).toMatchObject({ operation: 'payout', amountE4, effect: result });
  });

  it.each<[number, PayoutRecord['state'] | undefined, string]>([
    [310_900, 'approved', 'silence'],
    [311_700, 'approved', 'garbage'],
    [311_800, undefined, 'dropped-connection'],
    [312_400, 'approved', 'unknown'],
    [312_500, undefined, 'failure'],
    [313_300, 'held', 'silence'],
  ])('%d leaves %s and reacts with %s', (amountE4, state, kind) => {
    const { record, reaction } = decidePayout(order({ amountE4 }), NOW);
    expect([record?.state, reaction.kind]).toEqual([state, kind]);
  });

  it('settles what forces nothing, and all that is not XTS', () => {
    for (const fields of [{ amountE4: 100_000 }, ...[310_100, 310_900, 330_000].map(inEuros)]) {
      const { record, reaction } = decidePayout(order(fields), NOW);
      expect([record?.state, reaction.kind]).toEqual(['approved', 'outcome']);
    }
  });
});

function inEuros(amountE4: number): Partial<PayoutOrder> {
  return { amountE4, currency: 'EUR' };
}

describe('a key that came before', () => {
  it('repeats its first result', () => {
    for (const amountE4 of [100_000, 310_100, 312_400]) {
      const asked = order({ amountE4 });
      const first = decidePayout(asked, NOW);
      expect(decideRepetition(first.record!, asked, sameOrder)).toEqual(first.reaction);
    }
  });

  it.each<Partial<PayoutOrder>>([
    { amountE4: 100_001 },
    { currency: 'EUR' },
    { instant: true },
    { creditor: { country: 'DE', last4: '3001' } },
    { creditor: { country: 'AT', last4: '3000' } },
  ])('refuses another order: %o', (fields) => {
    expect(decideRepetition(recordOf(100_000), order(fields), sameOrder)).toEqual({ kind: 'other-request' });
  });
});

describe('asked how a payout stands', () => {
  it.each<[string, PayoutRecord | undefined, object]>([
    ['nothing', undefined, { status: 'not-found' }],
    ['a settled one', recordOf(100_000), { status: 'settled', transactionId: `SIM-${KEY}` }],
    ['a declined one', recordOf(310_100), { status: 'declined', code: 3101, reason: 'Insufficient funds' }],
    ['one that is called unknown', recordOf(312_400), { status: 'unknown' }],
    ['a cancelled one', decideCancellation<PayoutOrder, never>(KEY, undefined, NOW).next, { status: 'cancelled' }],
  ])('%s', (_name, known, answer) => {
    expect(payoutStatusOf(decideInquiry(known, NOW).answer)).toMatchObject(answer);
  });

  it('a cancellation tells the outcome when there is one', () => {
    expect(payoutStatusOf(decideCancellation(KEY, recordOf(320_000), NOW).answer)).toMatchObject({
      status: 'frauded',
      code: 3200,
    });
    expect(payoutStatusOf(decideCancellation(KEY, recordOf(313_300), NOW).answer)).toEqual({ status: 'cancelled' });
  });
});

describe('money comes back', () => {
  it('from a settled payout, with its amount and the time of the return', () => {
    const back = returnOf(recordOf(100_000), 'AC04', NOW + 5);
    expect(back).toEqual({ reference: KEY, reasonCode: 'AC04', at: NOW + 5, amountE4: 100_000, currency: 'XTS' });
    expect(returnEntryOf(back!)).toMatchObject({ operation: 'return', effect: 'returned', at: NOW + 5 });
  });

  it.each<[string, PayoutRecord | undefined]>([
    ['nothing', undefined],
    ['a declined payout', recordOf(310_100)],
    ['a payout that is held back', recordOf(313_300)],
    ['a cancelled payout', decideCancellation(KEY, recordOf(313_300), NOW).next],
  ])('but not from %s', (_name, known) => {
    expect(returnOf(known, 'AC04', NOW)).toBeUndefined();
  });
});
