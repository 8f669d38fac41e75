import type { FairSlots } from '@gateway/service-kit';
import { isRetryable } from '@gateway/service-kit';

/** How long the owner is not asked after it failed to answer. Then one question checks whether it is back. */
const PAUSE_MS = 2_000;

/** Keeps an owner that does not answer from holding those who ask it. */
export interface OwnerGate {
  /** Asks, or says `later`: the owner does not answer, or too many ask it. Rejects with the error of the question. */
  ask<T>(account: string, question: () => Promise<T>): Promise<T | 'later'>;
  /** Whether every question is refused now. */
  isClosed(): boolean;
}

/** @param options.slots for questions while the owner answers */
export function createOwnerGate({ slots, now }: { slots: Pick<FairSlots, 'take'>; now: () => number }): OwnerGate {
  /** Epoch ms. Undefined while the owner answers, infinite while it is asked whether it is back. */
  let nextAt: number | undefined;

  async function watched<T>(question: () => Promise<T>): Promise<T> {
    try {
      const answer = await question();
      nextAt = undefined;
      return answer;
    } catch (error) {
      nextAt = isRetryable(error) ? now() + PAUSE_MS : undefined;
      throw error;
    }
  }

  const isClosed = (): boolean => nextAt !== undefined && now() < nextAt;

  return {
    isClosed,
    async ask(account, question) {
      if (isClosed()) return 'later';
      if (nextAt !== undefined) {
        nextAt = Infinity;
        return watched(question);
      }
      const slot = await slots.take(account, Infinity);
      if (typeof slot === 'string') return 'later';
      try {
        return nextAt === undefined ? await watched(question) : 'later';
      } finally {
        slot.release();
      }
    },
  };
}
