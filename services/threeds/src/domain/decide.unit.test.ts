import fc from 'fast-check';
import type { Authentication, AuthenticationEvent, ChallengeResult, State } from './authentication';
import { evolve, hasEnded, isExpired, newAuthentication, RESULT_STATUSES } from './authentication';
import type { DirectoryAnswer } from './decide';
import {
  decideAnswer,
  decideCardUnknown,
  decideClock,
  decideDeadline,
  decideExpiry,
  decideResult,
  decideUnprocessable,
} from './decide';

const NOW = 10_000;
const DEADLINE = NOW + 5;
const CARD = { scheme: 'other', lastDigits: '1003' } as const;
const FACTS = { card: CARD, now: NOW, challengeTimeoutMs: 900 };
const IDS = { threeDSServerTransId: 's', dsTransId: 'd', acsTransId: 'a' };
const OWN_ID = { threeDSServerTransId: 's' };
const VALUE = 'cryptogram';
const RESULT: ChallengeResult = { transStatus: 'Y', authenticationValue: VALUE };

const REQUESTED = newAuthentication(
  {
    paymentId: 'P'.repeat(16),
    reference: 'P'.repeat(20),
    merchantAccount: 'shop_one',
    transactionType: 'SALE3D',
    transactionUniqueId: 'order-1',
    amountE4: 100,
    currency: 'XTS',
    redirectUrl: 'https://shop.example/',
    deadline: DEADLINE,
  },
  { pageId: 'page', threeDSServerTransId: 's', correlationId: 'c' },
);

const inState = (state: State): Authentication => ({ ...REQUESTED, ids: IDS, state });
const CHALLENGE = inState({ kind: 'challenge', acsUrl: 'https://acs.example/', card: CARD, expiresAt: NOW + 900 });
const authenticated = { kind: 'authenticated', eci: 5, authenticationValue: VALUE } as const;
const ENDED: Record<string, Authentication> = {
  'authenticated at once': inState({ ...authenticated, challenged: false }),
  'authenticated by a challenge': inState({ ...authenticated, challenged: true, result: RESULT }),
  'refused at once': inState({ kind: 'refused', challenged: false, code: 3123, eci: 6 }),
  'refused by a challenge': inState({
    kind: 'refused',
    challenged: true,
    code: 3103,
    eci: 7,
    result: { transStatus: 'N' },
  }),
  'out of time': inState({ kind: 'refused', challenged: true, code: 3024 }),
};

const answered = (
  transStatus: Extract<DirectoryAnswer, { kind: 'answered' }>['transStatus'],
  fields: Partial<Extract<DirectoryAnswer, { kind: 'answered' }>> = {},
): DirectoryAnswer => ({ kind: 'answered', transStatus, dsTransId: 'd', acsTransId: 'a', ...fields });

const received = (result: ChallengeResult, ids: { dsTransId?: string; acsTransId?: string } = {}) => ({
  dsTransId: 'd',
  acsTransId: 'a',
  ...ids,
  result,
});

function after(authentication: Authentication, event: AuthenticationEvent | undefined): Authentication {
  if (event === undefined) throw new Error('nothing was decided');
  return evolve(authentication, event);
}

test('a new authentication waits for an answer and has only its own ids', () => {
  expect(REQUESTED).toMatchObject({ state: { kind: 'requested' }, ids: OWN_ID, pageId: 'page' });
});

describe('the answer of the directory server', () => {
  test.each<[string, DirectoryAnswer, State]>([
    ['Y', answered('Y', { authenticationValue: VALUE }), { ...authenticated, challenged: false }],
    ['Y without a cryptogram', answered('Y'), { kind: 'refused', challenged: false, code: 3103, eci: 7 }],
    ['A', answered('A', { authenticationValue: VALUE }), { kind: 'refused', challenged: false, code: 3123, eci: 6 }],
    ['N 08', answered('N', { transStatusReason: '08' }), { kind: 'refused', challenged: false, code: 3123, eci: 6 }],
    ['N 01', answered('N', { transStatusReason: '01' }), { kind: 'refused', challenged: false, code: 3103, eci: 7 }],
    ['N', answered('N'), { kind: 'refused', challenged: false, code: 3103, eci: 7 }],
    ['R', answered('R', { transStatusReason: '08' }), { kind: 'refused', challenged: false, code: 3103, eci: 7 }],
    ['U', answered('U'), { kind: 'refused', challenged: false, code: 3103, eci: 7 }],
    ['C without a page', answered('C'), { kind: 'refused', challenged: false, code: 3103, eci: 7 }],
    ['C', answered('C', { acsUrl: 'https://acs.example/' }), CHALLENGE.state],
  ])('%s', (_name, answer, state) => {
    const next = after(REQUESTED, decideAnswer(REQUESTED, answer, FACTS));
    expect(next).toEqual({ ...REQUESTED, ids: IDS, state });
  });

  test('no answer: refused, without further ids', () => {
    const next = after(REQUESTED, decideAnswer(REQUESTED, { kind: 'unavailable' }, FACTS));
    expect(next).toEqual({ ...REQUESTED, state: { kind: 'refused', challenged: false, code: 3103, eci: 7 } });
  });

  test('the ECI depends on the scheme', () => {
    const facts = { ...FACTS, card: { ...CARD, scheme: 'mastercard' as const } };
    const eci = (answer: DirectoryAnswer) => decideAnswer(REQUESTED, answer, facts);
    expect(eci(answered('Y', { authenticationValue: VALUE }))).toMatchObject({ eci: 2 });
    expect(eci(answered('A'))).toMatchObject({ eci: 1 });
    expect(eci(answered('R'))).toMatchObject({ eci: 7 });
  });

  test('after the deadline any answer ends in a refusal', () => {
    const late = { ...FACTS, now: DEADLINE + 1 };
    const refused = { type: 'Refused', ids: OWN_ID, challenged: false, code: 11 };
    expect(decideAnswer(REQUESTED, answered('C', { acsUrl: 'https://acs.example/' }), late)).toEqual(refused);
    expect(decideAnswer(REQUESTED, { kind: 'unavailable' }, late)).toEqual(refused);
    expect(decideAnswer(REQUESTED, answered('R'), { ...FACTS, now: DEADLINE })).toMatchObject({ code: 3103 });
  });
});

describe('a request without an answer', () => {
  test('ends at its deadline', () => {
    expect(decideDeadline(REQUESTED, DEADLINE)).toBeUndefined();
    expect(decideDeadline(REQUESTED, DEADLINE + 1)).toEqual({
      type: 'Refused',
      ids: OWN_ID,
      challenged: false,
      code: 11,
    });
  });
  test('ends for an unknown card', () => expect(decideCardUnknown(REQUESTED)).toMatchObject({ code: 3002 }));
  test('ends for a command that cannot be processed', () =>
    expect(decideUnprocessable(REQUESTED)).toMatchObject({ code: 3000 }));
  test('none of these ends a challenge', () => {
    expect([
      decideDeadline(CHALLENGE, DEADLINE + 1),
      decideCardUnknown(CHALLENGE),
      decideUnprocessable(CHALLENGE),
      decideAnswer(CHALLENGE, answered('R'), FACTS),
    ]).toEqual([undefined, undefined, undefined, undefined]);
  });
});

describe('the result of a challenge', () => {
  test.each<[string, ChallengeResult, Partial<State> & object]>([
    ['Y', RESULT, { kind: 'authenticated', eci: 5, authenticationValue: VALUE }],
    ['Y without a cryptogram', { transStatus: 'Y' }, { kind: 'refused', code: 3103, eci: 7 }],
    ['A', { transStatus: 'A', authenticationValue: VALUE }, { kind: 'refused', code: 3123, eci: 6 }],
    ['N', { transStatus: 'N' }, { kind: 'refused', code: 3103, eci: 7 }],
    ['N, cancelled', { transStatus: 'N', challengeCancel: '01' }, { kind: 'refused', code: 3023 }],
    ['N, timed out there', { transStatus: 'N', challengeCancel: '05' }, { kind: 'refused', code: 3103, eci: 7 }],
    ['U', { transStatus: 'U' }, { kind: 'refused', code: 3103, eci: 7 }],
    ['R', { transStatus: 'R' }, { kind: 'refused', code: 3103, eci: 7 }],
  ])('%s', (_name, result, state) => {
    const verdict = decideResult(CHALLENGE, received(result), NOW);
    if (verdict.kind !== 'taken') throw new Error(verdict.kind);
    const next = evolve(CHALLENGE, verdict.event);
    expect(next).toEqual({ ...CHALLENGE, state: { challenged: true, result, ...state } });
    expect(decideResult(next, received(result), NOW)).toEqual({ kind: 'repeated' });
  });

  test('a second, different one changes nothing, in any field', () => {
    const next = ENDED['authenticated by a challenge'] as Authentication;
    const refused = { kind: 'refused', reason: 'already-decided' };
    expect(decideResult(next, received({ ...RESULT, transStatus: 'N' }), NOW)).toEqual(refused);
    expect(decideResult(next, received({ ...RESULT, authenticationValue: 'x' }), NOW)).toEqual(refused);
    expect(decideResult(next, received({ ...RESULT, eci: '05' }), NOW)).toEqual(refused);
    expect(decideResult(next, received({ ...RESULT, challengeCancel: '01' }), NOW)).toEqual(refused);
  });

  test('is refused for another transaction, before and after the end', () => {
    const refused = { kind: 'refused', reason: 'other-transaction' };
    for (const one of [REQUESTED, CHALLENGE, ...Object.values(ENDED)]) {
      expect(decideResult(one, received(RESULT, { dsTransId: 'x' }), NOW)).toEqual(refused);
      expect(decideResult(one, received(RESULT, { acsTransId: 'x' }), NOW)).toEqual(refused);
    }
  });

  test('counts until the challenge expires', () => {
    expect(decideResult(CHALLENGE, received(RESULT), NOW + 899)).toMatchObject({ kind: 'taken' });
    expect(decideResult(CHALLENGE, received(RESULT), NOW + 900)).toEqual({ kind: 'refused', reason: 'expired' });
    expect(decideResult(ENDED['out of time'] as Authentication, received(RESULT), NOW)).toEqual({
      kind: 'refused',
      reason: 'expired',
    });
  });

  test('is refused when none is awaited', () => {
    const refused = { kind: 'refused', reason: 'not-awaited' };
    const early = { ...REQUESTED, ids: IDS };
    expect(decideResult(early, received(RESULT), NOW)).toEqual(refused);
    expect(decideResult(ENDED['authenticated at once'] as Authentication, received(RESULT), NOW)).toEqual(refused);
    expect(decideResult(ENDED['refused at once'] as Authentication, received(RESULT), NOW)).toEqual(refused);
  });
});

describe('expiry', () => {
  test('ends a challenge', () => {
    expect(decideExpiry(CHALLENGE, NOW + 899)).toBeUndefined();
    const next = after(CHALLENGE, decideExpiry(CHALLENGE, NOW + 900));
    expect(next.state).toEqual({ kind: 'refused', challenged: true, code: 3024 });
    expect(isExpired(CHALLENGE, NOW + 899)).toBe(false);
    expect(isExpired(next, NOW + 900)).toBe(false);
  });
  test('does not end a request', () => expect(decideExpiry(REQUESTED, NOW + 10_000)).toBeUndefined());
});

describe('an ended authentication', () => {
  const results = fc.record(
    {
      transStatus: fc.constantFrom(...RESULT_STATUSES),
      authenticationValue: fc.constant(VALUE),
      challengeCancel: fc.constantFrom('01', '04'),
    },
    { requiredKeys: ['transStatus'] },
  );
  const answers = fc.constantFrom<DirectoryAnswer>(
    { kind: 'unavailable' },
    { kind: 'too-late' },
    ...(['Y', 'N', 'U', 'A', 'C', 'R'] as const).map((one) =>
      answered(one, { authenticationValue: VALUE, acsUrl: 'https://acs.example/' }),
    ),
  );

  test.each(Object.keys(ENDED))('%s: is final', (name) => {
    const one = ENDED[name] as Authentication;
    expect(hasEnded(one)).toBe(true);
    fc.assert(
      fc.property(results, answers, fc.nat(), (result, answer, now) => {
        expect(decideResult(one, received(result), now).kind).not.toBe('taken');
        expect(decideAnswer(one, answer, { ...FACTS, now })).toBeUndefined();
        expect(decideDeadline(one, now)).toBeUndefined();
        expect(decideExpiry(one, now)).toBeUndefined();
        expect(decideCardUnknown(one) ?? decideUnprocessable(one)).toBeUndefined();
      }),
    );
  });

  test('still accepts a return address; the outcome stays', () => {
    const one = ENDED['authenticated by a challenge'] as Authentication;
    expect(evolve(one, { type: 'ReturnUrlChosen', url: 'https://a.example/' })).toEqual({
      ...one,
      returnUrl: 'https://a.example/',
    });
  });

  test('is neither a request nor a challenge', () => {
    expect([hasEnded(REQUESTED), hasEnded(CHALLENGE)]).toEqual([false, false]);
  });
});

describe('the clock of a sandbox account', () => {
  const clock = (aheadMs: number, at = NOW) => ({
    merchantAccount: 'shop_one',
    aheadMs,
    beforeMs: 0,
    moves: [{ at, aheadMs }],
  });
  const facts = { now: NOW, challengeTimeoutMs: 900 };

  test.each([
    [300, { expiresAt: NOW + 600, clockMs: 300 }],
    [900, { expiresAt: NOW, clockMs: 900, dueClockMs: 900 }],
    [5_000, { expiresAt: NOW, clockMs: 5_000, dueClockMs: 900 }],
  ])('moved by %d ms lets a challenge end: %p', (byMs, moves) => {
    const event = decideClock(CHALLENGE, clock(byMs), facts);
    expect(event).toEqual({ type: 'ChallengeMoved', ...moves });
    const moved = evolve(CHALLENGE, event as AuthenticationEvent);
    expect(moved).toEqual({ ...CHALLENGE, state: { ...CHALLENGE.state, ...moves } });
    expect(isExpired(moved, NOW)).toBe(byMs >= 900);
    expect(decideClock(moved, clock(byMs), facts)).toBeUndefined();
  });

  test('tells when a challenge was over, whatever comes before it ends', () => {
    const follow = (authentication: Authentication, aheadMs: number): Authentication =>
      evolve(authentication, decideClock(authentication, clock(aheadMs), facts) as AuthenticationEvent);
    const moved = [300, 5_000, 9_000].reduce(follow, CHALLENGE);
    const ended = decideExpiry(moved, NOW + 1);
    expect(ended).toMatchObject({ type: 'Refused', dueClockMs: 900 });
    expect(evolve(moved, ended as AuthenticationEvent).state).not.toHaveProperty('dueClockMs');
    const inTime = follow(CHALLENGE, 300);
    expect(decideExpiry(inTime, NOW + 600)).not.toHaveProperty('dueClockMs');
  });

  test('moved before the challenge began marks it only', () => {
    expect(decideClock(CHALLENGE, clock(300, NOW - 1), facts)).toMatchObject({ expiresAt: NOW + 900, clockMs: 300 });
  });

  test('concerns no other state, and no real money', () => {
    for (const one of [REQUESTED, ...Object.values(ENDED), { ...CHALLENGE, currency: 'EUR' }]) {
      expect(decideClock(one, clock(300), facts)).toBeUndefined();
    }
  });
});
