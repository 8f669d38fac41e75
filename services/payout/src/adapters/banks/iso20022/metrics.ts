import { FIGURE_BOUNDS } from '@gateway/mongo';
import type { Logger, Registry } from '@gateway/service-kit';
import { createReading, Gauge, registerReadGauge } from '@gateway/service-kit';
import { businessDaysBefore } from '../../../domain/iso20022/business-days';
import type { InboxFiles } from './inbox-files';
import type { Records } from './records';
import { UNDECIDED, UNREPORTED } from './records';

const SECOND_MS = 1_000;
/** Gauges of all replicas together, read from the database. */
export function registerGauges(
  options: { metrics: Registry; now: () => number; logger: Logger; outcomeDays: number },
  batches: Records['batches'],
): void {
  const { metrics, now, logger, outcomeDays } = options;
  const reading = createReading({
    name: 'batches',
    async read() {
      const { maxTimeMS } = FIGURE_BOUNDS;
      const held = await batches.countDocuments({ state: 'held' }, FIGURE_BOUNDS);
      const unreported = await batches.countDocuments(UNREPORTED, FIGURE_BOUNDS);
      const oldest = await batches.findOne(UNREPORTED, { sort: { emittedAt: 1 }, maxTimeMS });
      const undecided = await batches.findOne(UNDECIDED, { sort: { createdAt: 1 }, maxTimeMS });
      const late = { ...UNDECIDED, createdAt: { $lt: businessDaysBefore(now(), outcomeDays) } };
      const overdue = await batches.countDocuments(late, FIGURE_BOUNDS);
      const since = oldest?.emittedAt ?? oldest?.createdAt;
      return { held, unreported, since, undecidedSince: undecided?.createdAt, overdue };
    },
    logger,
  });
  type Read = Awaited<ReturnType<typeof reading.current>> & {};
  const age = (since?: number): number => (since === undefined ? 0 : (now() - since) / SECOND_MS);
  const gauge = (name: string, help: string, value: (read: Read) => number): void =>
    registerReadGauge(metrics, { name: `gateway_iso20022_${name}`, help, reading, value });

  gauge('held_batches', 'Batches that wait for an operator', ({ held }) => held);
  gauge('unreported_batches', 'Batches that were written and not reported on', ({ unreported }) => unreported);
  gauge(
    'oldest_unreported_seconds',
    'Age of the oldest unreported batch, from its move into the outbox; 0 if there is none',
    ({ since }) => age(since),
  );
  gauge(
    'overdue_batches',
    'Batches with payouts of which the bank has not reported the outcome within ISO20022_OUTCOME_DAYS after the cut-off, although it has reported on the batch',
    ({ overdue }) => overdue,
  );
  gauge(
    'oldest_undecided_seconds',
    'Age of the oldest batch that the bank has reported on without the outcome of each payout, from its cut-off; 0 if there is none',
    ({ undecidedSince }) => age(undecidedSince),
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
