import type { Logger, Registry } from '@gateway/service-kit';
import { Counter, Gauge } from '@gateway/service-kit';
import type { Ports } from '../application/ports';
import type { DeadlinesAdapter } from './mongo/deadlines';

/** Counting open deadlines reads an index entry for each, so not on every scrape. */
const COUNT_OPEN_EVERY_MS = 60_000;

export function createAskCounter(metrics: Registry): Ports['asked'] {
  const asks = new Counter({
    name: 'expiry_asks_total',
    help: 'ExpireAuthorization commands by outcome: published, failed',
    labelNames: ['outcome'] as const,
    registers: [metrics],
  });
  return (published, failed) => {
    asks.inc({ outcome: 'published' }, published);
    asks.inc({ outcome: 'failed' }, failed);
  };
}

/** Gauges of all replicas, read from the database on each scrape. */
export function registerGauges(options: {
  metrics: Registry;
  deadlines: DeadlinesAdapter;
  now: () => number;
  logger: Logger;
}): void {
  const { metrics, deadlines, now, logger } = options;
  const gauge = (name: string, help: string, read: () => Promise<number>): void => {
    new Gauge({
      name,
      help,
      registers: [metrics],
      async collect() {
        try {
          this.set(await read());
        } catch (error) {
          logger.warn('a metric could not be read; it keeps its last value', { name, error });
        }
      },
    });
  };
  gauge('expiry_due', 'Deadlines that are due; 10000 means 10000 or more', () => deadlines.countDue(now()));
  gauge('expiry_lag_seconds', 'How long the most overdue deadline has been waiting', async () => {
    const since = await deadlines.dueSince(now());
    return since === undefined ? 0 : (now() - since) / 1000;
  });
  gauge(
    'expiry_open',
    'Authorizations with a deadline, counted once a minute',
    atMostEvery(COUNT_OPEN_EVERY_MS, now, deadlines.countOpen),
  );
}

function atMostEvery(ms: number, now: () => number, read: () => Promise<number>): () => Promise<number> {
  let last: { at: number; value: number } | undefined;
  return async () => {
    if (last === undefined || now() - last.at >= ms) last = { at: now(), value: await read() };
    return last.value;
  };
}
