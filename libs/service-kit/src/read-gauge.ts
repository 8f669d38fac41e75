import type { Registry } from 'prom-client';
import { Gauge } from 'prom-client';
import { messageOf } from './errors';
import type { Logger } from './logger';

/** A value is read at most this often, whoever scrapes: this bounds what metrics cost a database. */
const FRESH_MS = 5_000;
/** A value that could not be read again for this time is not served as the current one. Alerts notice that the series is gone. */
const STALE_MS = 60_000;
/** A scrape does not wait longer for a slow read. It serves the last value; the next scrape gets the new one. */
const SCRAPE_WAIT_MS = 500;

/** A value that costs a query, for one or more gauges. */
export interface Reading<T> {
  /** Undefined if it could not be read for a minute. Never throws. */
  current(): Promise<T | undefined>;
}

export interface ReadingOptions<T> {
  /** For logs: what is read. */
  name: string;
  /** Must end by itself, with a time-out on the query. `undefined` would mean that nothing could be read. */
  read: () => Promise<T>;
  /** Default: 5 s. */
  freshMs?: number;
  logger: Logger;
  /** Monotonic ms, for tests. */
  nowMs?: () => number;
}

/** Keeps the last value, and reads it again when a scrape asks and it is not fresh any more. */
export function createReading<T extends NonNullable<unknown> | null>(options: ReadingOptions<T>): Reading<T> {
  const { name, read, freshMs = FRESH_MS, logger, nowMs = () => performance.now() } = options;
  let last: { value: T; atMs: number } | undefined;
  let underWay: Promise<void> | undefined;

  const ageMs = (): number => (last === undefined ? Infinity : nowMs() - last.atMs);

  async function readAgain(): Promise<void> {
    try {
      last = { value: await read(), atMs: nowMs() };
    } catch (error) {
      logger.warn('metrics could not be read; they keep their last values for a minute', {
        name,
        reason: messageOf(error),
      });
    } finally {
      underWay = undefined;
    }
  }

  return {
    async current() {
      if (ageMs() >= freshMs) await atMost(SCRAPE_WAIT_MS, (underWay ??= readAgain()));
      return ageMs() < freshMs + STALE_MS ? last?.value : undefined;
    },
  };
}

async function atMost(waitMs: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, waitMs);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}

type LabelledValue<Label extends string> = readonly [labels: Readonly<Record<Label, string>>, value: number];

export interface ReadGaugeOptions<T, Label extends string> {
  name: string;
  help: string;
  /** From small fixed sets. */
  labelNames?: readonly Label[];
  reading: Reading<T>;
  /** The series, or the value of a gauge without labels. */
  value: (read: T) => number | readonly LabelledValue<Label>[];
}

/** A gauge of a {@link Reading}. It has no series while there is no value. */
export function registerReadGauge<T, Label extends string = never>(
  metrics: Registry,
  { name, help, labelNames = [], reading, value }: ReadGaugeOptions<T, Label>,
): void {
  new Gauge<Label>({
    name,
    help,
    labelNames,
    registers: [metrics],
    async collect() {
      const read = await reading.current();
      this.reset();
      // prom-client resets a gauge without labels to 0, which would be a value.
      if (labelNames.length === 0) this.remove();
      if (read === undefined) return;
      const values = value(read);
      if (typeof values === 'number') this.set(values);
      else for (const [labels, one] of values) this.set(labels, one);
    },
  });
}
