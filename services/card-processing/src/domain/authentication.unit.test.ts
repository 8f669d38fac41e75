import { decide } from './decide';
import { decideAuthentication, decideLostAuthentication } from './decide-authentication';
import type { Situation } from './payments.fixture';
import {
  ACS_URL,
  after,
  afterEvent,
  answered,
  approved,
  authenticated,
  authenticationCommand,
  challenge,
  FACTS,
  IDS,
  NOW,
  PAYMENTS,
  PROOF_HASH,
  PROVEN,
  provenPurchase,
  ref,
  refused,
  ROUTE,
  settle,
  threedsEvent,
  TIMES,
  voidOf,
} from './payments.fixture';
import { OVERDUE_AFTER_MS } from './overdue';
import type { Payment } from './payment';
import { evolve, findOperation, newPayment } from './payment';
import { codeOfRejection } from './rejections';

const DAY_MS = 24 * 3_600_000;
const SALE_WITHIN_MS = 5 * 60_000;

/** The code of a purchase with a proof: 0 if it may go to the acquirer. */
function codeOf(payment: Payment, more: Parameters<typeof provenPurchase>[1] = {}, facts = PROVEN): number {
  const deadline = facts.now + 30_000;
  const decided = decide(payment, provenPurchase('ChargeCard', { deadline, ...more }), facts);
  return typeof decided === 'string' ? codeOfRejection(decided) : 0;
}

describe('AUTH3D and SALE3D', () => {
  test.each(['AuthenticateCard', 'AuthenticateAndChargeCard'] as const)('%s calls threeds, not an acquirer', (type) => {
    const decided = decide(newPayment('merchant'), authenticationCommand(type), FACTS);
    expect(decided).toMatchObject([
      {
        type: 'AuthenticationRequested',
        route: ROUTE,
        cardBrand: 'Visa',
        request: { deadline: NOW + 30_000, redirectUrl: 'https://shop.example/back' },
        awaiting: { customer: { firstName: 'Ann' }, withCvv: true },
        resolveAt: FACTS.authenticationEnd,
      },
    ]);
    const payment = after(newPayment('merchant'), authenticationCommand(type));
    expect(payment.pending).toBeUndefined();
    expect(payment.operations).toMatchObject([{ status: 'pending', code: 11 }]);
  });

  test('a decline that needs no bank comes before any call', () => {
    const customer = {
      firstName: 'A',
      lastName: 'B',
      country: 'DEU',
      email: 'a@example.com',
      ip: '::1',
      phone: '4912',
    };
    const payment = after(newPayment('merchant'), authenticationCommand('AuthenticateAndChargeCard', { customer }));
    expect(payment.operations).toMatchObject([{ type: 'SALE3D', status: 'decline', code: 3140 }]);
    expect(payment.state.kind).toBe('closed');
  });

  test('a challenge is reported once as started, and decides nothing', () => {
    const { operations, state } = PAYMENTS['SALE3D challenged'];
    expect(operations).toMatchObject([
      { status: 'pending', code: 11, authentication: { acsUrl: ACS_URL, challenged: true } },
    ]);
    expect(state.kind).toBe('authenticating');
    const again = threedsEvent('ChallengeRequired', 'SA3D', { ...challenge, acsUrl: 'https://threeds.example/other' });
    expect(decideAuthentication(PAYMENTS['SALE3D challenged'], again, TIMES)).toEqual([]);
  });

  test('an authenticated AUTH3D succeeds, holds no money and keeps the data for its purchase', () => {
    const { operations, state } = PAYMENTS['AUTH3D authenticated'];
    expect(operations).toMatchObject([
      {
        status: 'success',
        code: 0,
        authcode: null,
        authentication: { ids: IDS, eci: 5, authenticationValue: 'AAABBBCCC', acsUrl: ACS_URL, proofHash: PROOF_HASH },
      },
    ]);
    expect(state).toMatchObject({
      kind: 'authenticated',
      proof: { reference: ref('AU3D'), amountE4: 100_000, currency: 'XTS', authenticatedAt: NOW },
    });
  });

  test.each([
    [0, 'AuthenticatedSaleStarted'],
    [SALE_WITHIN_MS, 'AuthenticatedSaleStarted'],
    [SALE_WITHIN_MS + 1, 'OperationFailed'],
    [SALE_WITHIN_MS + OVERDUE_AFTER_MS, 'OperationFailed'],
  ])('%i ms after its authentication, a SALE3D goes on with %s', (lateMs, type) => {
    const event = threedsEvent('CardholderAuthenticated', 'SA3D', authenticated);
    const decided = decideAuthentication(PAYMENTS['SALE3D challenged'], event, { ...TIMES, now: NOW + lateMs });
    expect(decided).toMatchObject([type === 'OperationFailed' ? { type, code: 3024 } : { type }]);
  });

  test('later, its sale is inquired about: it may have been made, and its record lost', () => {
    const event = threedsEvent('CardholderAuthenticated', 'SA3D', authenticated);
    const charging = afterEvent(PAYMENTS['SALE3D challenged'], event, NOW + SALE_WITHIN_MS + OVERDUE_AFTER_MS + 1);
    expect(charging).toMatchObject({ state: { kind: 'charging' }, pending: { kind: 'sale', lost: { code: 3024 } } });
    expect(charging.resolveAt).toBe(NOW + SALE_WITHIN_MS + OVERDUE_AFTER_MS + 1);
  });

  test('the sale inside a SALE3D is the same operation, and its outcome is final', () => {
    const charging = PAYMENTS['SALE3D charging'];
    expect(charging.pending).toEqual({ reference: ref('SA3D'), kind: 'sale' });
    expect(PAYMENTS['SALE3D charged'].operations).toMatchObject([
      { type: 'SALE3D', status: 'success', code: 0, authcode: 'A1B2C3', authentication: { eci: 5 } },
    ]);
    const unknown = answered(charging, 'SA3D', { kind: 'unknown', code: 3109 });
    expect(unknown.operations).toMatchObject([{ status: 'pending', code: 3109 }]);
  });

  test.each([
    [3103, 'decline'],
    [3123, 'decline'],
    [3023, 'decline'],
    [3024, 'error'],
    [11, 'error'],
  ] as const)('refused with %i, both end in %s', (code, status) => {
    for (const name of ['AU3D', 'SA3D'] as const) {
      const before = PAYMENTS[name === 'AU3D' ? 'AUTH3D challenged' : 'SALE3D challenged'];
      const payment = afterEvent(before, threedsEvent('AuthenticationRefused', name, { ...refused(code), eci: 7 }));
      expect(payment.operations).toMatchObject([{ status, code }]);
      expect(payment.state.kind).toBe('closed');
      expect(payment.pending).toBeUndefined();
    }
  });

  test('the ECI says why authentication is not possible', () => {
    const event = threedsEvent('AuthenticationRefused', 'SA3D', {
      occurredAt: NOW,
      challenged: false,
      code: 3123,
      eci: 6,
    });
    expect(afterEvent(PAYMENTS['SALE3D asked for'], event).operations).toMatchObject([
      { status: 'decline', code: 3123, authentication: { eci: 6, challenged: false } },
    ]);
  });

  test('gives up only an authentication that never ended', () => {
    expect(decideLostAuthentication(PAYMENTS['AUTH3D challenged'], NOW)).toMatchObject([
      { type: 'OperationFailed', reference: ref('AU3D'), code: 3024 },
    ]);
    for (const situation of ['SALE3D challenged', 'SALE3D asked for'] as const) {
      expect(decideLostAuthentication(PAYMENTS[situation], NOW)).toMatchObject([
        { type: 'AuthenticatedSaleStarted', call: { reference: ref('SA3D'), lost: { code: 3024 } }, resolveAt: NOW },
      ]);
    }
    for (const situation of ['SALE3D charging', 'AUTH3D authenticated', 'AUTH3D voided', 'charging'] as const) {
      expect(decideLostAuthentication(PAYMENTS[situation], NOW)).toEqual([]);
    }
  });

  test.each(Object.keys(PAYMENTS) as Situation[])(
    'given %s, news that come twice or late change nothing',
    (situation) => {
      const payment = PAYMENTS[situation];
      if (payment.state.kind === 'authenticating') return expect(payment.pending).toBeUndefined();
      for (const name of ['AU3D', 'SA3D'] as const) {
        expect(decideAuthentication(payment, threedsEvent('ChallengeRequired', name, challenge), TIMES)).toEqual([]);
        expect(
          decideAuthentication(payment, threedsEvent('CardholderAuthenticated', name, authenticated), TIMES),
        ).toEqual([]);
        expect(
          decideAuthentication(payment, threedsEvent('AuthenticationRefused', name, refused(3103)), TIMES),
        ).toEqual([]);
      }
    },
  );

  test('a message about another operation of the payment changes nothing', () => {
    const event = threedsEvent('CardholderAuthenticated', 'SA3D', authenticated);
    expect(decideAuthentication(PAYMENTS['AUTH3D challenged'], event, TIMES)).toEqual([]);
  });
});

describe('VOID of an AUTH3D', () => {
  test('ends a running authentication: its page no longer decides anything', () => {
    const payment = PAYMENTS['AUTH3D voided in its challenge'];
    expect(payment.operations).toMatchObject([
      { type: 'AUTH3D', status: 'error', code: 3008 },
      { type: 'VOID', status: 'success', code: 0 },
    ]);
    expect(afterEvent(payment, threedsEvent('CardholderAuthenticated', 'AU3D', authenticated))).toBe(payment);
    expect(codeOf(payment)).toBe(3008);
  });

  test('needs no acquirer', () => {
    expect(PAYMENTS['AUTH3D voided'].pending).toBeUndefined();
    expect(PAYMENTS['AUTH3D voided'].operations.at(-1)).toMatchObject({ type: 'VOID', status: 'success' });
  });
});

describe('a purchase with pares', () => {
  test('goes once, to the acquirer of its AUTH3D', () => {
    const elsewhere = { ...PROVEN, route: { ...ROUTE, midReference: 'MD0000000000000B' } };
    const decided = decide(PAYMENTS['AUTH3D authenticated'], provenPurchase('ChargeCard'), elsewhere);
    expect(decided).toMatchObject([
      { type: 'OperationStarted', route: ROUTE, operation: { baseReference: ref('AU3D') } },
    ]);
    expect(codeOf(PAYMENTS['AUTH3D used by a SALE'])).toBe(3025);
    expect(codeOf(PAYMENTS['AUTH3D used by a SALE that was declined'])).toBe(3025);
    expect(codeOf(PAYMENTS['AUTH3D used by an AUTH'])).toBe(3025);
    expect(codeOf(PAYMENTS['AUTH3D used by an AUTH that was voided'])).toBe(3025);
  });

  test('for an AUTH can be settled and voided like any other', () => {
    const payment = PAYMENTS['AUTH3D used by an AUTH'];
    expect(approved(after(payment, settle()), 'SETT').state.kind).toBe('charged');
    expect(approved(after(payment, voidOf()), 'VOID').state.kind).toBe('voided');
  });

  test.each([
    ['AUTH3D failed', 3103],
    ['AUTH3D cancelled', 3023],
    ['AUTH3D out of time', 3103],
    ['AUTH3D voided', 3008],
    ['AUTH3D challenged', 3003],
    ['nothing', 3003],
  ] as const)('given %s gets %i', (situation, code) => {
    expect(codeOf(PAYMENTS[situation])).toBe(code);
  });

  test.each(['charged', 'authorized', 'SALE3D charged'] as const)(
    'on %s, which is no AUTH3D, gets 3003',
    (situation) => {
      const payment = PAYMENTS[situation];
      const authentication = { reference: payment.operations[0]?.reference ?? '', pares: 'p' };
      expect(codeOf(payment, { authentication })).toBe(3003);
    },
  );

  test('gets 3103 for a forged proof, and learns nothing else about the AUTH3D', () => {
    for (const situation of ['AUTH3D authenticated', 'AUTH3D cancelled', 'AUTH3D used by a SALE'] as const) {
      expect(codeOf(PAYMENTS[situation], {}, { ...PROVEN, paresHash: 'cd'.repeat(32) })).toBe(3103);
    }
    expect(codeOf(PAYMENTS['AUTH3D out of time'], {}, { ...FACTS, paresHash: undefined })).toBe(3103);
  });

  test.each([
    [{ token: 'another-token' }, 3002],
    [{ amountE4: 100_001 }, 3022],
    [{ amountE4: 99_999 }, 3022],
    [{ currency: 'EUR' }, 3022],
  ])('with %j gets %i, and leaves the proof unused', (other, code) => {
    const payment = PAYMENTS['AUTH3D authenticated'];
    expect(codeOf(payment, other)).toBe(code);
    const refusedOnce = after(payment, provenPurchase('ChargeCard', other), PROVEN);
    expect(codeOf(refusedOnce)).toBe(0);
  });

  test.each([
    [DAY_MS, 0],
    [DAY_MS + 1, 3007],
  ])('%i ms after the authentication gets %i', (laterMs, code) => {
    expect(codeOf(PAYMENTS['AUTH3D authenticated'], {}, { ...PROVEN, now: NOW + laterMs })).toBe(code);
  });

  test('that the bank declines leaves its AUTH3D successful', () => {
    const [first, ...later] = PAYMENTS['AUTH3D used by a SALE that was declined'].operations;
    expect(first).toMatchObject({ type: 'AUTH3D', status: 'success' });
    expect(later).toMatchObject([{ type: 'SALE', status: 'decline', code: 3101, baseReference: ref('AU3D') }]);
  });
});

test('an authentication that was never requested breaks the invariant', () => {
  const event = { type: 'CardAuthenticated', reference: ref('AU3D'), authentication: { challenged: true } } as const;
  expect(() => evolve(PAYMENTS.charged, { ...event, authenticatedAt: NOW })).toThrow('broken invariant');
  expect(findOperation(PAYMENTS.charged, ref('AU3D'))).toBeUndefined();
});
