import { registerOverdue } from '@gateway/mongo';
import type { Logger, Registry } from '@gateway/service-kit';
import { Counter, createReading, fromZero, registerReadGauge } from '@gateway/service-kit';
import type { Ports } from '../application/ports';
import type { DeadlinesAdapter } from './mongo/deadlines';

/** Counting open deadlines reads an index entry for each. */
const COUNT_OPEN_EVERY_MS = 60_000;
const SECOND_MS = 1_000;

export function createAskCounter(metrics: Registry): Ports['asked'] {
  const asks = new Counter({
    name: 'expiry_asks_total',
    help: 'ExpireAuthorization commands by outcome: published, failed',
    labelNames: ['outcome'] as const,
    registers: [metrics],
  });
  fromZero(asks, { outcome: ['published', 'failed'] });
  return (published, failed) => {
    asks.inc({ outcome: 'published' }, published);
    asks.inc({ outcome: 'failed' }, failed);
  };
}

/** Gauges of all replicas, read from the database. */
export function registerGauges(options: {
  metrics: Registry;
  deadlines: DeadlinesAdapter;
  now: () => number;
  logger: Logger;
}): void {
  const { metrics, deadlines, now, logger } = options;
  const gauge = (name: string, help: string, read: () => Promise<number>, freshMs?: number): void =>
    registerReadGauge(metrics, {
      name,
      help,
      reading: createReading({ name, read, logger, ...(freshMs !== undefined && { freshMs }) }),
      value: (count) => count,
    });
  gauge('expiry_due', 'Deadlines that are due; 10000 means 10000 or more', () => deadlines.countDue(now()));
  const secondsSince = (at: number | undefined): number => (at === undefined ? 0 : (now() - at) / SECOND_MS);
  gauge('expiry_lag_seconds', 'How long the most overdue deadline has been waiting', async () =>
    secondsSince(await deadlines.dueSince(now())),
  );
  gauge(
    'expiry_oldest_hold_seconds',
    'Time since the earliest end among holds that were asked to end and have not, without those in XTS; 0 if there is none',
    async () => secondsSince(await deadlines.earliestMissedEnd(now())),
  );
  gauge(
    'expiry_open',
    'Authorizations with a deadline, counted once a minute',
    deadlines.countOpen,
    COUNT_OPEN_EVERY_MS,
  );
  registerOverdue(options, { authorization: (before) => deadlines.countDue(before) });
}
