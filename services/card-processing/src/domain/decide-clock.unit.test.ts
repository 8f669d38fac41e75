import type { SandboxClock } from '@gateway/contracts';
import { decide } from './decide';
import { decideClock } from './decide-clock';
import { decideExpiry } from './decide-expiry';
import type { Payment } from './payment';
import { evolve, findOperation } from './payment';
import type { Situation } from './payments.fixture';
import { FACTS, HOLD_SECONDS, NOW, PAYMENTS, PROVEN, provenPurchase, ref, settle } from './payments.fixture';

const HOUR_MS = 3_600_000;
const HOLD_MS = HOLD_SECONDS * 1000;
const LATER = NOW + 10;

const clockAt = (...movesMs: number[]): SandboxClock => {
  let aheadMs = 0;
  const moves = movesMs.map((byMs, index) => ({ at: LATER + index, aheadMs: (aheadMs += byMs) }));
  return { merchantAccount: 'merchant', aheadMs, beforeMs: 0, moves };
};

function followed(payment: Payment, clock: SandboxClock, now = LATER): Payment {
  return decideClock(payment, clock, now).reduce(evolve, payment);
}

const endOfHold = ({ state }: Payment): number | undefined => ('hold' in state ? state.hold?.expiresAt : undefined);

describe('a hold', () => {
  it('ends sooner by what the clock moved, and once for each move', () => {
    const first = followed(PAYMENTS.authorized, clockAt(60_000));
    expect(endOfHold(first)).toBe(NOW + HOLD_MS - 60_000);
    expect(decideClock(first, clockAt(60_000), LATER)).toEqual([]);
    const second = followed(first, clockAt(60_000, 30_000));
    expect(endOfHold(second)).toBe(NOW + HOLD_MS - 90_000);
    expect(endOfHold(followed(PAYMENTS.authorized, clockAt(60_000, 30_000)))).toBe(endOfHold(second));
  });

  it('is not late when it ends: the end is now', () => {
    const over = followed(PAYMENTS.authorized, clockAt(100 * HOUR_MS));
    expect(endOfHold(over)).toBe(LATER);
    expect(decide(over, settle(), { ...FACTS, now: LATER })).toBe('hold-ended');
  });

  it('that began after the move does not follow it, but is marked', () => {
    const later = { ...PAYMENTS.authorized };
    const operations = later.operations.map((operation) => ({ ...operation, acceptedAt: LATER + 1 }));
    const [event] = decideClock({ ...later, operations }, clockAt(60_000), LATER + 2);
    expect(event).toMatchObject({ type: 'HoldMoved', byMs: 0, expiresAt: NOW + HOLD_MS, clockMs: 60_000 });
  });

  it('follows while a SETTLE or a VOID is under way, and stays moved if that fails', () => {
    for (const situation of ['settling', 'voiding'] as const) {
      expect(endOfHold(followed(PAYMENTS[situation], clockAt(60_000)))).toBe(NOW + HOLD_MS - 60_000);
    }
  });

  it('with callbacks knows when each was due, in whatever steps the clock moved', () => {
    const { authorized } = PAYMENTS;
    if (authorized.state.kind !== 'authorized') throw new Error('not authorized');
    const hold = { ...authorized.state.hold, expiresAt: LATER + 48 * HOUR_MS };
    const operations = authorized.operations.map((one) => ({ ...one, holdCallbacks: { hoursBefore: 24 } }));
    const payment: Payment = { ...authorized, state: { kind: 'authorized', hold }, operations };
    const callbacksOf = (moved: Payment) => findOperation(moved, ref('AUTH'))?.holdCallbacks;

    const atOnce = followed(payment, clockAt(100 * HOUR_MS));
    const due = { expiringDueClockMs: 24 * HOUR_MS, expiredDueClockMs: 48 * HOUR_MS };
    expect(callbacksOf(atOnce)).toEqual({ hoursBefore: 24, ...due });
    const steps = [23, 2, 30, 5].map((hours) => hours * HOUR_MS);
    const inSteps = steps.map((_, index) => clockAt(...steps.slice(0, index + 1)));
    const moved = inSteps.reduce((one, clock) => followed(one, clock), payment);
    expect(callbacksOf(moved)).toEqual(callbacksOf(atOnce));
    expect(callbacksOf(followed(payment, clockAt(23 * HOUR_MS)))).toEqual({ hoursBefore: 24 });

    const events = decideExpiry(atOnce, { reference: ref('AUTH'), now: LATER + 50, leaseEnd: LATER + 900 });
    expect(events).toMatchObject([
      { type: 'HoldExpiring', dueClockMs: due.expiringDueClockMs },
      { type: 'HoldExpired', dueClockMs: due.expiredDueClockMs },
      { type: 'OperationStarted' },
    ]);
  });

  it('of real money never follows', () => {
    const { state } = PAYMENTS.authorized;
    if (state.kind !== 'authorized') throw new Error('not authorized');
    const real: Payment = { ...PAYMENTS.authorized, state: { ...state, hold: { ...state.hold, currency: 'EUR' } } };
    expect(decideClock(real, clockAt(60_000), LATER)).toEqual([]);
  });
});

it.each([
  [23 * HOUR_MS, undefined],
  [25 * HOUR_MS, 'hold-ended'],
])('a proof is older by %d ms, so its use is %s', (byMs, rejection) => {
  const moved = followed(PAYMENTS['AUTH3D authenticated'], clockAt(byMs));
  expect(decideClock(moved, clockAt(byMs), LATER)).toEqual([]);
  const decided = decide(moved, provenPurchase('ChargeCard'), { ...PROVEN, now: LATER });
  expect(typeof decided === 'string' ? decided : undefined).toBe(rejection);
});

const WAITING: ReadonlySet<Situation> = new Set([
  'authorized',
  'settling',
  'voiding',
  'late voiding',
  'AUTH3D authenticated',
  'AUTH3D used by an AUTH',
]);

it.each(Object.keys(PAYMENTS) as Situation[])('in the situation "%s" follows only what can end', (situation) => {
  const payment: Payment = PAYMENTS[situation];
  const events = decideClock(payment, clockAt(60_000), LATER);
  expect(events.length).toBe(WAITING.has(situation) ? 1 : 0);
  const moved = events.reduce(evolve, payment);
  expect({ ...moved, state: payment.state }).toEqual(payment);
  expect(moved.state.kind).toBe(payment.state.kind);
});

it('names the AUTH whose hold moved', () => {
  expect(decideClock(PAYMENTS.authorized, clockAt(60_000), LATER)).toEqual([
    { type: 'HoldMoved', reference: ref('AUTH'), byMs: 60_000, expiresAt: NOW + HOLD_MS - 60_000, clockMs: 60_000 },
  ]);
});
