import type { WaitingKind } from '@gateway/accounts';
import { decideClock } from '../domain/decide';
import { listOf } from './authenticate-cardholder';
import type { Ports, StoredAuthentication } from './ports';

/** What waits here in sandbox accounts: the time-outs of challenges. */
export function waitingChallenges(ports: Ports): WaitingKind<StoredAuthentication> {
  const { challengeTimeoutMs } = ports;
  return {
    behind: (clock, limit) => ports.authentications.behind(clock, limit),
    async follow(stored, clock) {
      await ports.handle(stored, (current) =>
        listOf(decideClock(current, clock, { now: ports.now(), challengeTimeoutMs })),
      );
      return true;
    },
  };
}
