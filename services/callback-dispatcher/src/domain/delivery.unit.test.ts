import type { SandboxClock } from '@gateway/contracts';
import { callbackOf } from './callback';
import type { AttemptResult, Delivery, DeliveryEvent, RetryContext } from './delivery';
import { decideAfterAttempt, decideClock, decideResend, evolve, heldUntil, newDelivery } from './delivery';

const NOW = 1_000_000;
const callback = callbackOf({
  kind: 'card',
  paymentId: '0123456789ABCDEF',
  reference: '0123456789ABCDEF0001',
  merchantAccount: 'merchant_1',
  transactionUniqueId: 'order-000001',
  status: 'success',
  code: 0,
  message: 'done',
  callbackUrl: 'https://shop.example/done',
});
const fresh = newDelivery(callback, { at: NOW, claimableAt: NOW + 5, correlationId: 'c' });
const OK: AttemptResult = { httpStatus: 200, body: 'OK', durationMs: 12 };
const REFUSED: AttemptResult = { error: 'ECONNREFUSED', durationMs: 3 };
const context: RetryContext = { now: NOW, scheduleSeconds: [1, 3], random: 0 };

function after(delivery: Delivery, events: readonly DeliveryEvent[]): Delivery {
  return events.reduce(evolve, delivery);
}
function attempted(delivery: Delivery, ...results: AttemptResult[]): Delivery {
  return results.reduce((current, result) => after(current, decideAfterAttempt(current, result, context)), delivery);
}
const types = (events: readonly DeliveryEvent[]) => events.map(({ type }) => type);

describe('a delivery', () => {
  it('is due at once, and held by its creator', () => {
    expect(fresh.progress).toEqual({ state: 'pending', nextAttemptAt: NOW, claimableAt: NOW + 5 });
  });

  it('is delivered when it is acknowledged', () => {
    const events = decideAfterAttempt(fresh, OK, context);
    expect(events).toEqual([
      { type: 'Attempted', acknowledged: true, httpStatus: 200, durationMs: 12, at: NOW },
      { type: 'Delivered', at: NOW },
    ]);
    expect(after(fresh, events)).toMatchObject({ attempts: 1, failures: 0, progress: { state: 'delivered', at: NOW } });
  });

  it('is tried again after the scheduled delay', () => {
    const events = decideAfterAttempt(fresh, REFUSED, context);
    expect(events).toEqual([
      {
        type: 'Attempted',
        acknowledged: false,
        error: 'ECONNREFUSED',
        durationMs: 3,
        nextAttemptAt: NOW + 1000,
        at: NOW,
      },
    ]);
    const once = after(fresh, events);
    expect(once.progress).toEqual({ state: 'pending', nextAttemptAt: NOW + 1000, claimableAt: NOW + 1000 });
    expect(attempted(once, REFUSED).progress).toMatchObject({ nextAttemptAt: NOW + 3000 });
  });

  it('adds up to a tenth to the delay', () => {
    const [event] = decideAfterAttempt(fresh, REFUSED, { ...context, random: 0.5 });
    expect(event).toMatchObject({ nextAttemptAt: NOW + 1050 });
  });

  it('is exhausted when the schedule is used up', () => {
    const last = attempted(fresh, REFUSED, REFUSED);
    const events = decideAfterAttempt(last, REFUSED, context);
    expect(types(events)).toEqual(['Attempted', 'Exhausted']);
    expect(events[0]).not.toHaveProperty('nextAttemptAt');
    expect(after(last, events)).toMatchObject({ attempts: 3, wasExhausted: true, progress: { state: 'exhausted' } });
  });

  it('is recovered when it is acknowledged later', () => {
    const exhausted = attempted(fresh, REFUSED, REFUSED, REFUSED);
    const resent = after(exhausted, decideResend(NOW + 9));
    expect(resent).toMatchObject({ failures: 0, attempts: 3, progress: { state: 'pending', nextAttemptAt: NOW + 9 } });
    const events = decideAfterAttempt(resent, OK, context);
    expect(types(events)).toEqual(['Attempted', 'Recovered']);
    expect(after(resent, events)).toMatchObject({ wasExhausted: false, progress: { state: 'delivered' } });
  });

  it('goes through the whole schedule again when it is sent again', () => {
    const resent = after(attempted(fresh, REFUSED, REFUSED, REFUSED), decideResend(NOW));
    expect(attempted(resent, REFUSED, REFUSED).progress.state).toBe('pending');
    expect(attempted(resent, REFUSED, REFUSED, REFUSED).progress.state).toBe('exhausted');
  });

  it('is delivered, not recovered, when it is sent again after a delivery', () => {
    const resent = after(attempted(fresh, OK), decideResend(NOW));
    expect(resent.progress.state).toBe('pending');
    expect(types(decideAfterAttempt(resent, OK, context))).toEqual(['Attempted', 'Delivered']);
  });
});

describe('a late result', () => {
  const delivered = attempted(fresh, OK);
  const exhausted = attempted(fresh, REFUSED, REFUSED, REFUSED);
  it.each([
    ['failure', 'delivered', delivered, REFUSED, []],
    ['acknowledgement', 'delivered', delivered, OK, []],
    ['failure', 'exhausted', exhausted, REFUSED, []],
    ['acknowledgement', 'exhausted', exhausted, OK, ['Attempted', 'Recovered']],
  ] as const)('%s on %s', (_result, _state, delivery, result, expected) => {
    expect(types(decideAfterAttempt(delivery, result, context))).toEqual(expected);
  });
});

describe('holding', () => {
  it('changes only the time from which others may take it', () => {
    const held = heldUntil(fresh, NOW + 77);
    expect(held.progress).toEqual({ state: 'pending', nextAttemptAt: NOW, claimableAt: NOW + 77 });
  });
  it('ends when it is handed back', () => {
    expect(evolve(heldUntil(fresh, NOW + 77), { type: 'HandedBack', at: NOW + 9 })).toEqual(heldUntil(fresh, NOW + 9));
  });
  it('takes the first attempt off the record if it is handed back before that', () => {
    const begun = { ...heldUntil(fresh, NOW + 77), firstAttempt: { startedAt: NOW } };
    expect(evolve(begun, { type: 'HandedBack', at: NOW + 9, cancelsFirst: true })).toEqual(heldUntil(fresh, NOW + 9));
    expect(evolve(begun, { type: 'HandedBack', at: NOW + 9 })).toEqual(heldUntil(begun, NOW + 9));
  });
  it('does not affect a delivery that has ended', () => {
    const delivered = attempted(fresh, OK);
    expect(heldUntil(delivered, NOW + 77)).toEqual(delivered);
  });
});

describe('the clock of a sandbox account', () => {
  const SCHEDULE = [10, 20, 40];
  const retries: RetryContext = { now: NOW, scheduleSeconds: SCHEDULE, random: 0 };
  const movedBy = (...movesMs: number[]): SandboxClock => {
    let aheadMs = 0;
    const moves = movesMs.map((byMs, index) => ({ at: NOW + index, aheadMs: (aheadMs += byMs) }));
    return { merchantAccount: 'merchant_1', aheadMs, beforeMs: 0, moves };
  };
  const fail = (delivery: Delivery, now = NOW) =>
    after(delivery, decideAfterAttempt(delivery, REFUSED, { ...retries, now }));
  const follow = (delivery: Delivery, clock: SandboxClock, now = NOW): Delivery => {
    const event = decideClock(delivery, clock, now);
    if (event === 'running') throw new Error('running');
    return event === undefined ? delivery : after(delivery, [event]);
  };
  const dueAt = ({ progress }: Delivery) => (progress.state === 'pending' ? progress.nextAttemptAt : progress.state);
  const failedOnce = fail(fresh);

  it('brings the next attempt closer', () => {
    const moved = follow(failedOnce, movedBy(4_000));
    expect(moved.progress).toEqual({ state: 'pending', nextAttemptAt: NOW + 6_000, claimableAt: NOW + 6_000 });
    expect(decideClock(moved, movedBy(4_000), NOW)).toBeUndefined();
    expect(dueAt(fail(moved, NOW + 6_000))).toBe(NOW + 26_000);
  });

  it('counts what is left for the attempts after it, so that each is made', () => {
    const moved = follow(failedOnce, movedBy(45_000));
    expect(dueAt(moved)).toBe(NOW);
    const twice = fail(moved, NOW + 100);
    expect(dueAt(twice)).toBe(NOW + 100);
    const thrice = fail(twice, NOW + 200);
    // 45 s: 10 and 20 for the first two pauses, 15 of the third.
    expect(dueAt(thrice)).toBe(NOW + 200 + 25_000);
    expect(fail(thrice, NOW + 25_200)).toMatchObject({ attempts: 4, progress: { state: 'exhausted' } });
  });

  it('adds up over moves, in whatever steps they are followed', () => {
    const inSteps = follow(follow(failedOnce, movedBy(25_000)), movedBy(25_000, 20_000));
    const atOnce = follow(failedOnce, movedBy(25_000, 20_000));
    expect(inSteps).toEqual(atOnce);
    expect(dueAt(fail(fail(inSteps)))).toBe(NOW + 25_000);
  });

  it('waits for the attempt that a replica is making', () => {
    expect(decideClock(fresh, movedBy(1_000), NOW)).toBe('running');
    expect(decideClock(heldUntil(failedOnce, NOW + 60_000), movedBy(1_000), NOW)).toBe('running');
    expect(decideClock(heldUntil(failedOnce, NOW + 60_000), movedBy(1_000), NOW + 60_000)).toMatchObject({
      type: 'ClockMoved',
    });
  });

  it('does not concern a callback that came after the move, or has ended', () => {
    const later = newDelivery(callback, { at: NOW + 1, claimableAt: NOW + 1, correlationId: 'c' });
    expect(decideClock(later, movedBy(60_000), NOW + 2)).toMatchObject({ nextAttemptAt: NOW + 1, aheadMs: 0 });
    expect(decideClock(after(fresh, decideAfterAttempt(fresh, OK, retries)), movedBy(60_000), NOW)).toBeUndefined();
  });

  it('leaves the rest of a move to the retries of what happened in it', () => {
    const caused = newDelivery(callback, {
      at: NOW,
      claimableAt: NOW,
      correlationId: 'c',
      clockMs: 90_000,
      aheadMs: 35_000,
    });
    expect(decideClock(caused, movedBy(90_000), NOW)).toBeUndefined();
    const twice = fail(fail(caused));
    expect(dueAt(twice)).toBe(NOW);
    // 35 s: 10 and 20 for the first two pauses, 5 of the third.
    expect(dueAt(fail(twice))).toBe(NOW + 35_000);
  });

  it('leaves no moved time to a schedule that begins again', () => {
    const exhausted = [0, 1, 2].reduce((delivery) => fail(delivery), follow(failedOnce, movedBy(1_000_000)));
    expect(exhausted.progress.state).toBe('exhausted');
    const again = fail(after(exhausted, decideResend(NOW + 5)), NOW + 5);
    expect(dueAt(again)).toBe(NOW + 5 + 10_000);
  });
});
