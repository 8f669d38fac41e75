import type { WaitingKind } from '@gateway/accounts';
import { dueInMove, movedSince, sooner } from '@gateway/contracts';
import type { Checkouts, OpenCheckout } from './ports';

/** What waits here in sandbox accounts: the ends of card-entry pages. */
export function waitingCheckouts(checkouts: Checkouts, now: () => number): WaitingKind<OpenCheckout> {
  return {
    behind: (clock, limit) => checkouts.behind(clock, limit),
    follow(checkout, clock) {
      const { expiresAt, acceptedAt: since, clockMs } = checkout;
      const [movedMs, at] = [movedSince(clock, { since, clockMs }), now()];
      const dueClockMs = dueInMove(clock, { byMs: movedMs, time: expiresAt, now: at });
      return checkouts.follow(checkout, {
        byMs: expiresAt - sooner(expiresAt, movedMs, at),
        clockMs: clock.aheadMs,
        ...(dueClockMs === undefined ? {} : { dueClockMs }),
      });
    },
  };
}
