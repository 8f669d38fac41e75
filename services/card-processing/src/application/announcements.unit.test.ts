import type { OperationRecord } from '@gateway/contracts';
import { cardEvents, validatorOf } from '@gateway/contracts';
import { decide, decideAnswer, refusal } from '../domain/decide';
import { decideAuthentication } from '../domain/decide-authentication';
import { decideEndOfCheckout } from '../domain/checkout';
import type { Payment, PaymentEvent } from '../domain/payment';
import { evolve } from '../domain/payment';
import * as cards from '../domain/payments.fixture';
import { announce } from './announcements';

const AT = cards.NOW + 1_000;
const validators = new Map(
  Object.values(cardEvents).map(({ type, written }) => [type, validatorOf(written, type)] as const),
);

interface Announced {
  readonly type: string;
  readonly data: OperationRecord;
}

/** The card events about a payment's events, as they are published one by one. */
function announced(payment: Payment, events: readonly PaymentEvent[]): Announced[] {
  let current = payment;
  return events.flatMap((event) => {
    current = evolve(current, event);
    const announcement = announce(current, event, { at: AT });
    if (announcement === undefined || announcement.isCommand === true) return [];
    return [{ type: announcement.type, data: announcement.data as OperationRecord }];
  });
}

const COMMANDS = [
  cards.purchaseCommand('AuthorizeCard'),
  cards.purchaseCommand('ChargeCard', { cofType: 'MIT', checkoutAttempt: 2, callbackUrl: 'https://shop.test/done' }),
  cards.authenticationCommand('AuthenticateCard'),
  cards.authenticationCommand('AuthenticateAndChargeCard'),
  cards.provenPurchase('AuthorizeCard'),
  ...[cards.settle(), cards.refund('SALE'), cards.refund('SETT'), cards.voidOf(), cards.voidOf('AU3D', 'VOI3')],
  cards.tokenize,
];

function afterCommands(payment: Payment): PaymentEvent[][] {
  return COMMANDS.filter(({ data }) => !payment.operations.some(({ reference }) => reference === data.reference)).map(
    (command) => {
      const decided = decide(payment, command, cards.PROVEN);
      return typeof decided === 'string' ? [refusal(command, decided)] : decided;
    },
  );
}

function afterAnswers(payment: Payment): PaymentEvent[][] {
  const { pending } = payment;
  if (pending === undefined) return [];
  const facts = { now: cards.NOW, holdSeconds: 3_600, inquireAt: cards.NOW };
  const answers = [
    { kind: 'approved', authcode: 'A1', bank: {} },
    { kind: 'declined', code: 3101, bank: {} },
    { kind: 'not-executed', code: 3118 },
    { kind: 'unknown', code: 3109 },
  ] as const;
  return answers.map((answer) => decideAnswer(payment, pending.reference, answer, facts));
}

const threeds = (name: 'AU3D' | 'SA3D') => [
  cards.threedsEvent('ChallengeRequired', name, cards.challenge),
  cards.threedsEvent('CardholderAuthenticated', name, cards.authenticated),
  cards.threedsEvent('CardholderAuthenticated', name, { ...cards.authenticated, challenged: false }),
  cards.threedsEvent('AuthenticationRefused', name, cards.refused(3103)),
  cards.threedsEvent('AuthenticationRefused', name, cards.refused(3024)),
];

function afterAuthentications(payment: Payment): PaymentEvent[][] {
  const events = [...threeds('AU3D'), ...threeds('SA3D')];
  return events.map((event) => decideAuthentication(payment, event, cards.TIMES));
}

function everythingAfter(payment: Payment): Announced[] {
  const histories = [
    ...afterCommands(payment),
    ...afterAnswers(payment),
    ...afterAuthentications(payment),
    decideEndOfCheckout(payment),
    ...payment.operations.map(({ reference }): PaymentEvent[] => [
      { type: 'OutcomeAnnounced', reference, callbackUrl: 'https://shop.test/done' },
    ]),
  ];
  return histories.flatMap((events) => announced(payment, events));
}

const all = Object.values(cards.PAYMENTS).flatMap(everythingAfter);

test('what is published about any payment is as the schemas for readers outside say', () => {
  const problems = all.flatMap(({ type, data }) => validators.get(type)?.problem(data) ?? []);
  expect(problems).toEqual([]);
  const types = new Set(all.map(({ type }) => type));
  const elsewhere = ['AuthorizationExpiring', 'AuthorizationExpired', 'HoldMoved', 'CheckoutEnded'];
  expect([...types].sort()).toEqual(
    Object.keys(cardEvents)
      .filter((type) => !elsewhere.includes(type))
      .sort(),
  );
});

test('events about holds, too', () => {
  const [reference, endsAt] = [cards.ref('AUTH'), AT];
  const holdCallbacks = { hoursBefore: 1 };
  const { authorized } = cards.PAYMENTS;
  const payment = { ...authorized, operations: authorized.operations.map((one) => ({ ...one, holdCallbacks })) };
  const events: PaymentEvent[] = [
    { type: 'HoldExpiring', reference, endsAt },
    { type: 'HoldExpired', reference, endsAt },
    { type: 'HoldMoved', reference, byMs: 1, expiresAt: AT, clockMs: 1 },
  ];
  const found = announced(payment, events);
  expect(found.map(({ type }) => type)).toEqual(['AuthorizationExpiring', 'AuthorizationExpired', 'HoldMoved']);
  expect(found.flatMap(({ type, data }) => validators.get(type)?.problem(data) ?? [])).toEqual([]);
});

test('an attempt on a card-entry page says its number, and who began it', () => {
  const command = cards.purchaseCommand('ChargeCard', { cofType: 'MIT', checkoutAttempt: 2 });
  const charging = cards.after(cards.PAYMENTS.nothing, command);
  const declined = decideAnswer(
    charging,
    command.data.reference,
    { kind: 'declined', code: 3101, bank: {} },
    {
      now: AT,
      holdSeconds: 1,
      inquireAt: AT,
    },
  );
  const ended = declined.reduce(evolve, charging);
  const found = [...announced(charging, declined), ...announced(ended, decideEndOfCheckout(ended))];
  expect(found).toMatchObject([
    { type: 'OperationDeclined', data: { checkoutAttempt: 2, initiator: 'merchant', mode: 'sandbox' } },
    { type: 'CheckoutEnded', data: { checkoutAttempt: 2, initiator: 'merchant', mode: 'sandbox' } },
  ]);
  expect(found.flatMap(({ type, data }) => validators.get(type)?.problem(data) ?? [])).toEqual([]);
});

test.each([
  ['EUR', 'live'],
  ['XTS', 'sandbox'],
])('a payment in %s is %s, its VOID too', (currency, mode) => {
  const authorize = cards.purchaseCommand('AuthorizeCard', { currency });
  const card = { brand: 'Visa', expMonth: '12', expYear: '2030', testCard: false };
  const authorizing = cards.after(cards.PAYMENTS.nothing, authorize, { ...cards.FACTS, card });
  const authorized = cards.approved(authorizing, 'AUTH');
  const decided = decide(authorized, cards.voidOf(), cards.FACTS);
  if (typeof decided === 'string') throw new Error(decided);
  const voiding = decided.reduce(evolve, authorized);
  const approval = { kind: 'approved', authcode: null, bank: {} } as const;
  const facts = { now: AT, holdSeconds: 1, inquireAt: AT };
  const found = announced(voiding, decideAnswer(voiding, cards.ref('VOID'), approval, facts));
  expect(found).toMatchObject([{ type: 'AuthorizationVoided', data: { mode } }]);
});

describe('3-D Secure', () => {
  const pending = cards.PAYMENTS['SALE3D asked for'];
  const { challenged: _challenged, ...unchallenged } = cards.refused(3103);
  const { dsTransId: _answered, ...unanswered } = cards.IDS;

  test.each([
    ['challenge', cards.threedsEvent('ChallengeRequired', 'SA3D', cards.challenge), { challengedAt: cards.NOW }],
    [
      'frictionless',
      cards.threedsEvent('AuthenticationRefused', 'SA3D', { ...unchallenged, challenged: false }),
      { endedAt: cards.NOW },
    ],
    [
      'attempt',
      cards.threedsEvent('AuthenticationRefused', 'SA3D', { ...cards.refused(3123), challenged: false }),
      { endedAt: cards.NOW },
    ],
    [
      'unavailable',
      cards.threedsEvent('AuthenticationRefused', 'SA3D', { ...unchallenged, challenged: false, ids: unanswered }),
      { endedAt: cards.NOW },
    ],
  ])('path %s', (path, event, times) => {
    const [found] = announced(pending, decideAuthentication(pending, event, cards.TIMES));
    expect(found?.data.authentication).toEqual({ path, ...times });
  });

  test('a challenge keeps its begin, and the sale has both times', () => {
    const charging = cards.PAYMENTS['SALE3D charging'];
    const answer = { kind: 'declined', code: 3101, bank: {} } as const;
    const facts = { now: AT, holdSeconds: 1, inquireAt: AT };
    const [found] = announced(charging, decideAnswer(charging, cards.ref('SA3D'), answer, facts));
    expect(found?.data.authentication).toEqual({ path: 'challenge', challengedAt: cards.NOW, endedAt: cards.NOW });
  });

  test('what waits for its cardholder has not timed out', () => {
    const event = cards.threedsEvent('ChallengeRequired', 'SA3D', cards.challenge);
    const [found] = announced(pending, decideAuthentication(pending, event, cards.TIMES));
    expect(found).toMatchObject({ type: 'AuthenticationStarted', data: { message: 'Authentication started' } });
  });
});
