import type { Registry } from '@gateway/service-kit';
import { Gauge } from '@gateway/service-kit';
import type { Records } from './records';

const SECOND_MS = 1_000;
const UNREPORTED = { state: 'emitted', reportedAt: { $exists: false } } as const;

/** Gauges of all replicas together: each scrape counts in the database. */
export function registerGauges(metrics: Registry, batches: Records['batches'], now: () => number): void {
  function gauge(name: string, help: string, value: () => Promise<number>): void {
    new Gauge({
      name: `gateway_iso20022_${name}`,
      help,
      registers: [metrics],
      async collect() {
        this.set(await value());
      },
    });
  }

  gauge('held_batches', 'Batches that wait for an operator', () => batches.countDocuments({ state: 'held' }));
  gauge('unreported_batches', 'Batches that were written and not reported on', () =>
    batches.countDocuments(UNREPORTED),
  );
  gauge(
    'oldest_unreported_seconds',
    'Age of the oldest unreported batch, from its move into the outbox; 0 if there is none',
    async () => {
      const oldest = await batches.findOne(UNREPORTED, { sort: { emittedAt: 1 } });
      return oldest === null ? 0 : (now() - (oldest.emittedAt ?? oldest.createdAt)) / SECOND_MS;
    },
  );
}
