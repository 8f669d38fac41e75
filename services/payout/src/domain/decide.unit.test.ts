import {
  decide,
  decideAnswer,
  decideCallOff,
  decideCancelled,
  decideDeadLetter,
  decideHold,
  decideNews,
  decideRelease,
  decideResume,
  decideTurn,
  SUBMITTED_INQUIRY_EVERY_MS,
} from './decide';
import type { PayoutStateKind } from './payout';
import { endedWithoutSuccess, evolve, isOpen, PAYOUT_STATES } from './payout';
import { inState, NOW, payoutAfter, reports, request } from './payouts.fixture';

describe('a new payout', () => {
  it('that passes its account’s rules is on its way to the bank', () => {
    const submission = { bank: 'iso20022', resolveAt: NOW + 9_000 };
    expect(decide(request, { now: NOW, screening: { passed: true }, submission })).toEqual([
      { type: 'PayoutAccepted', request },
      { type: 'PayoutScreened', screening: { passed: true }, resolveAt: NOW },
      { type: 'SubmissionStarted', ...submission },
    ]);
  });

  it('that waits for its turn is due at once', () => {
    const events = decide(request, { now: NOW, screening: { passed: true }, submission: undefined });
    expect(payoutAfter(...events)).toMatchObject({ state: { kind: 'screened' }, resolveAt: NOW });
  });

  it('that a rule hits ends with the rule’s code, and goes to no bank', () => {
    const screening = { passed: false, code: 3202, rule: 'daily-amount', reason: 'too much today' } as const;
    const events = decide(request, { now: NOW, screening, submission: { bank: 'simulator', resolveAt: NOW } });
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

const TIMES = { now: NOW, inquireAt: NOW + 500 };

type ReportKind = keyof typeof reports;
const REPORT_KINDS = Object.keys(reports) as ReportKind[];

/** The new state of a payout, by its state and its bank's report; `same`: nothing new. */
const OPEN = {
  submitted: 'submitted',
  settled: 'settled',
  declined: 'declined',
  frauded: 'frauded',
  failed: 'failed',
  returned: 'returned',
} as const;
const NEVER_SENT = {
  submitted: 'contradiction',
  settled: 'contradiction',
  declined: 'contradiction',
  frauded: 'contradiction',
  failed: 'contradiction',
  returned: 'contradiction',
} as const;
const ENDED = { ...NEVER_SENT, submitted: 'same' } as const;
const EXPECTED: Record<PayoutStateKind, Record<ReportKind, PayoutStateKind | 'same' | 'contradiction'>> = {
  accepted: NEVER_SENT,
  screened: NEVER_SENT,
  held: NEVER_SENT,
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
  it.each(REPORT_KINDS.map((kind) => [kind, EXPECTED[state][kind]] as const))(
    'reported as %s: %s',
    (kind, expected) => {
      const before = inState[state];
      const decided = decideNews(before, reports[kind], NOW);
      if (decided === 'contradiction') expect(expected).toBe('contradiction');
      else if (expected === 'same') expect(decided).toEqual([]);
      else expect(decided.reduce(evolve, before).state.kind).toBe(expected);
    },
  );

  it('treats an answer like a report', () => {
    for (const kind of REPORT_KINDS) {
      if (kind !== 'returned')
        expect(decideAnswer(inState[state], reports[kind], TIMES)).toEqual(
          decideNews(inState[state], reports[kind], NOW),
        );
    }
  });

  it('stays as it is when the bank was not reached', () => {
    expect(decideAnswer(inState[state], { kind: 'not-sent' }, TIMES)).toEqual([]);
    expect(decideAnswer(inState[state], { kind: 'withheld', reason: 'operator' }, TIMES)).toEqual([]);
  });

  it('ignores a silent bank, unless the submission is running', () => {
    const expected =
      state === 'submitting' ? [{ type: 'PayoutOutcomeUnknown', code: 3117, resolveAt: TIMES.inquireAt }] : [];
    expect(decideAnswer(inState[state], { kind: 'unknown', code: 3117 }, TIMES)).toEqual(expected);
  });
});

describe.each(PAYOUT_STATES)('an operator, or its account, and a payout that is %s', (state) => {
  const payout = { ...inState[state], version: 7 };

  it('hold it only if its intent is its last write', () => {
    const held = state === 'submitting' ? [{ type: 'PayoutHeld', reason: 'operator' }] : [];
    expect(decideHold(payout, { version: 7 }, 'operator')).toEqual(held);
    expect(decideHold({ ...payout, version: 8 }, { version: 7 }, 'operator')).toEqual([]);
  });

  it('release it if it is held', () => {
    const released = state === 'held' ? [{ type: 'PayoutReleased', resolveAt: NOW }] : [];
    expect(decideResume(payout, NOW)).toEqual(released);
  });

  it('end it if no bank has heard of it', () => {
    const atBank = ['submitting', 'unknown', 'submitted'].includes(state) ? 'with-bank' : 'ended';
    const isOurs = state === 'screened' || state === 'held';
    expect(decideCallOff(payout)).toEqual(isOurs ? [{ type: 'PayoutFailed', code: 3300 }] : atBank);
  });

  it('have its turn decided by the rules of now', () => {
    const submission = { bank: 'simulator', resolveAt: NOW + 9_000 };
    const refused = { passed: false, code: 3220, rule: 'blocked-ibans', reason: 'blocked' } as const;
    const passed = decideTurn(payout, { now: NOW, screening: { passed: true }, submission });
    const hit = decideTurn(payout, { now: NOW, screening: refused, submission });
    expect(passed.map(({ type }) => type)).toEqual(state === 'screened' ? ['SubmissionStarted'] : []);
    expect(hit.map(({ type }) => type)).toEqual(state === 'screened' ? ['PayoutScreened', 'PayoutFrauded'] : []);
    const { kind } = hit.reduce(evolve, inState[state]).state;
    expect(kind).toBe(state === 'screened' ? 'frauded' : state);
  });
});

it('a held payout waits without being due, and goes back to its turn', () => {
  expect(inState.held.resolveAt).toBeUndefined();
  const resumed = decideResume(inState.held, NOW).reduce(evolve, inState.held);
  expect(resumed).toMatchObject({ state: { kind: 'screened' }, resolveAt: NOW });
});

it('a return reported before its settlement implies the settlement', () => {
  const decided = decideNews(inState.unknown, reports.returned, NOW);
  expect(decided).toEqual([{ type: 'PayoutSettled' }, { type: 'PayoutReturned', reasonCode: 'AC04' }]);
  expect(decideNews(inState.settled, reports.returned, NOW)).toEqual([{ type: 'PayoutReturned', reasonCode: 'AC04' }]);
});

it('additional bank facts about a submitted payout are kept once, and decide nothing', () => {
  const bank = { advice: 'XYZW', reasonCode: 'Q1' };
  const decided = decideNews(inState.submitted, { kind: 'submitted', bank }, NOW);
  const said = { type: 'BankSaidMore', bank, resolveAt: NOW + SUBMITTED_INQUIRY_EVERY_MS } as const;
  expect(decided).toEqual([said]);
  const after = evolve(inState.submitted, said);
  expect(after).toMatchObject({ state: { kind: 'submitted' }, bankFacts: bank });
  expect(decideNews(after, { kind: 'submitted', bank }, NOW)).toEqual([]);
  expect(decideNews(after, { kind: 'submitted', bank: { advice: 'ACSP' } }, NOW)).toEqual([
    { ...said, bank: { advice: 'ACSP' } },
  ]);
});

it('a second return for another reason is for an operator', () => {
  expect(decideNews(inState.returned, { kind: 'returned', reasonCode: 'AC06' }, NOW)).toBe('contradiction');
});

describe('a bank that will never carry a payout out', () => {
  it('ends it with the code of its unknown outcome', () => {
    expect(decideCancelled(inState.unknown, NOW)).toEqual([{ type: 'PayoutFailed', code: 3109 }]);
  });

  it('ends it with the general error if it had no code yet', () => {
    expect(decideCancelled(inState.submitting, NOW)).toEqual([{ type: 'PayoutFailed', code: 3300 }]);
  });

  it('does not change a settled one', () => {
    expect(decideCancelled(inState.settled, NOW)).toBe('contradiction');
  });
});

describe('when a payout is due', () => {
  it('is set by each of its events; failed inquiries in a row add up', () => {
    const failed = { type: 'InquiryFailed', resolveAt: NOW + 1 } as const;
    const twice = [failed, { ...failed, resolveAt: NOW + 2 }].reduce(evolve, inState.unknown);
    expect(twice).toMatchObject({ resolveAt: NOW + 2, inquiries: 2 });
    const heard = evolve(twice, { type: 'PayoutSubmitted', resolveAt: NOW + 3 });
    expect(heard).toMatchObject({ resolveAt: NOW + 3 });
    expect(heard).not.toHaveProperty('inquiries');
  });

  it.each(PAYOUT_STATES)('a payout that is %s', (kind) => {
    const { resolveAt } = inState[kind];
    if (kind === 'held') expect(resolveAt).toBeUndefined();
    else if (isOpen({ kind })) expect(resolveAt).toBeGreaterThanOrEqual(NOW);
    else expect(resolveAt).toBe(endedWithoutSuccess({ kind }) ? 0 : undefined);
    const released = decideRelease(inState[kind]).reduce(evolve, inState[kind]);
    expect(released.resolveAt).toBe(isOpen({ kind }) ? resolveAt : undefined);
    expect(decideRelease(released)).toEqual([]);
  });
});
