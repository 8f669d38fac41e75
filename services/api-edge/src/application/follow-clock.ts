import type { WaitingKind } from '@gateway/accounts';
import { movedSince, sooner } from '@gateway/contracts';
import type { Checkouts, OpenCheckout } from './ports';

/** What waits here in sandbox accounts: the ends of card-entry pages. */
export function waitingCheckouts(checkouts: Checkouts, now: () => number): WaitingKind<OpenCheckout> {
  return {
    behind: (clock, limit) => checkouts.behind(clock, limit),
    follow(checkout, clock) {
      const { expiresAt, acceptedAt: since, clockMs } = checkout;
      const end = sooner(expiresAt, movedSince(clock, { since, clockMs }), now());
      return checkouts.follow(checkout, { byMs: expiresAt - end, clockMs: clock.aheadMs });
    },
  };
}
