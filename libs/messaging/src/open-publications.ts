import { isRetryable } from '@gateway/service-kit';
import type { PublisherMetrics } from './metrics';
import type { Share, Unit } from './partition-queue';
import { TimeoutError } from './within';

export interface OpenPublicationLimits {
  /** Unacknowledged messages. Beyond these limits `publish` rejects. */
  readonly maxQueuedMessages: number;
  readonly maxQueuedBytes: number;
  /** From `publish` to the rejection, whether the message was sent or not. */
  readonly publishTimeoutMs: number;
}

/** Publications that are not acknowledged yet: their bounds, their time-outs, and whether the brokers have stalled. */
export interface OpenPublications {
  /** @returns undefined if the queue is full. `done` settles with the unit. */
  open(messages: number, bytes: number): { unit: Unit; done: Promise<void> } | undefined;
  acknowledge(share: Share): void;
  /** Resolves the unit, or rejects it with the error. */
  settle(unit: Unit, error?: Error): void;
  /** Call periodically: rejects units that are too old. */
  expire(): void;
  /** The queue is nearly full, or the brokers acknowledge nothing. */
  saturated(): boolean;
  /** Resolves when nothing is open. */
  drained(): Promise<void>;
  rejectAll(error: Error): void;
}

const SATURATED_FRACTION = 0.8;
/** The brokers have stalled if messages wait and none was acknowledged for this time. */
const STALL_MS = 1_000;
/** Callers retry rejected messages within this time. Until then an empty queue does not end the stall. */
const STALL_MEMORY_MS = 2_000;

export function createOpenPublications(limits: OpenPublicationLimits, metrics: PublisherMetrics): OpenPublications {
  /** In order of arrival, and so of expiry. */
  const units = new Set<Unit>();
  let messages = 0;
  let bytes = 0;
  const stall = createStallMemory();
  let onDrained: (() => void) | undefined;

  function settle(unit: Unit, error?: Error): void {
    if (unit.settled) return;
    unit.settled = true;
    units.delete(unit);
    messages -= unit.messages;
    bytes -= unit.bytes;
    if (error === undefined) unit.resolve();
    else {
      metrics.refused.inc({ reason: isRetryable(error) ? 'unacknowledged' : 'refused' });
      unit.reject(error);
    }
    if (units.size === 0) onDrained?.();
  }

  return {
    open(newMessages, newBytes) {
      if (messages + newMessages > limits.maxQueuedMessages || bytes + newBytes > limits.maxQueuedBytes)
        return undefined;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const expiresAtMs = performance.now() + limits.publishTimeoutMs;
      const size = { messages: newMessages, bytes: newBytes };
      const unit: Unit = { ...size, expiresAtMs, missing: 0, settled: false, resolve, reject };
      units.add(unit);
      messages += newMessages;
      bytes += newBytes;
      return { unit, done: promise };
    },
    acknowledge({ unit, messages: acknowledged }) {
      stall.acknowledged();
      metrics.published.inc(acknowledged.length);
      unit.missing -= 1;
      if (unit.missing === 0) settle(unit);
    },
    settle,
    expire() {
      const nowMs = performance.now();
      for (const unit of units) {
        stall.waited(limits.publishTimeoutMs - (unit.expiresAtMs - nowMs));
        if (unit.expiresAtMs > nowMs) break;
        const reason = unit.trouble ?? 'its partition has no leader';
        settle(unit, new TimeoutError(`not acknowledged within ${limits.publishTimeoutMs} ms: ${reason}`));
      }
      metrics.queued.set(messages);
    },
    saturated: () =>
      messages >= limits.maxQueuedMessages * SATURATED_FRACTION ||
      bytes >= limits.maxQueuedBytes * SATURATED_FRACTION ||
      stall.isStalled(),
    async drained() {
      if (units.size > 0) await new Promise<void>((resolve) => (onDrained = resolve));
    },
    rejectAll(error) {
      for (const unit of units) settle(unit, error);
    },
  };
}

/** Remembers whether messages timed out without an acknowledgement. */
function createStallMemory() {
  let acknowledgedAtMs = -Infinity;
  let stalledAtMs = -Infinity;
  return {
    acknowledged: () => void (acknowledgedAtMs = performance.now()),
    waited(ms: number): void {
      if (ms >= STALL_MS) stalledAtMs = performance.now();
    },
    isStalled(): boolean {
      const nowMs = performance.now();
      return nowMs - stalledAtMs < STALL_MEMORY_MS && nowMs - acknowledgedAtMs > STALL_MS;
    },
  };
}
