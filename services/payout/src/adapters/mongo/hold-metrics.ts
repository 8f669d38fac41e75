import type { Registry } from '@gateway/service-kit';
import { Gauge } from '@gateway/service-kit';
import type { Holds } from '../../application/hold-ports';
import { SCOPE_KINDS } from '../../domain/holds';

/** Gauges of all replicas together: each scrape reads the database. */
export function registerHoldGauges(
  metrics: Registry,
  { holds, countHeld }: { holds: Pick<Holds, 'read'>; countHeld(): Promise<number> },
): void {
  new Gauge({
    name: 'gateway_payout_holds',
    help: "Operators' holds on payouts, by scope: payout, account, all",
    labelNames: ['scope'],
    registers: [metrics],
    async collect() {
      const held = await holds.read();
      for (const kind of SCOPE_KINDS) this.set({ scope: kind }, held.filter(({ scope }) => scope.kind === kind).length);
    },
  });
  new Gauge({
    name: 'gateway_payouts_held',
    help: 'Payouts that wait for an operator or for their account, without those in open batches',
    registers: [metrics],
    async collect() {
      this.set(await countHeld());
    },
  });
}
