import type { OperationOutcome } from '@gateway/contracts';
import { isAnswered } from '@gateway/contracts';
import type { Logger } from '@gateway/service-kit';

/** Requests that wait for the outcome from the owner of their payment. */
export interface PendingOutcomes {
  /** The operation's outcome as soon as it is known; undefined at `deadline` (epoch ms) or at the time-out. */
  wait(merchantAccount: string, reference: string, deadline?: number): Promise<OperationOutcome | undefined>;
  /** A reply from the bus: a short cut. */
  deliver(outcome: OperationOutcome): void;
  /** Replies may have gone to a partition that is no longer ours: asks for all waiting requests. */
  askForAll(): void;
  readonly size: number;
}

interface Waiting {
  merchantAccount: string;
  reference: string;
  settle(outcome: OperationOutcome | undefined): void;
  /** Timer of the next query; undefined while one runs. */
  timer: NodeJS.Timeout | undefined;
  nextDelayMs: number;
  deadline: number;
}

const FIRST_QUESTION_AFTER_MS = 1_000;
/** Without a reply partition no reply can arrive: asking is the only way. */
const FIRST_QUESTION_WITHOUT_REPLIES_MS = 25;
const LONGEST_DELAY_MS = 4_000;

/**
 * A reply is a short cut, the store is the truth: without a reply after a second it asks the owner, backing off, until
 * `timeoutMs` have passed.
 */
export function createPendingOutcomes(options: {
  ask: (merchantAccount: string, reference: string) => Promise<OperationOutcome | undefined>;
  repliesExpected: () => boolean;
  timeoutMs: number;
  now: () => number;
  logger: Logger;
}): PendingOutcomes {
  const byReference = new Map<string, Set<Waiting>>();

  function schedule(waiting: Waiting): void {
    const remainingMs = Math.max(0, waiting.deadline - options.now());
    waiting.timer = setTimeout(() => void question(waiting), Math.min(waiting.nextDelayMs, remainingMs));
    waiting.nextDelayMs = Math.min(waiting.nextDelayMs * 2, LONGEST_DELAY_MS);
  }

  async function question(waiting: Waiting): Promise<void> {
    clearTimeout(waiting.timer);
    waiting.timer = undefined;
    try {
      const outcome = await options.ask(waiting.merchantAccount, waiting.reference);
      if (outcome !== undefined && isAnswered(outcome)) return waiting.settle(outcome);
    } catch (error) {
      options.logger.warn('the owner of a payment does not answer', { reference: waiting.reference, error });
    }
    if (options.now() >= waiting.deadline) return waiting.settle(undefined);
    if (byReference.get(waiting.reference)?.has(waiting) === true) schedule(waiting);
  }

  return {
    wait(merchantAccount, reference, deadline = options.now() + options.timeoutMs) {
      return new Promise((resolve) => {
        const group = byReference.get(reference) ?? new Set();
        const waiting: Waiting = {
          merchantAccount,
          reference,
          timer: undefined,
          nextDelayMs: options.repliesExpected() ? FIRST_QUESTION_AFTER_MS : FIRST_QUESTION_WITHOUT_REPLIES_MS,
          deadline,
          settle(outcome) {
            // A reply and a query may both get here; the second one must not touch the group of a later waiter.
            if (!group.delete(waiting)) return;
            clearTimeout(waiting.timer);
            if (group.size === 0) byReference.delete(reference);
            resolve(outcome);
          },
        };
        group.add(waiting);
        byReference.set(reference, group);
        schedule(waiting);
      });
    },
    deliver(outcome) {
      if (!isAnswered(outcome)) return;
      for (const waiting of [...(byReference.get(outcome.reference) ?? [])]) waiting.settle(outcome);
    },
    askForAll() {
      for (const group of byReference.values()) {
        for (const waiting of group) if (waiting.timer !== undefined) void question(waiting);
      }
    },
    get size() {
      return byReference.size;
    },
  };
}
