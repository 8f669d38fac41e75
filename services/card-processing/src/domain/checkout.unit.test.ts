import { callbackCount, decideEndOfCheckout, tellsMerchant } from './checkout';
import { decide } from './decide';
import {
  after,
  afterEvent,
  answered,
  approved,
  authenticationCommand,
  challenge,
  FACTS,
  NOW,
  PAYMENTS,
  purchaseCommand,
  ref,
  refund,
  refused,
  threedsEvent,
} from './payments.fixture';
import type { Operation, Payment } from './payment';
import { evolve, newPayment } from './payment';
import { codeOfRejection } from './rejections';

const CALLBACK = { callbackUrl: 'https://shop.example/callback' };
const DECLINED = { kind: 'declined', code: 3101, bank: {} } as const;

const attempt = (n: number) =>
  purchaseCommand('ChargeCard', { reference: ref(`ATT${n}`), checkoutAttempt: n, ...CALLBACK });
const declinedAttempt = (payment: Payment, n: number): Payment =>
  answered(after(payment, attempt(n)), `ATT${n}`, DECLINED);

const nothing = newPayment('merchant');
const once = declinedAttempt(nothing, 1);
const twice = declinedAttempt(once, 2);
const thrice = declinedAttempt(twice, 3);
const paid = approved(after(once, attempt(2)), 'ATT2');

const codeOf = (payment: Payment, n: number): number => {
  const decided = decide(payment, attempt(n), FACTS);
  return typeof decided === 'string' ? codeOfRejection(decided) : 0;
};
const tellsOfLast = (payment: Payment): boolean => tellsMerchant(payment, payment.operations.at(-1) as Operation);

describe('the attempts of a card-entry page', () => {
  test('share a payment; another may follow a decline', () => {
    expect(codeOf(once, 2)).toBe(0);
    expect(codeOf(twice, 3)).toBe(0);
    expect(paid.operations).toMatchObject([{ status: 'decline' }, { status: 'success', checkoutAttempt: 2 }]);
  });

  test.each([
    ['one is under way', after(nothing, attempt(1))],
    ['its outcome is unknown', answered(after(nothing, attempt(1)), 'ATT1', { kind: 'unknown', code: 3109 })],
    ['one has succeeded', paid],
    ['the payment is refunded', approved(after(paid, refund('ATT2')), 'REFU')],
    ['a cardholder is being authenticated', PAYMENTS['SALE3D challenged']],
    ['a cardholder is authenticated', PAYMENTS['AUTH3D authenticated']],
  ])('exclude each other: another gets 3025 when %s', (_when, payment) => {
    expect(codeOf(payment, 3)).toBe(3025);
  });

  test('can be refunded like any sale', () => {
    expect(approved(after(paid, refund('ATT2')), 'REFU').state.kind).toBe('refunded');
  });

  test('end with the page: a late one gets 3024', () => {
    const ended = decideEndOfCheckout(once).reduce(evolve, once);
    expect(codeOf(ended, 2)).toBe(3024);
  });
});

describe('the end of a card-entry page', () => {
  test('makes the last attempt final', () => {
    expect(decideEndOfCheckout(twice)).toEqual([{ type: 'CheckoutEnded', reference: ref('ATT2') }]);
  });

  test.each([
    ['nothing was tried', nothing],
    ['an attempt is under way', after(nothing, attempt(1))],
    ['an attempt has succeeded', paid],
    ['the last possible attempt was already reported', thrice],
    ['it has ended already', decideEndOfCheckout(once).reduce(evolve, once)],
    ['there was no such page', PAYMENTS['sale declined']],
  ])('changes nothing when %s', (_when, payment) => {
    expect(decideEndOfCheckout(payment)).toEqual([]);
  });
});

describe('a callback', () => {
  test('reports a success, or the last attempt', () => {
    expect(tellsOfLast(paid)).toBe(true);
    expect([once, twice, thrice].map(tellsOfLast)).toEqual([false, false, true]);
  });

  test('reports nothing while an outcome is unknown, or without an address', () => {
    expect(tellsOfLast(after(twice, attempt(3)))).toBe(false);
    expect(tellsOfLast(PAYMENTS.charged)).toBe(false);
  });

  test('of a SALE3D is sent only if the cardholder could be authenticated', () => {
    const asked = after(nothing, authenticationCommand('AuthenticateAndChargeCard', CALLBACK));
    const notEnrolled = threedsEvent('AuthenticationRefused', 'SA3D', { ...refused(3123), challenged: false });
    expect(tellsOfLast(afterEvent(asked, notEnrolled))).toBe(false);
    const challenged = afterEvent(asked, threedsEvent('ChallengeRequired', 'SA3D', challenge));
    expect(tellsOfLast(challenged)).toBe(false);
    expect(tellsOfLast(afterEvent(challenged, threedsEvent('AuthenticationRefused', 'SA3D', refused(3103))))).toBe(
      true,
    );
  });

  test.each([
    ['in time', FACTS],
    ['past its deadline', { ...FACTS, now: NOW + 31_000 }],
  ])('about the end of a page is not followed by one about a last attempt that arrives late, %s', (_when, facts) => {
    const ended = decideEndOfCheckout(twice).reduce(evolve, twice);
    const late = after(ended, attempt(3), facts);
    expect(late.operations.at(-1)).toMatchObject({ checkoutAttempt: 3, status: 'error' });
    expect([tellsOfLast(late), callbackCount(late)]).toEqual([false, 1]);
  });

  test('is counted with all earlier ones of its payment', () => {
    expect([nothing, once, twice, thrice, paid].map(callbackCount)).toEqual([0, 0, 0, 1, 1]);
    expect(callbackCount(decideEndOfCheckout(once).reduce(evolve, once))).toBe(1);
    const announced = { type: 'OutcomeAnnounced', reference: ref('SALE'), ...CALLBACK } as const;
    expect(callbackCount(evolve(PAYMENTS.charged, announced))).toBe(1);
  });
});
