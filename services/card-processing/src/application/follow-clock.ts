import type { WaitingKind } from '@gateway/accounts';
import { decideClock } from '../domain/decide-clock';
import type { Payments, Ports, StoredPayment } from './ports';

/** What waits in payments of sandbox accounts: the ends of holds, and the 24 hours of proofs. */
export function waitingPayments(ports: Pick<Ports, 'payments' | 'handle' | 'now'>): WaitingKind<StoredPayment>[] {
  const kind = (behind: Payments['holdsBehind']): WaitingKind<StoredPayment> => ({
    behind,
    async follow(payment, clock) {
      await ports.handle(payment, (current) => decideClock(current, clock, ports.now()));
      return true;
    },
  });
  const { payments } = ports;
  return [
    kind((clock, limit) => payments.holdsBehind(clock, limit)),
    kind((clock, limit) => payments.proofsBehind(clock, limit)),
  ];
}
