import type { Logger, Registry } from '@gateway/service-kit';
import { createReading, registerReadGauge } from '@gateway/service-kit';

/** Of a count for metrics. Beyond `limit` it means "so many or more". */
export const FIGURE_BOUNDS = { limit: 10_000, maxTimeMS: 2_000 } as const;

/** What is due is usually taken within a second. */
const OVERDUE_MS = 60_000;
const SECOND_MS = 1_000;

interface FigureOptions {
  metrics: Registry;
  /** Epoch ms. */
  now: () => number;
  logger: Logger;
}

/** Shows how much was due a minute ago and no replica has taken. @param counts by kind; what was due at that epoch ms */
export function registerOverdue(
  { metrics, now, logger }: FigureOptions,
  counts: Readonly<Record<string, (before: number) => Promise<number>>>,
): void {
  const reading = createReading({
    name: 'overdue deadlines',
    async read() {
      const before = now() - OVERDUE_MS;
      return Promise.all(Object.entries(counts).map(async ([kind, count]) => [{ kind }, await count(before)] as const));
    },
    logger,
  });
  registerReadGauge(metrics, {
    name: 'gateway_deadlines_overdue',
    help: 'What has been due for more than 60 s and no replica has taken, by kind; 10000 means 10000 or more',
    labelNames: ['kind'],
    reading,
    value: (read) => read,
  });
}

/** Operations whose counterpart may or may not have acted. */
export interface UnknownOutcomes {
  /** At most 10,000. */
  open: number;
  /** Acceptance of the oldest that is not in XTS, where merchants make outcomes unknown at will; in epoch ms. */
  oldestAt?: number | undefined;
}

export function registerUnknownOutcomes(
  { metrics, now, logger }: FigureOptions,
  read: () => Promise<UnknownOutcomes>,
): void {
  const reading = createReading({ name: 'unknown outcomes', read, logger });
  registerReadGauge(metrics, {
    name: 'gateway_unknown_outcomes_open',
    help: 'Operations whose outcome the acquirer or bank has not told; 10000 means 10000 or more',
    reading,
    value: ({ open }) => open,
  });
  registerReadGauge(metrics, {
    name: 'gateway_unknown_outcome_oldest_seconds',
    help: 'Time since the oldest of them that is not in XTS was accepted; 0 if there is none',
    reading,
    value: ({ oldestAt }) => (oldestAt === undefined ? 0 : Math.max(0, now() - oldestAt) / SECOND_MS),
  });
}
