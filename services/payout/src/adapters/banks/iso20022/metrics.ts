import { FIGURE_BOUNDS } from '@gateway/mongo';
import type { Logger, Registry } from '@gateway/service-kit';
import { createReading, Gauge, registerReadGauge } from '@gateway/service-kit';
import type { InboxFiles } from './inbox-files';
import type { Records } from './records';

const SECOND_MS = 1_000;
export const UNREPORTED = { state: 'emitted', reportedAt: { $exists: false } } as const;

/** Gauges of all replicas together, read from the database. */
export function registerGauges(
  { metrics, now, logger }: { metrics: Registry; now: () => number; logger: Logger },
  batches: Records['batches'],
): void {
  const reading = createReading({
    name: 'batches',
    async read() {
      const { maxTimeMS } = FIGURE_BOUNDS;
      const held = await batches.countDocuments({ state: 'held' }, FIGURE_BOUNDS);
      const unreported = await batches.countDocuments(UNREPORTED, FIGURE_BOUNDS);
      const oldest = await batches.findOne(UNREPORTED, { sort: { emittedAt: 1 }, maxTimeMS });
      return { held, unreported, since: oldest?.emittedAt ?? oldest?.createdAt };
    },
    logger,
  });
  type Read = Awaited<ReturnType<typeof reading.current>> & {};
  const gauge = (name: string, help: string, value: (read: Read) => number): void =>
    registerReadGauge(metrics, { name: `gateway_iso20022_${name}`, help, reading, value });

  gauge('held_batches', 'Batches that wait for an operator', ({ held }) => held);
  gauge('unreported_batches', 'Batches that were written and not reported on', ({ unreported }) => unreported);
  gauge(
    'oldest_unreported_seconds',
    'Age of the oldest unreported batch, from its move into the outbox; 0 if there is none',
    ({ since }) => (since === undefined ? 0 : (now() - since) / SECOND_MS),
  );
}

/** Figures of what waits in the inbox, which every replica sees. */
export function createInboxGauge(metrics: Registry): (files: InboxFiles) => void {
  const gauge = new Gauge({
    name: 'gateway_iso20022_inbox_files',
    help: 'Files in the inbox: due to be read, dated ahead, and ignored because they are no reports',
    labelNames: ['kind'],
    registers: [metrics],
  });
  return ({ due, ahead, ignored }) => {
    gauge.set({ kind: 'due' }, due.length);
    gauge.set({ kind: 'ahead' }, ahead.length);
    gauge.set({ kind: 'ignored' }, ignored.length);
  };
}
