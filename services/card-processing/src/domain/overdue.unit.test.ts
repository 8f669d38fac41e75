import type { CardCommand } from '@gateway/contracts';
import { decide, decideAnswer } from './decide';
import { decideExpiry } from './decide-expiry';
import { decideNextOverdue, decideOverdue, isOverdue, OVERDUE_AFTER_MS } from './overdue';
import type { Payment } from './payment';
import { evolve, findOperation, isAtRest, overdueOperations } from './payment';
import type { Situation } from './payments.fixture';
import {
  authenticationCommand,
  FACTS,
  HOLD_SECONDS,
  NOW,
  PAYMENTS,
  provenPurchase,
  purchaseCommand,
  ref,
  refund,
  settle,
  tokenize,
  voidOf,
} from './payments.fixture';

const LATER = NOW + 3_600_000;
const facts = { ...FACTS, now: LATER };

function delivered(payment: Payment, command: CardCommand): Payment {
  const decided = decideOverdue(payment, command, facts);
  if (typeof decided === 'string') throw new Error(decided);
  return decided.reduce(evolve, payment);
}
const next = (payment: Payment): Payment =>
  decideNextOverdue(payment, { now: LATER, retryAt: LATER + 1_000 }).reduce(evolve, payment);

function answered(payment: Payment, name: string, answer: Parameters<typeof decideAnswer>[2]): Payment {
  const times = { now: LATER, holdSeconds: HOLD_SECONDS * 24, inquireAt: LATER };
  return decideAnswer(payment, ref(name), answer, times).reduce(evolve, payment);
}
const approved = (payment: Payment, name: string) =>
  answered(payment, name, { kind: 'approved', authcode: 'A1B2C3', bank: { transactionId: `bank-${name}` } });

test.each([
  [30_000, false],
  [30_000 + OVERDUE_AFTER_MS, false],
  [30_000 + OVERDUE_AFTER_MS + 1, true],
])('%i ms after it was accepted, a command with a deadline of 30 s is overdue: %s', (ms, overdue) => {
  expect(isOverdue(settle(), NOW + ms)).toBe(overdue);
});

test('a number that the edge has refused is never overdue, however old its deadline', () => {
  const refused = purchaseCommand('ChargeCard', { overLimit: 'perBin', deadline: 0 });
  expect(isOverdue(refused, LATER)).toBe(false);
  expect(decide(PAYMENTS.nothing, refused, facts)).toMatchObject([{ operation: { status: 'decline', code: 3202 } }]);
});

describe.each([
  ['AUTH', purchaseCommand('AuthorizeCard'), 'AUTH', 'authorized'],
  ['SALE', purchaseCommand('ChargeCard'), 'SALE', 'charged'],
  ['SALE with pares', provenPurchase('ChargeCard'), 'SALE', 'charged'],
  ['SALE3D', authenticationCommand('AuthenticateAndChargeCard'), 'SA3D', 'charged'],
] as const)('given nothing on record, an overdue %s', (_type, command, name, state) => {
  const recorded = delivered(PAYMENTS.nothing, command);
  const inquired = next(recorded);

  test('is pending, and due for the resolver', () => {
    expect(findOperation(recorded, ref(name))).toMatchObject({ status: 'pending', code: 11 });
    expect(recorded).toMatchObject({ state: { kind: 'new' }, resolveAt: LATER });
    expect(inquired).toMatchObject({ pending: { reference: ref(name), lost: { code: 11 } }, resolveAt: LATER });
    expect([isAtRest(recorded), isAtRest(inquired)]).toEqual([false, false]);
  });
  test('that the acquirer has approved is a success', () => {
    const ended = approved(inquired, name);
    expect(findOperation(ended, ref(name))).toMatchObject({ status: 'success', authcode: 'A1B2C3' });
    expect(ended).toMatchObject({ state: { kind: state } });
    expect(ended).not.toHaveProperty('resolveAt');
  });
  test('that the acquirer has cancelled ends with 11', () => {
    const ended = answered(inquired, name, { kind: 'not-executed', code: 11 });
    expect(findOperation(ended, ref(name))).toMatchObject({ status: 'error', code: 11 });
    expect(ended).toMatchObject({ state: { kind: 'closed' } });
  });
  test('is pending even without its card, its terminal, and in the face of a velocity rule', () => {
    const velocity = { hit: { code: 3200, rule: 'r', reason: 'r' }, declineCounts: [] } as never;
    const decided = decideOverdue(PAYMENTS.nothing, command, { ...facts, card: undefined, route: undefined, velocity });
    expect(decided).toMatchObject([{ type: 'OperationOverdue', operation: { status: 'pending' } }]);
  });
});

describe('what calls no acquirer ends as before', () => {
  test.each([
    ['TOKENIZE', PAYMENTS.nothing, tokenize],
    ['AUTH3D', PAYMENTS.nothing, authenticationCommand('AuthenticateCard')],
    ['VOID of an AUTH3D', PAYMENTS['AUTH3D authenticated'], voidOf('AU3D')],
  ] as const)('%s', (_type, payment, command) => {
    expect(decideOverdue(payment, command, facts)).toBe('deadline-passed');
  });
});

test('a hold from before is of the time when the AUTH was accepted', () => {
  const inquired = next(delivered(PAYMENTS.nothing, purchaseCommand('AuthorizeCard')));
  expect(approved(inquired, 'AUTH').state).toMatchObject({ hold: { expiresAt: NOW + HOLD_SECONDS * 24_000 } });
});

/** The first operation of each payment, and the follow-ups that may have happened to it. */
const FOLLOW_UPS = ['SETTLE', 'VOID', 'REFUND'] as const;
const followUp = { SETTLE: settle, VOID: voidOf, REFUND: refund };
const RUNS: Partial<Record<Situation, (typeof FOLLOW_UPS)[number][]>> = {
  authorized: ['SETTLE', 'VOID'],
  'settled, late void allowed': ['VOID'],
  charged: ['REFUND'],
  'SALE3D charged': ['REFUND'],
};

describe.each(Object.keys(PAYMENTS) as Situation[])('given %s', (situation) => {
  const payment = PAYMENTS[situation];
  const base = payment.operations[0];

  test('nothing is overdue', () => {
    expect(overdueOperations(payment)).toEqual([]);
  });

  test.each(FOLLOW_UPS)('an overdue %s is never called, and refused only by what is on record', (type) => {
    const command =
      type === 'VOID'
        ? voidOf(base?.reference.slice(-4) ?? 'AUTH', 'NEW1')
        : followUp[type](base?.reference.slice(-4) ?? 'AUTH', {}, 'NEW1');
    if (base?.type === 'AUTH3D') return expect(decideOverdue(payment, command, facts)).toBe('deadline-passed');
    const recorded = delivered(payment, command);
    expect(findOperation(recorded, ref('NEW1'))).toMatchObject({ status: 'pending', code: 11 });
    expect(recorded.pending).toEqual(payment.pending);
    if (payment.pending !== undefined || payment.state.kind === 'authenticating') {
      // Its own time comes first.
      expect(recorded.resolveAt).toBe(payment.resolveAt);
      return;
    }
    const after = next(recorded);
    if (RUNS[situation]?.includes(type) === true) {
      expect(after.pending).toMatchObject({ reference: ref('NEW1'), lost: { code: 11 } });
    } else if (base === undefined) {
      expect(after).toMatchObject({ inquiries: 1, resolveAt: LATER + 1_000 });
    } else {
      expect(findOperation(after, ref('NEW1'))).toMatchObject({ status: 'error' });
      expect(after.state).toEqual(payment.state);
    }
  });
});

test('a SETTLE behind its AUTH waits for the inquiry about it', () => {
  const both = delivered(delivered(PAYMENTS.nothing, purchaseCommand('AuthorizeCard')), settle());
  const authorizing = next(both);
  expect(authorizing.pending).toMatchObject({ reference: ref('AUTH'), kind: 'authorize' });
  const authorized = approved(authorizing, 'AUTH');
  expect(authorized).toMatchObject({ state: { kind: 'authorized' }, resolveAt: 0 });
  const settling = next(authorized);
  expect(settling.pending).toMatchObject({ reference: ref('SETT'), originalTransactionId: 'bank-AUTH' });
  expect(approved(settling, 'SETT')).toMatchObject({ state: { kind: 'charged' } });
  const cancelled = answered(authorizing, 'AUTH', { kind: 'not-executed', code: 11 });
  expect(findOperation(next(cancelled), ref('SETT'))).toMatchObject({ status: 'error', code: 3003 });
});

test('a SETTLE whose AUTH comes later finds it', () => {
  const alone = next(delivered(PAYMENTS.nothing, settle()));
  expect(findOperation(alone, ref('SETT'))).toMatchObject({ status: 'pending' });
  const both = delivered(alone, purchaseCommand('AuthorizeCard'));
  expect(next(both).pending).toMatchObject({ reference: ref('AUTH') });
});

test('while a SETTLE is overdue, its AUTH is neither settled, voided nor expired', () => {
  const payment = delivered(PAYMENTS.authorized, settle('AUTH', {}, 'SET1'));
  expect(decide(payment, settle('AUTH', {}, 'SET2'), FACTS)).toBe('reference-not-found');
  expect(decide(payment, voidOf(), FACTS)).toBe('reference-not-found');
  const ended = { reference: ref('AUTH'), now: NOW + HOLD_SECONDS * 2_000, leaseEnd: 0 };
  expect(decideExpiry(PAYMENTS.authorized, ended)).toMatchObject([{ type: 'OperationStarted' }]);
  expect(decideExpiry(payment, ended)).toEqual([]);
});

test('an attempt on a card-entry page waits for the attempt before it', () => {
  const first = PAYMENTS.charging;
  const second = purchaseCommand('ChargeCard', { reference: ref('SAL2'), checkoutAttempt: 2 });
  expect(decide(first, second, FACTS)).toBe('completed');
  const both = delivered(first, second);
  expect(decide(both, { ...second, data: { ...second.data, reference: ref('SAL3') } }, FACTS)).toBe('completed');
  const declined = answered(both, 'SALE', { kind: 'declined', code: 3101, bank: {} });
  expect(next(declined).pending).toMatchObject({ reference: ref('SAL2') });
  expect(findOperation(next(approved(both, 'SALE')), ref('SAL2'))).toMatchObject({ status: 'error', code: 3025 });
});
