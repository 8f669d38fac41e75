import type { WaitingKind } from '@gateway/accounts';
import { decideClock } from '../domain/delivery';
import type { Ports, StoredDelivery } from './ports';

/** What waits here in sandbox accounts: the retries of callbacks. A running attempt is not disturbed. */
export function waitingDeliveries(ports: Pick<Ports, 'deliveries' | 'handle' | 'now'>): WaitingKind<StoredDelivery> {
  return {
    behind: (clock, limit) => ports.deliveries.behind(clock, limit),
    async follow(stored, clock) {
      const { rejection } = await ports.handle<'running'>(stored, (current) => {
        const event = decideClock(current, clock, ports.now());
        return event === undefined ? [] : event === 'running' ? event : [event];
      });
      return rejection === undefined;
    },
  };
}
