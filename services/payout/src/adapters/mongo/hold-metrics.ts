import type { Logger, Registry } from '@gateway/service-kit';
import { createReading, registerReadGauge } from '@gateway/service-kit';
import type { Holds } from '../../application/hold-ports';
import { SCOPE_KINDS } from '../../domain/holds';

/** Gauges of all replicas together, read from the database. */
export function registerHoldGauges(
  { metrics, logger }: { metrics: Registry; logger: Logger },
  { holds, countHeld }: { holds: Pick<Holds, 'read'>; countHeld(): Promise<number> },
): void {
  registerReadGauge(metrics, {
    name: 'gateway_payout_holds',
    help: "Operators' holds on payouts, by scope: payout, account, all",
    labelNames: ['scope'],
    reading: createReading({ name: 'holds', read: () => holds.read(), logger }),
    value: (held) =>
      SCOPE_KINDS.map((kind) => [{ scope: kind }, held.filter(({ scope }) => scope.kind === kind).length] as const),
  });
  registerReadGauge(metrics, {
    name: 'gateway_payouts_held',
    help: 'Payouts that wait for an operator or for their account, without those in open batches; 10000 means 10000 or more',
    reading: createReading({ name: 'held payouts', read: countHeld, logger }),
    value: (count) => count,
  });
}
