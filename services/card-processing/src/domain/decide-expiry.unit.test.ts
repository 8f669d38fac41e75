import { coded, RESPONSE_CODES } from '@gateway/contracts';
import fc from 'fast-check';
import { callbackCount } from './checkout';
import type { AcquirerAnswer } from './decide';
import { decide } from './decide';
import { decideExpiry, decideExpiryInRecovery } from './decide-expiry';
import type { Payment, PaymentEvent } from './payment';
import { evolve, findOperation, newPayment } from './payment';
import type { Situation } from './payments.fixture';
import {
  after,
  answered,
  approved,
  FACTS,
  HOLD_SECONDS,
  NOW,
  PAYMENT_ID,
  PAYMENTS,
  purchaseCommand,
  ref,
  settle,
  voidOf,
} from './payments.fixture';
import { codeOfRejection } from './rejections';

const END = NOW + HOLD_SECONDS * 1000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const expire = (payment: Payment, now = END, reference = ref('AUTH')) =>
  decideExpiry(payment, { reference, now, leaseEnd: now + 9_000 });

/** The payment after a request, and the name of the VOID that it has begun, if any. */
function asked(payment: Payment, now = END): { payment: Payment; name: string | undefined } {
  const decided = expire(payment, now);
  if (typeof decided === 'string') return { payment, name: undefined };
  const next = decided.reduce(evolve, payment);
  return { payment: next, name: decided.length === 0 ? undefined : next.pending?.reference.slice(-4) };
}

/** Every state × the end of a hold: only held money is voided. */
const APPLIES: Record<Situation, boolean> = {
  nothing: false,
  authorizing: false,
  authorized: true,
  'auth declined': false,
  settling: false,
  settled: false,
  'settled, late void allowed': false,
  voiding: false,
  voided: false,
  'late voiding': false,
  'late voided': false,
  'settle refunding': false,
  'settle refunded': false,
  charging: false,
  charged: false,
  'sale declined': false,
  refunding: false,
  refunded: false,
  tokenized: false,
  'AUTH3D asked for': false,
  'AUTH3D challenged': false,
  'AUTH3D authenticated': false,
  'AUTH3D failed': false,
  'AUTH3D cancelled': false,
  'AUTH3D out of time': false,
  'AUTH3D voided': false,
  'AUTH3D voided in its challenge': false,
  'AUTH3D used by a SALE': false,
  'AUTH3D used by a SALE that was declined': false,
  'AUTH3D used by an AUTH': true,
  'AUTH3D used by an AUTH that was voided': false,
  'SALE3D asked for': false,
  'SALE3D challenged': false,
  'SALE3D charging': false,
  'SALE3D charged': false,
  'SALE3D failed': false,
};

describe.each(Object.entries(APPLIES) as [Situation, boolean][])('given %s', (situation, applies) => {
  const payment = PAYMENTS[situation];
  test(`the end of its hold ${applies ? 'begins a VOID' : 'does nothing'}`, () => {
    expect(expire(payment)).toHaveLength(applies ? 1 : 0);
  });
  test('an early request, or one for another operation, does nothing', () => {
    expect(expire(payment, END - 1)).toEqual([]);
    for (const { reference } of payment.operations) {
      if (reference !== ref('AUTH')) expect(expire(payment, END, reference)).toEqual([]);
    }
  });
});

describe('the VOID at the end of a hold', () => {
  test('is recorded under a name derived from its AUTH, and called with the bank’s transaction id', () => {
    const { payment } = asked(PAYMENTS.authorized);
    expect(payment.state.kind).toBe('voiding');
    expect(payment.operations.at(-1)).toEqual({
      reference: `${PAYMENT_ID}ZZ01`,
      type: 'VOID',
      baseReference: ref('AUTH'),
      transactionUniqueId: `expiry-${ref('AUTH')}`,
      status: 'pending',
      code: 11,
      message: expect.any(String),
      authcode: null,
      acceptedAt: END,
    });
    expect(payment.pending).toEqual({
      reference: `${PAYMENT_ID}ZZ01`,
      kind: 'void',
      originalTransactionId: 'bank-AUTH',
    });
  });

  test('excludes a SETTLE and a VOID of the merchant while its outcome is unknown, and afterwards', () => {
    const { payment, name = '' } = asked(PAYMENTS.authorized);
    for (const state of [payment, approved(payment, name)]) {
      for (const command of [settle('AUTH', {}, 'NEW1'), voidOf('AUTH', 'NEW1')]) {
        const decided = decide(state, command, FACTS);
        expect(typeof decided === 'string' ? codeOfRejection(decided) : 0).toBe(3008);
      }
    }
  });

  test('is not repeated while it is pending or done', () => {
    const { payment, name = '' } = asked(PAYMENTS.authorized);
    expect(expire(payment)).toEqual([]);
    expect(expire(approved(payment, name))).toEqual([]);
  });

  test('is tried again after a decline, as another operation with the same name', () => {
    const first = asked(PAYMENTS.authorized);
    const declined = answered(first.payment, first.name ?? '', { kind: 'declined', code: 3101, bank: {} });
    expect(declined.state.kind).toBe('authorized');
    const second = asked(declined, END + MINUTE_MS);
    expect(second.name).toBe('ZZ02');
    const voids = second.payment.operations.filter(({ type }) => type === 'VOID');
    expect(voids.map(({ status }) => status)).toEqual(['decline', 'pending']);
    expect(new Set(voids.map(({ transactionUniqueId }) => transactionUniqueId)).size).toBe(1);
    expect(approved(second.payment, second.name ?? '').state.kind).toBe('voided');
  });

  test('is tried again after 1, 2, 4 minutes and so on, at most six hours, however often it is asked for', () => {
    const pauses = [1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360].map((minutes) => minutes * MINUTE_MS);
    let beganAt = END;
    let { payment, name = '' } = asked(PAYMENTS.authorized, beganAt);
    for (const pauseMs of pauses) {
      payment = answered(payment, name, { kind: 'declined', code: 3101, bank: {} });
      expect(expire(payment, beganAt + pauseMs - 1)).toEqual([]);
      beganAt += pauseMs;
      ({ payment, name = '' } = asked(payment, beganAt));
      expect(name).not.toBe('');
    }
  });

  test('does not wait after a VOID of the merchant that was declined', () => {
    const declined = answered(after(PAYMENTS.authorized, voidOf()), 'VOID', { kind: 'declined', code: 3101, bank: {} });
    expect(expire(declined)).toHaveLength(1);
  });

  test('follows a SETTLE that failed after the end', () => {
    const undone = answered(PAYMENTS.settling, 'SETT', { kind: 'not-executed', code: 3118 });
    expect(expire(undone)).toHaveLength(1);
  });
});

describe('callbacks about a hold', () => {
  /** Both payments hold for an hour. */
  const wanting = (hoursBefore: number): Payment =>
    approved(
      after(
        newPayment('merchant'),
        purchaseCommand('AuthorizeCard', { callbackUrl: 'https://shop.example/callback' }),
        { ...FACTS, holdCallbackHours: hoursBefore },
      ),
      'AUTH',
    );
  const half: Payment = withHours(wanting(1), 0.5);
  const expiring = { type: 'HoldExpiring', reference: ref('AUTH'), endsAt: END };
  const expired = { type: 'HoldExpired', reference: ref('AUTH'), endsAt: END };
  const typesOf = (decided: ReturnType<typeof expire>) =>
    typeof decided === 'string' ? decided : decided.map(({ type }) => type);

  /** Whole hours are the smallest option; a hold of the fixture lasts one. */
  function withHours(payment: Payment, hoursBefore: number): Payment {
    const operations = payment.operations.map((operation) => ({ ...operation, holdCallbacks: { hoursBefore } }));
    return { ...payment, operations };
  }

  test('are for an AUTH with a callback address, of an account that wants them', () => {
    const [operation] = wanting(24).operations;
    expect(operation).toMatchObject({ holdCallbacks: { hoursBefore: 24 } });
    const facts = { ...FACTS, holdCallbackHours: 24 };
    for (const payment of [
      after(newPayment('merchant'), purchaseCommand('AuthorizeCard'), facts),
      after(newPayment('merchant'), purchaseCommand('AuthorizeCard', { callbackUrl: 'https://shop.example' })),
      after(newPayment('merchant'), purchaseCommand('ChargeCard', { callbackUrl: 'https://shop.example' }), facts),
    ]) {
      expect(payment.operations).toHaveLength(1);
      expect(payment.operations[0]).not.toHaveProperty('holdCallbacks');
    }
  });

  test('come so long before the end, not earlier, and at the end, each once', () => {
    expect(expire(half, END - HOUR_MS / 2 - 1)).toEqual([]);
    expect(expire(half, END - HOUR_MS / 2)).toEqual([expiring]);
    const warned = evolve(half, expiring as PaymentEvent);
    expect(warned.state).toEqual(half.state);
    expect(expire(warned, END - 1)).toEqual([]);
    expect(expire(warned, END)).toMatchObject([expired, { type: 'OperationStarted' }]);
  });

  test('come at once if the hold is shorter than that', () => {
    expect(expire(wanting(24), NOW)).toEqual([expiring]);
  });

  test('come both at the end, in order, if nobody asked before', () => {
    expect(typesOf(expire(half))).toEqual(['HoldExpiring', 'HoldExpired', 'OperationStarted']);
  });

  test('are not repeated with the next VOID after a declined one', () => {
    const first = asked(half);
    const declined = answered(first.payment, first.name ?? '', { kind: 'declined', code: 3101, bank: {} });
    expect(typesOf(expire(declined, END + MINUTE_MS))).toEqual(['OperationStarted']);
  });

  test.each([
    ['settling', after(half, settle()), []],
    ['settled', approved(after(half, settle()), 'SETT'), []],
    ['voiding', after(half, voidOf()), []],
    ['voided', approved(after(half, voidOf()), 'VOID'), []],
    [
      'a SETTLE that failed',
      answered(after(half, settle()), 'SETT', { kind: 'declined', code: 3101, bank: {} }),
      [expiring],
    ],
  ] as const)('%s: before the end of the hold', (_what, payment, expected) => {
    expect(expire(payment, END - 1)).toEqual(expected);
  });

  test('in any order of requests come once each, and none after a SETTLE or VOID', () => {
    const step = fc.tuple(
      fc.constantFrom('expire', 'settle', 'void', 'approved', 'declined'),
      fc.integer({ min: -HOUR_MS, max: HOUR_MS }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let payment: Payment = half;
        const announced: string[] = [];
        steps.forEach(([action, offsetMs], index) => {
          const name = String(index).padStart(4, '0');
          if (action === 'expire') {
            const before = payment.state.kind;
            const decided = expire(payment, END + offsetMs);
            if (typeof decided === 'string') return;
            const told = decided.map(({ type }) => type).filter((type) => type.startsWith('Hold'));
            if (told.length > 0) expect(before).toBe('authorized');
            announced.push(...told);
            payment = decided.reduce(evolve, payment);
          } else if (action === 'settle') payment = after(payment, settle('AUTH', {}, name));
          else if (action === 'void') payment = after(payment, voidOf('AUTH', name));
          else if (payment.pending !== undefined) {
            const answer = { kind: action, code: 3101, authcode: null, bank: {} } as AcquirerAnswer;
            payment = answered(payment, payment.pending.reference.slice(-4), answer);
          }
        });
        expect(['', 'HoldExpiring', 'HoldExpiring,HoldExpired']).toContain(announced.join());
        expect(callbackCount(payment)).toBe(announced.length);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the bounds of a payment', () => {
  /** The merchant sends SETTLEs that the bank declines until the payment takes no more. */
  function exhaustedByMerchant(): Payment {
    let payment: Payment = PAYMENTS.authorized;
    for (let count = 0; ; count += 1) {
      const name = String(count).padStart(4, '0');
      if (typeof decide(payment, settle('AUTH', {}, name), FACTS) === 'string') return payment;
      payment = answered(after(payment, settle('AUTH', {}, name)), name, { kind: 'declined', code: 3101, bank: {} });
    }
  }

  test('leave room for the VOID of an expired hold, whatever the merchant sends', () => {
    const payment = exhaustedByMerchant();
    expect(payment.operations).toHaveLength(90);
    expect(decide(payment, voidOf('AUTH', 'NEW1'), FACTS)).toBe('too-many-operations');
    expect(expire(payment)).toHaveLength(1);
  });

  test('stop the tries at 100 operations, each with its own reference', () => {
    let payment = exhaustedByMerchant();
    let now = END;
    for (;;) {
      now += 6 * HOUR_MS;
      const next = asked(payment, now);
      if (next.name === undefined) break;
      payment = answered(next.payment, next.name, { kind: 'declined', code: 3101, bank: {} });
    }
    expect(expire(payment, now)).toBe('too-many-operations');
    expect(payment.operations).toHaveLength(100);
    expect(new Set(payment.operations.map(({ reference }) => reference)).size).toBe(100);
  });
});

test('in any order of messages, a hold is settled or voided once, never both', () => {
  const step = fc.oneof(
    fc.constant('expire' as const),
    fc.constant('settle' as const),
    fc.constant('void' as const),
    fc.constantFrom('approved', 'declined', 'unknown', 'not-executed'),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let payment: Payment = PAYMENTS.authorized;
      steps.forEach((action, index) => {
        const name = String(index).padStart(4, '0');
        if (action === 'expire') payment = asked(payment).payment;
        else if (action === 'settle') payment = after(payment, settle('AUTH', {}, name));
        else if (action === 'void') payment = after(payment, voidOf('AUTH', name));
        else if (payment.pending !== undefined) {
          const answer = { kind: action, code: 3109, authcode: null, bank: {} } as AcquirerAnswer;
          payment = answered(payment, payment.pending.reference.slice(-4), answer);
        }
      });
      const ended = payment.operations.filter(({ type, status }) => type !== 'AUTH' && status === 'success');
      expect(ended.length).toBeLessThanOrEqual(1);
      expect(findOperation(payment, ref('AUTH'))?.status).toBe('success');
    }),
    { numRuns: 300 },
  );
});

describe('in a recovery', () => {
  const ask = { reference: ref('AUTH'), now: END + MINUTE_MS, leaseEnd: END + 2 * MINUTE_MS };
  const decideLost = (payment: Payment, noticedAt: number) =>
    decideExpiryInRecovery(payment, ask, (expiresAt) => expiresAt < noticedAt);

  test('the VOID of a hold that ended in the lost time is inquired about, and not made', () => {
    const [event, ...others] = decideLost(PAYMENTS.authorized, END + 1) as PaymentEvent[];
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      type: 'OperationStarted',
      call: { kind: 'void', lost: { code: RESPONSE_CODES.OUTCOME_UNKNOWN } },
      resolveAt: ask.now,
    });
  });

  test('once: what the acquirer does not know is voided after the recovery', () => {
    const inquired = (decideLost(PAYMENTS.authorized, END + 1) as PaymentEvent[]).reduce(evolve, PAYMENTS.authorized);
    const reference = inquired.pending?.reference ?? '';
    const failed: PaymentEvent = { type: 'OperationFailed', reference, ...coded(RESPONSE_CODES.OUTCOME_UNKNOWN) };
    const after = [failed].reduce(evolve, inquired);
    expect(after.state.kind).toBe('authorized');
    expect(decideLost(after, END + 1)).toEqual([]);
    expect(decideExpiry(after, { ...ask, now: ask.now + HOUR_MS })).toMatchObject([{ type: 'OperationStarted' }]);
  });

  test('the VOID of a hold that ended later waits', () => {
    expect(decideLost(PAYMENTS.authorized, END)).toEqual([]);
  });
});
