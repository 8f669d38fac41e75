import type { AcquirerOperation, Approval, ApprovedOperation, OperationRecord, OperationRequest } from './acquirer';
import { decideOperation, operationEntryOf, sameRequest } from './acquirer';
import type * as keyed from './keyed';
import { decideCancellation, decideInquiry, decideRepetition } from './keyed';

type Decision = keyed.Decision<OperationRequest, Approval>;

const NOW = 1_700_000_000_000;
const FACTS = { now: NOW, newAuthcode: 'A1B2C3' };
let keys = 0;

function request(operation: AcquirerOperation, fields: Partial<OperationRequest> = {}): OperationRequest {
  const key = `PAYMENT000000000${String(++keys).padStart(4, '0')}`;
  const charges = operation === 'authorize' || operation === 'sale';
  return {
    idempotencyKey: key,
    operation,
    reference: key,
    amountE4: operation === 'void' ? null : 100_000,
    currency: operation === 'void' ? null : 'XTS',
    card: charges ? { brand: 'visa', last4: '1111' } : null,
    originalTransactionId: null,
    mid: 'MD0123456789ABCD',
    eci: null,
    ...fields,
  };
}

const decide = (asked: OperationRequest, ...chain: ApprovedOperation[]): Decision =>
  decideOperation(asked, chain, FACTS);

function approvedBy(decision: Decision): ApprovedOperation {
  if (decision.record?.state !== 'approved') throw new Error(`not approved but ${decision.record?.state}`);
  return decision.record;
}

/** The approved transactions of a payment in which these operations happened one after the other. */
function given(...steps: [AcquirerOperation, Partial<OperationRequest>?][]): ApprovedOperation[] {
  const chain: ApprovedOperation[] = [];
  for (const [operation, fields] of steps) {
    const original = chain.at(-1)?.approval.transactionId ?? null;
    chain.push(approvedBy(decide(request(operation, { originalTransactionId: original, ...fields }), ...chain)));
  }
  return chain;
}

const repeat = (known: OperationRecord, asked: OperationRequest) => decideRepetition(known, asked, sameRequest);
/** A key that was cancelled before anything came with it. */
const cancelledUnseen = decideCancellation<OperationRequest, Approval>('KEY', undefined, NOW).next;
const idOf = (record: ApprovedOperation | undefined): string | null => record?.approval.transactionId ?? null;
const INVALID_REFERENCE = { state: 'declined', code: 3122 };

describe('an ordinary operation', () => {
  it('authorizes with an authcode of its own', () => {
    const { record, reaction } = decide(request('authorize'));
    expect(record).toMatchObject({ state: 'approved', approval: { authcode: 'A1B2C3', follows: null } });
    expect(reaction).toEqual({ kind: 'outcome', record });
  });

  it('captures under the authcode of the authorization, up to its amount', () => {
    const [authorization] = given(['authorize', { amountE4: 500_000 }]);
    for (const amountE4 of [1, 500_000]) {
      const asked = request('capture', { originalTransactionId: idOf(authorization), amountE4 });
      expect(decide(asked, authorization!).record).toMatchObject({
        state: 'approved',
        approval: { authcode: 'A1B2C3', follows: idOf(authorization), amountE4 },
      });
    }
  });

  it('voids with the amount that it releases', () => {
    const [authorization] = given(['authorize', { amountE4: 500_000 }]);
    const asked = request('void', { originalTransactionId: idOf(authorization) });
    expect(decide(asked, authorization!).record).toMatchObject({
      state: 'approved',
      approval: { authcode: null, amountE4: 500_000, currency: 'XTS' },
    });
  });

  it.each<[string, [AcquirerOperation][]]>([
    ['a sale', [['sale']]],
    ['a captured authorization', [['authorize'], ['capture']]],
  ])('refunds %s', (_name, steps) => {
    const chain = given(...steps);
    const asked = request('refund', { originalTransactionId: idOf(chain.at(-1)) });
    expect(decide(asked, ...chain).record).toMatchObject({ state: 'approved' });
  });

  it('voids a captured authorization late, in the place of a refund', () => {
    const chain = given(['authorize'], ['capture']);
    for (const original of chain) {
      const asked = request('void', { originalTransactionId: idOf(original) });
      expect(decide(asked, ...chain).record).toMatchObject({ approval: { follows: idOf(chain[1]) } });
    }
  });
});

describe('the bank declines with 3122', () => {
  const all: [AcquirerOperation, string, [AcquirerOperation][]][] = [
    ['capture', 'nothing', []],
    ['capture', 'a sale', [['sale']]],
    ['capture', 'a voided authorization', [['authorize'], ['void']]],
    ['capture', 'a captured authorization', [['authorize'], ['capture']]],
    ['void', 'nothing', []],
    ['void', 'a sale', [['sale']]],
    ['void', 'a voided authorization', [['authorize'], ['void']]],
    ['void', 'an authorization voided late', [['authorize'], ['capture'], ['void']]],
    ['void', 'a refunded capture', [['authorize'], ['capture'], ['refund']]],
    ['refund', 'nothing', []],
    ['refund', 'an open authorization', [['authorize']]],
    ['refund', 'a refunded sale', [['sale'], ['refund']]],
    ['refund', 'a refunded capture', [['authorize'], ['capture'], ['refund']]],
    ['refund', 'an authorization voided late', [['authorize'], ['capture'], ['void']]],
  ];

  it.each(all)('a %s of %s', (operation, _name, steps) => {
    const chain = given(...steps);
    const originals = chain.length === 0 ? ['SIM-NOTHING'] : chain.map(idOf);
    for (const originalTransactionId of originals) {
      expect(decide(request(operation, { originalTransactionId }), ...chain).record).toMatchObject(INVALID_REFERENCE);
    }
  });

  it.each<[AcquirerOperation, [AcquirerOperation]]>([
    ['capture', ['authorize']],
    ['refund', ['sale']],
  ])('a %s of more than its original, or in another currency', (operation, step) => {
    const [original] = given(step);
    const originalTransactionId = idOf(original);
    const more = request(operation, { originalTransactionId, amountE4: 100_001 });
    const other = request(operation, { originalTransactionId, currency: 'EUR' });
    expect(decide(more, original!).record).toMatchObject(INVALID_REFERENCE);
    expect(decide(other, original!).record).toMatchObject(INVALID_REFERENCE);
  });
});

describe('a forced behaviour', () => {
  const reactions: [number, OperationRecord['state'] | undefined, Decision['reaction']['kind']][] = [
    [310_100, 'declined', 'outcome'],
    [310_900, 'approved', 'silence'],
    [311_700, 'approved', 'garbage'],
    [311_800, undefined, 'dropped-connection'],
    [312_400, 'approved', 'unknown'],
    [312_500, undefined, 'failure'],
    [313_300, 'held', 'silence'],
  ];

  it.each(reactions)(
    'of %d leaves %s and reacts with %s, for every operation with an amount',
    (amountE4, state, kind) => {
      const [authorization] = given(['authorize', { amountE4: 900_000 }]);
      const [sale] = given(['sale', { amountE4: 900_000 }]);
      const decisions = [
        decide(request('authorize', { amountE4 })),
        decide(request('sale', { amountE4 })),
        decide(request('capture', { amountE4, originalTransactionId: idOf(authorization) }), authorization!),
        decide(request('refund', { amountE4, originalTransactionId: idOf(sale) }), sale!),
      ];
      for (const { record, reaction } of decisions) expect([record?.state, reaction.kind]).toEqual([state, kind]);
    },
  );

  it.each(reactions)('of an authorization of %d + 10.00 does so to its void: %s, %s', (amountE4, state, kind) => {
    const chain = given(['authorize', { amountE4: amountE4 + 100_000 }]);
    const { record, reaction } = decide(request('void', { originalTransactionId: idOf(chain[0]) }), ...chain);
    expect([record?.state, reaction.kind]).toEqual([state, kind]);
  });
});

describe('a key that came before', () => {
  it('repeats an approval or a decline', () => {
    for (const amountE4 of [100_000, 310_100, 312_400]) {
      const asked = request('sale', { amountE4 });
      const first = decide(asked);
      expect(repeat(first.record!, asked)).toEqual(first.reaction);
    }
  });

  it.each<Partial<OperationRequest>>([
    { operation: 'authorize' },
    { amountE4: 100_001 },
    { currency: 'EUR' },
    { card: { brand: 'visa', last4: '1003' } },
    { mid: null },
    { eci: '5' },
    { reference: 'OTHER' },
  ])('refuses another request: %o', (fields) => {
    const asked = request('sale');
    expect(repeat(decide(asked).record!, { ...asked, ...fields })).toEqual({ kind: 'other-request' });
  });

  it('stays silent while the commit is held back', () => {
    const asked = request('sale', { amountE4: 313_300 });
    expect(repeat(decide(asked).record!, asked)).toEqual({ kind: 'silence' });
  });

  it('is refused once cancelled, whatever it comes with', () => {
    expect(repeat(cancelledUnseen!, request('sale'))).toEqual({ kind: 'cancelled' });
  });
});

describe('an inquiry', () => {
  it('finds nothing under an unknown key', () => {
    expect(decideInquiry(undefined, NOW)).toEqual({ answer: { kind: 'not-found' } });
  });

  it('says "unknown" twice about 31.24, then the truth', () => {
    let record = decide(request('sale', { amountE4: 312_400 })).record!;
    const statuses: string[] = [];
    for (let inquiry = 1; inquiry <= 4; inquiry++) {
      const { answer, next } = decideInquiry(record, NOW);
      statuses.push(answer.kind);
      record = next ?? record;
    }
    expect(statuses).toEqual(['unknown', 'unknown', 'outcome', 'outcome']);
  });

  it('makes 31.33 commit by being answered "not found", at the time of the commit', () => {
    const held = decide(request('sale', { amountE4: 313_300 })).record!;
    const first = decideInquiry(held, NOW);
    expect(first).toMatchObject({ answer: { kind: 'not-found' }, commitsAfterwards: true });
    expect(operationEntryOf(first.next!)).toBeUndefined();
    const second = decideInquiry(first.next, NOW + 5);
    expect(second).toMatchObject({ answer: { kind: 'outcome' }, next: { state: 'approved', at: NOW + 5 } });
  });
});

describe('a cancellation', () => {
  const states: [string, OperationRecord | undefined, string, boolean][] = [
    ['nothing', undefined, 'cancelled', true],
    ['a held request', decide(request('sale', { amountE4: 313_300 })).record, 'cancelled', true],
    ['an approval', decide(request('sale')).record, 'outcome', false],
    ['an approval called unknown', decide(request('sale', { amountE4: 312_400 })).record, 'outcome', false],
    ['a decline', decide(request('sale', { amountE4: 310_100 })).record, 'outcome', false],
    ['a cancellation', cancelledUnseen, 'cancelled', false],
  ];

  it.each(states)('of %s', (_name, known, kind, writes) => {
    const { answer, next } = decideCancellation('KEY', known, NOW);
    expect([answer.kind, next?.state === 'cancelled']).toEqual([kind, writes]);
  });

  it('beats a late commit that is due but not made', () => {
    const due = decideInquiry(decide(request('sale', { amountE4: 313_300 })).record, NOW).next;
    expect(decideCancellation('KEY', due, NOW).next).toMatchObject({ state: 'cancelled' });
  });
});
