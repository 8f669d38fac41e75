import type { Logger, Registry } from '@gateway/service-kit';
import { Counter, createReading, fromZero, Gauge, Histogram, registerReadGauge } from '@gateway/service-kit';
import type { Dispatcher } from '../application/dispatcher';
import type { Figures } from '../application/ports';
import { CALLBACK_KINDS } from '../domain/callback';
import { sumOf } from '../domain/fair-share';
import type { DeliveriesAdapter, Undelivered } from './mongo/deliveries';
import type { IncompletesAdapter } from './mongo/incompletes';

/** The overdue gauge counts deliveries that are late by more than this and were not tried since. */
const OVERDUE_MS = 60_000;
const SECOND_MS = 1_000;

export function createFigures(metrics: Registry): Figures {
  const attempts = new Counter({
    name: 'callback_attempts_total',
    help: 'Attempts by outcome: acknowledged, not_acknowledged, timed_out, failed',
    labelNames: ['kind', 'outcome'] as const,
    registers: [metrics],
  });
  const ends = new Counter({
    name: 'callback_deliveries_total',
    help: 'Deliveries by end: delivered, exhausted, recovered',
    labelNames: ['kind', 'end'] as const,
    registers: [metrics],
  });
  const duration = new Histogram({
    name: 'callback_attempt_seconds',
    help: 'Duration of one attempt, until the answer is read or abandoned',
    labelNames: ['kind'] as const,
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    registers: [metrics],
  });
  fromZero(attempts, { kind: CALLBACK_KINDS, outcome: ['acknowledged', 'not_acknowledged', 'timed_out', 'failed'] });
  fromZero(ends, { kind: CALLBACK_KINDS, end: ['delivered', 'exhausted', 'recovered'] });
  return {
    attempted(kind, outcome, durationMs) {
      attempts.inc({ kind, outcome });
      duration.observe({ kind }, durationMs / 1000);
    },
    ended: (kind, end) => ends.inc({ kind, end }),
  };
}

/** Gauges of this replica's dispatcher, and of the database of all replicas. */
export function registerGauges(options: {
  metrics: Registry;
  dispatcher: Dispatcher;
  deliveries: Pick<DeliveriesAdapter, 'countOverdue' | 'undelivered'>;
  incompletes: Pick<IncompletesAdapter, 'waiting'>;
  now: () => number;
  logger: Logger;
}): void {
  const { metrics, dispatcher } = options;
  const registers = [metrics];
  const figure = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  };
  figure('callback_in_flight', 'Attempts under way in this replica', () => sumOf(dispatcher.figures().running));
  figure(
    'callback_in_flight_unproven',
    'Of these, attempts at addresses that are new, or were slow or silent last time',
    () => dispatcher.figures().running.unproven,
  );
  new Gauge({
    name: 'callback_in_flight_by_account',
    help: 'Attempts under way in this replica, for the 10 accounts with the most',
    labelNames: ['account'] as const,
    registers,
    collect() {
      this.reset();
      for (const { merchantAccount, running } of dispatcher.figures().busiest) {
        this.set({ account: merchantAccount }, running);
      }
    },
  });
  figure('callback_waiting', 'Deliveries that wait in this replica', () => dispatcher.figures().waiting);
  figure('callback_open_circuits', 'Addresses whose circuit is open', () => dispatcher.figures().openCircuits);
  registerStored(options);
}

function registerStored(options: Omit<Parameters<typeof registerGauges>[0], 'dispatcher'>): void {
  const { metrics, deliveries, incompletes, now, logger } = options;
  registerReadGauge(metrics, {
    name: 'callback_overdue',
    help: 'Callbacks of all replicas that are overdue by 60 s; 10000 means 10000 or more',
    reading: createReading({
      name: 'overdue callbacks',
      async read() {
        const before = now() - OVERDUE_MS;
        return (await deliveries.countOverdue(before)) + (await incompletes.waiting(before)).count;
      },
      logger,
    }),
    value: (count) => count,
  });
  const reading = createReading({
    name: 'undelivered callbacks',
    read: () => undelivered(deliveries, incompletes, now()),
    logger,
  });
  registerReadGauge(metrics, {
    name: 'callback_deliveries_open',
    help: 'Callbacks of all replicas that are not delivered, by state: pending, exhausted; 10000 means 10000 or more',
    labelNames: ['state'],
    reading,
    value: ({ pending, exhausted }) => [
      [{ state: 'pending' }, pending],
      [{ state: 'exhausted' }, exhausted],
    ],
  });
  registerReadGauge(metrics, {
    name: 'callback_oldest_undelivered_seconds',
    help: 'Age of the oldest pending callback, from its acceptance or its resend; 0 if there is none',
    reading,
    value: ({ oldestAt }) => (oldestAt === undefined ? 0 : Math.max(0, now() - oldestAt) / SECOND_MS),
  });
}

/** A callback that waits for its custom values is pending, too. */
async function undelivered(
  deliveries: Pick<DeliveriesAdapter, 'undelivered'>,
  incompletes: Pick<IncompletesAdapter, 'waiting'>,
  now: number,
): Promise<Undelivered> {
  const stored = await deliveries.undelivered();
  const { count, oldestAt } = await incompletes.waiting(now);
  const since = [stored.oldestAt, oldestAt].filter((at) => at !== undefined);
  return { ...stored, pending: stored.pending + count, ...(since.length > 0 && { oldestAt: Math.min(...since) }) };
}
