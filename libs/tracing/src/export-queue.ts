import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { Logger } from '@gateway/service-kit';
import { isRetryable, messageOf } from '@gateway/service-kit';
import type { Collector } from './collector';
import type { SpanCounts } from './metrics';

export interface QueueLimits {
  /** Spans that wait for their export, without those under way. */
  maxWaiting: number;
  /** Spans in one export. To encode them blocks the process for a millisecond or so. */
  maxBatch: number;
  /** How long spans gather before they are exported, and the pause after a failure. */
  gatherMs: number;
  /** Exports of one batch while the collector is away. Then it is dropped. */
  attempts: number;
}

export const QUEUE_LIMITS: QueueLimits = { maxWaiting: 2_048, maxBatch: 128, gatherMs: 500, attempts: 3 };

/** Spans on their way to the collector. */
export interface ExportQueue {
  /** Never waits. A span that finds the queue full is dropped and counted. */
  add(span: ReadableSpan): void;
  /** Exports what waits, for at most `timeoutMs`, and drops the rest. */
  stop(timeoutMs: number): Promise<void>;
}

/** One export at a time. While the collector is slow or away, spans wait up to a limit; nobody waits for it. */
export function createExportQueue(options: {
  collector: Collector;
  limits?: Partial<QueueLimits>;
  counts: SpanCounts;
  logger: Logger;
}): ExportQueue {
  const { collector, counts, logger } = options;
  const { maxWaiting, maxBatch, gatherMs, attempts } = { ...QUEUE_LIMITS, ...options.limits };
  let waiting: ReadableSpan[] = [];
  let timer: NodeJS.Timeout | undefined;
  let exporting: Promise<void> | undefined;
  let stopped = false;
  let failing = false;
  /** Nobody waits for an export any more. */
  let over = false;

  function schedule(): void {
    if (exporting !== undefined || waiting.length === 0) return;
    if (waiting.length >= maxBatch) exportNow();
    else timer ??= setTimeout(exportNow, gatherMs).unref();
  }

  function exportNow(): void {
    clearTimeout(timer);
    timer = undefined;
    const batch = waiting.slice(0, maxBatch);
    waiting = waiting.slice(batch.length);
    exporting = exportBatch(batch).finally(() => {
      exporting = undefined;
      schedule();
    });
  }

  async function exportBatch(batch: ReadableSpan[]): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const rejected = await collector.take(batch);
        counts.exported(batch.length - rejected);
        counts.dropped(rejected, 'not-exported');
        return report(undefined);
      } catch (error) {
        report(error);
        if (attempt < attempts && isRetryable(error) && !over) await pause(gatherMs);
        else return counts.dropped(batch.length, 'not-exported');
      }
    }
  }

  /** One line when it begins to fail, and one when it works again. */
  function report(error: unknown): void {
    const fails = error !== undefined;
    if (fails && !failing) logger.warn('traces are not exported', { reason: messageOf(error) });
    if (!fails && failing) logger.info('traces are exported again');
    failing = fails;
  }

  async function exportAll(): Promise<void> {
    while (exporting !== undefined || waiting.length > 0) {
      if (exporting === undefined) exportNow();
      await exporting;
    }
  }

  return {
    add(span) {
      if (stopped) return counts.dropped(1, 'stopped');
      if (waiting.length >= maxWaiting) return counts.dropped(1, 'queue-full');
      waiting.push(span);
      schedule();
    },
    async stop(timeoutMs) {
      stopped = true;
      let late: NodeJS.Timeout | undefined;
      const timeout = new Promise<void>((resolve) => (late = setTimeout(resolve, timeoutMs)));
      await Promise.race([exportAll(), timeout]);
      clearTimeout(late);
      over = true;
      counts.dropped(waiting.length, 'stopped');
      waiting = [];
      collector.close();
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
