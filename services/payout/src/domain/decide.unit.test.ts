import { decide, decideAnswer, decideCancelled, decideDeadLetter, decideNews } from './decide';
import type { PayoutStateKind } from './payout';
import { evolve, PAYOUT_STATES } from './payout';
import { inState, request, told } from './payouts.fixture';

describe('a new payout', () => {
  it('that its account’s rules let pass is on its way to the bank', () => {
    expect(decide(request, { screening: { passed: true }, bank: 'iso20022' })).toEqual([
      { type: 'PayoutAccepted', request },
      { type: 'PayoutScreened', screening: { passed: true } },
      { type: 'SubmissionStarted', bank: 'iso20022' },
    ]);
  });

  it('that a rule hits ends with the rule’s code, and no bank hears of it', () => {
    const screening = { passed: false, code: 3202, rule: 'daily-amount', reason: 'too much today' } as const;
    const events = decide(request, { screening, bank: 'simulator' });
    expect(events.map(({ type }) => type)).toEqual(['PayoutAccepted', 'PayoutScreened', 'PayoutFrauded']);
    expect(events.reduce(evolve, undefined as never)).toMatchObject({
      state: { kind: 'frauded', code: 3202 },
      screening,
    });
  });

  it('that can never be processed ends with error 3000', () => {
    expect(decideDeadLetter(request)).toEqual([
      { type: 'PayoutAccepted', request },
      { type: 'PayoutFailed', code: 3000 },
    ]);
  });
});

type Told = keyof typeof told;
const TOLD = Object.keys(told) as Told[];

/** What becomes of a payout, by its state and by what its bank tells; `same`: nothing new. */
const OPEN = {
  submitted: 'submitted',
  settled: 'settled',
  declined: 'declined',
  frauded: 'frauded',
  failed: 'failed',
  returned: 'returned',
} as const;
const NEVER_TOLD = {
  submitted: 'contradiction',
  settled: 'contradiction',
  declined: 'contradiction',
  frauded: 'contradiction',
  failed: 'contradiction',
  returned: 'contradiction',
} as const;
const ENDED = { ...NEVER_TOLD, submitted: 'same' } as const;
const EXPECTED: Record<PayoutStateKind, Record<Told, PayoutStateKind | 'same' | 'contradiction'>> = {
  accepted: NEVER_TOLD,
  screened: NEVER_TOLD,
  submitting: OPEN,
  unknown: OPEN,
  submitted: { ...OPEN, submitted: 'same' },
  settled: { ...ENDED, settled: 'same', returned: 'returned' },
  returned: { ...ENDED, settled: 'same', returned: 'same' },
  declined: { ...ENDED, declined: 'same' },
  frauded: { ...ENDED, frauded: 'same' },
  failed: { ...ENDED, failed: 'same' },
};

describe.each(PAYOUT_STATES)('a payout that is %s', (state) => {
  it.each(TOLD.map((kind) => [kind, EXPECTED[state][kind]] as const))('told %s: %s', (kind, expected) => {
    const before = inState[state];
    const decided = decideNews(before, told[kind]);
    if (decided === 'contradiction') expect(expected).toBe('contradiction');
    else if (expected === 'same') expect(decided).toEqual([]);
    else expect(decided.reduce(evolve, before).state.kind).toBe(expected);
  });

  it('takes an answer as it takes news', () => {
    for (const kind of TOLD) {
      if (kind !== 'returned')
        expect(decideAnswer(inState[state], told[kind])).toEqual(decideNews(inState[state], told[kind]));
    }
  });

  it('stays as it is when the bank was not reached', () => {
    expect(decideAnswer(inState[state], { kind: 'not-sent' })).toEqual([]);
  });

  it('hears nothing from a silent bank, unless it has just been told', () => {
    const expected = state === 'submitting' ? [{ type: 'PayoutOutcomeUnknown', code: 3117 }] : [];
    expect(decideAnswer(inState[state], { kind: 'unknown', code: 3117 })).toEqual(expected);
  });
});

it('money that came back before its settlement was told has left first, and its merchant hears of both', () => {
  const decided = decideNews(inState.unknown, told.returned);
  expect(decided).toEqual([{ type: 'PayoutSettled' }, { type: 'PayoutReturned', reasonCode: 'AC04' }]);
  expect(decideNews(inState.settled, told.returned)).toEqual([{ type: 'PayoutReturned', reasonCode: 'AC04' }]);
});

it('what a bank adds about a payout that it has is kept, once, and decides nothing', () => {
  const bank = { advice: 'XYZW', reasonCode: 'Q1' };
  const decided = decideNews(inState.submitted, { kind: 'submitted', bank });
  expect(decided).toEqual([{ type: 'BankSaidMore', bank }]);
  const after = evolve(inState.submitted, { type: 'BankSaidMore', bank });
  expect(after).toMatchObject({ state: { kind: 'submitted' }, bankFacts: bank });
  expect(decideNews(after, { kind: 'submitted', bank })).toEqual([]);
  expect(decideNews(after, { kind: 'submitted', bank: { advice: 'ACSP' } })).toEqual([
    { type: 'BankSaidMore', bank: { advice: 'ACSP' } },
  ]);
});

it('a second return for another reason is for an operator', () => {
  expect(decideNews(inState.returned, { kind: 'returned', reasonCode: 'AC06' })).toBe('contradiction');
});

describe('a bank that will never carry a payout out', () => {
  it('ends it with the code that its silence was called first', () => {
    expect(decideCancelled(inState.unknown)).toEqual([{ type: 'PayoutFailed', code: 3109 }]);
  });

  it('ends it with the general error where nothing was told', () => {
    expect(decideCancelled(inState.submitting)).toEqual([{ type: 'PayoutFailed', code: 3300 }]);
  });

  it('changes nothing about one that has left', () => {
    expect(decideCancelled(inState.settled)).toBe('contradiction');
  });
});
