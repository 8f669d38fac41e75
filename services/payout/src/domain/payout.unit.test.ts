import type { PayoutEvent, PayoutStateKind } from './payout';
import { endedWithoutSuccess, evolve, isAtRest, isOpen, merchantStatus, PAYOUT_STATES } from './payout';
import { inState, request } from './payouts.fixture';

describe('the status of a payout', () => {
  it.each<[PayoutStateKind, string, number]>([
    ['accepted', 'pending', 11],
    ['screened', 'pending', 11],
    ['held', 'pending', 11],
    ['submitting', 'pending', 11],
    ['submitted', 'pending', 11],
    ['unknown', 'pending', 3109],
    ['settled', 'success', 0],
    ['returned', 'success', 0],
    ['declined', 'declined', 3101],
    ['frauded', 'frauded', 3200],
    ['failed', 'error', 3300],
  ])('%s: %s, %d', (state, status, code) => {
    expect(merchantStatus(inState[state].state)).toEqual({ status, code, message: expect.any(String) as string });
  });

  it('has the registry’s message', () => {
    expect(merchantStatus({ kind: 'declined', code: 3101 }).message).toBe('Insufficient funds');
  });
});

it('every state is open, a success, or releases its reservations', () => {
  const kinds = PAYOUT_STATES.map((kind) => [kind, isOpen({ kind }), endedWithoutSuccess({ kind })]);
  expect(kinds).toEqual([
    ['screened', true, false],
    ['held', true, false],
    ['submitting', true, false],
    ['unknown', true, false],
    ['submitted', true, false],
    ['settled', false, false],
    ['returned', false, false],
    ['declined', false, true],
    ['frauded', false, true],
    ['failed', false, true],
  ]);
});

it('is at rest, so that it may be removed one day, once it has ended and nothing is left to release', () => {
  expect(Object.entries(inState).filter(([, payout]) => isAtRest(payout))).toEqual([
    ['settled', inState.settled],
    ['returned', inState.returned],
  ]);
  expect(isAtRest(evolve(inState.declined, { type: 'ReservationsReleased' }))).toBe(true);
});

describe('a bank’s own facts', () => {
  it('add to earlier ones', () => {
    const events: PayoutEvent[] = [
      { type: 'PayoutSubmitted', bank: { transactionId: 'T1', reasonCode: 'ACSP' }, resolveAt: 1 },
      { type: 'PayoutSettled', bank: { reasonCode: 'ACSC' } },
    ];
    expect(events.reduce(evolve, inState.submitting).bankFacts).toEqual({ transactionId: 'T1', reasonCode: 'ACSC' });
  });

  it('have the reason of the last statement only', () => {
    const bank = { advice: 'RVNM', transactionId: 'T1', reasonCode: 'NARR', reasonDescription: 'another name' };
    const events: PayoutEvent[] = [
      { type: 'BankSaidMore', bank, resolveAt: 0 },
      { type: 'PayoutSettled', bank: { advice: 'ACSC' } },
    ];
    expect(events.reduce(evolve, inState.submitted).bankFacts).toEqual({ transactionId: 'T1', advice: 'ACSC' });
  });
});

it('the request never changes', () => {
  for (const state of PAYOUT_STATES) expect(inState[state]).toMatchObject(request);
});

it('nothing happens to a payout before it is accepted', () => {
  expect(() => evolve(undefined, { type: 'PayoutSettled' })).toThrow('broken invariant');
});
