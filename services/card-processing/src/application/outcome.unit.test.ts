import { decideExpiry } from '../domain/decide-expiry';
import type { Operation, Payment } from '../domain/payment';
import { evolve, findOperation, newPayment } from '../domain/payment';
import {
  after,
  answered,
  approved,
  HOLD_SECONDS,
  NOW,
  PAYMENTS,
  purchaseCommand,
  ref,
  refund,
  settle,
  voidOf,
} from '../domain/payments.fixture';
import { answerOf } from './outcome';

const ABANDONED = '00000000-0000-4000-8000-00000000000a';
const CHARGED = '00000000-0000-4000-8000-00000000000b';

const attempt = (checkoutAttempt: number, token: string) =>
  purchaseCommand('AuthorizeCard', { reference: ref(`ATT${checkoutAttempt}`), checkoutAttempt, token });

/** A card-entry page: the first card is declined, another one authorized. */
const declined = answered(after(newPayment('merchant'), attempt(1, ABANDONED)), 'ATT1', {
  kind: 'declined',
  code: 3101,
  bank: {},
});
const authorized = approved(after(declined, attempt(2, CHARGED)), 'ATT2');

function tokenIn(payment: Payment, reference: string): string | undefined {
  return answerOf(payment, findOperation(payment, reference) as Operation).token;
}

describe('the token', () => {
  test('of each attempt is its own', () => {
    expect(tokenIn(authorized, ref('ATT1'))).toBe(ABANDONED);
    expect(tokenIn(authorized, ref('ATT2'))).toBe(CHARGED);
  });

  test('of a follow-up is that of the operation it builds on, directly or not', () => {
    const settled = approved(after(authorized, settle('ATT2')), 'SETT');
    const refunded = after(settled, refund('SETT'));
    expect(tokenIn(settled, ref('SETT'))).toBe(CHARGED);
    expect(tokenIn(refunded, ref('REFU'))).toBe(CHARGED);
    expect(tokenIn(after(authorized, voidOf('ATT2')), ref('VOID'))).toBe(CHARGED);
  });

  test('of a refused follow-up is the same', () => {
    expect(tokenIn(after(authorized, settle('ATT1')), ref('SETT'))).toBe(ABANDONED);
    expect(tokenIn(after(authorized, refund('ATT2')), ref('REFU'))).toBe(CHARGED);
  });

  test("of the VOID at a hold's end is the AUTH's", () => {
    const end = { reference: ref('ATT2'), now: NOW + HOLD_SECONDS * 1000, leaseEnd: NOW };
    const events = decideExpiry(authorized, end);
    if (typeof events === 'string') throw new Error(events);
    const voiding = events.reduce(evolve, authorized);
    expect(tokenIn(voiding, voiding.pending?.reference ?? '')).toBe(CHARGED);
  });

  test('of a VOID is that of its AUTH3D', () => {
    const payment = PAYMENTS['AUTH3D voided'];
    expect(tokenIn(payment, ref('VOID'))).toBe(tokenIn(payment, ref('AU3D')));
  });

  test('is left out where the base does not exist, or leads back', () => {
    expect(tokenIn(after(authorized, settle('NONE')), ref('SETT'))).toBeUndefined();
    const circle = after(after(authorized, settle('REFU')), refund('SETT'));
    expect(tokenIn(circle, ref('REFU'))).toBeUndefined();
  });
});
