import { tellsMerchant } from './checkout';
import { refusal } from './decide';
import { decideAnnouncement, lostPage } from './decide-announcement';
import type { Operation, Payment, PaymentEvent } from './payment';
import { evolve, findOperation, newPayment } from './payment';
import {
  after,
  afterEvent,
  approved,
  authenticated,
  authenticationCommand,
  challenge,
  purchaseCommand,
  ref,
  refused,
  threedsEvent,
} from './payments.fixture';

const SALE = ref('SA3D');
const ASKED = { reference: SALE, callbackUrl: 'https://shop.example/callback' };
const ANNOUNCED: PaymentEvent[] = [{ type: 'OutcomeAnnounced', ...ASKED }];

const nothing = newPayment('merchant');
const command = authenticationCommand('AuthenticateAndChargeCard', { callbackUrl: ASKED.callbackUrl });
const asked = after(nothing, command);
const notEnrolled = threedsEvent('AuthenticationRefused', 'SA3D', { ...refused(3123), challenged: false });
const neverRun = evolve(nothing, refusal(command, 'deadline-passed'));
const challenged = afterEvent(asked, threedsEvent('ChallengeRequired', 'SA3D', challenge));
const frictionless = approved(
  afterEvent(asked, threedsEvent('CardholderAuthenticated', 'SA3D', { ...authenticated, challenged: false })),
  'SA3D',
);

const announced = (payment: Payment): Payment => decideAnnouncement(payment, ASKED).reduce(evolve, payment);
const tells = (payment: Payment): boolean => tellsMerchant(payment, findOperation(payment, SALE) as Operation);

describe('a SALE3D whose merchant got no outcome', () => {
  test.each([
    ['it was never run', neverRun],
    ['it was declined before any challenge', afterEvent(asked, notEnrolled)],
  ])('gets the end reported once when %s', (_when, payment) => {
    expect(tells(payment)).toBe(false);
    expect(decideAnnouncement(payment, ASKED)).toEqual(ANNOUNCED);
    expect(tells(announced(payment))).toBe(true);
    expect(decideAnnouncement(announced(payment), ASKED)).toEqual([]);
  });

  test('gets a callback with an outcome that is still to come', () => {
    expect(decideAnnouncement(asked, ASKED)).toEqual(ANNOUNCED);
    expect(tells(announced(asked))).toBe(false);
    expect(tells(afterEvent(announced(asked), notEnrolled))).toBe(true);
    expect(decideAnnouncement(announced(asked), ASKED)).toEqual([]);
  });

  test('gets only its regular callback if there is one', () => {
    expect(decideAnnouncement(frictionless, ASKED)).toEqual([]);
    expect(
      decideAnnouncement(afterEvent(challenged, threedsEvent('AuthenticationRefused', 'SA3D', refused(3103))), ASKED),
    ).toEqual([]);
    expect(tells(afterEvent(announced(challenged), threedsEvent('AuthenticationRefused', 'SA3D', refused(3103))))).toBe(
      true,
    );
  });

  test('gets a callback when its command was unreadable and its record has no address', () => {
    const deadLettered = evolve(nothing, refusal(authenticationCommand(command.type), 'never-processable'));
    expect(findOperation(announced(deadLettered), SALE)).toMatchObject({ code: 3000, callbackUrl: ASKED.callbackUrl });
    expect(tells(announced(deadLettered))).toBe(true);
  });
});

test('attempts on a card-entry page and unknown operations are ignored', () => {
  const attempt = after(
    nothing,
    purchaseCommand('ChargeCard', { reference: SALE, checkoutAttempt: 1, callbackUrl: ASKED.callbackUrl }),
  );
  expect(decideAnnouncement(attempt, ASKED)).toEqual([]);
  expect(decideAnnouncement(nothing, ASKED)).toEqual([]);
});

describe('a card-entry page that was never opened', () => {
  const page = {
    transactionType: 'SALE',
    transactionUniqueId: 'order-12345',
    amountE4: 100_000,
    currency: 'EUR',
    acceptedAt: 1,
    notes: { custom: { custom_shop: 'north' } },
  } as const;
  const asked = { ...ASKED, paymentId: SALE.slice(0, 16), merchantAccount: 'merchant', lostPage: page };

  test('ends in error 11, which one callback reports', () => {
    const ended = lostPage(asked).reduce(evolve, nothing);
    expect(ended).toMatchObject({
      state: { kind: 'closed' },
      operations: [
        { type: 'SALE', status: 'error', code: 11, callbackUrl: ASKED.callbackUrl, custom: { custom_shop: 'north' } },
      ],
    });
    expect(tells(ended)).toBe(true);
    expect(decideAnnouncement(ended, ASKED)).toEqual([]);
  });

  test('no other unknown operation is recorded', () => {
    const { lostPage: _page, ...other } = asked;
    expect(lostPage(other)).toEqual([]);
  });
});
