import type { Message } from 'kafkajs';

/** The messages of one publish call. Resolved when every partition has acknowledged its share; shares are never split. */
export interface Unit {
  readonly messages: number;
  readonly bytes: number;
  /** By the monotonic clock, as all times in this process: somebody may set the machine's. */
  readonly expiresAtMs: number;
  /** Number of unacknowledged shares. */
  missing: number;
  settled: boolean;
  /** Reason of the last failed attempt. */
  trouble?: string;
  resolve(): void;
  reject(error: Error): void;
}

/** The messages of one unit that go to one partition. */
export interface Share {
  readonly unit: Unit;
  readonly messages: readonly Message[];
  readonly bytes: number;
  /** Acknowledged or rejected by the broker. */
  done: boolean;
}

/** What still fits into a request. */
export interface Room {
  messages: number;
  bytes: number;
}

/**
 * The shares that wait for one partition, in order. A share leaves when it is done or its unit is settled. Every attempt
 * begins with the oldest share, so nothing overtakes a failed attempt.
 */
export interface PartitionQueue {
  readonly topic: string;
  readonly partition: number;
  push(share: Share): void;
  waiting(): boolean;
  messages(): number;
  /**
   * The shares of the next attempt: as many from the front as fit, and at least one if `force`. Reduces `room` by what
   * they use. Empty when nothing waits or fits.
   */
  take(room: Room, force: boolean): readonly Share[];
  remove(shares: readonly Share[]): void;
  /** The broker rejected the batch. The next attempts are half as large, until one succeeds. */
  halve(): void;
}

export function createPartitionQueue(topic: string, partition: number): PartitionQueue {
  let shares: Share[] = [];
  let messages = 0;
  let maxShares = Infinity;
  let taken = 0;

  function forgetSettled(): void {
    if (!shares.some(isOver)) return;
    shares = shares.filter((share) => !isOver(share));
    messages = shares.reduce((sum, share) => sum + share.messages.length, 0);
  }

  return {
    topic,
    partition,
    push(share) {
      shares.push(share);
      messages += share.messages.length;
    },
    waiting() {
      forgetSettled();
      return shares.length > 0;
    },
    messages: () => messages,
    take(room, force) {
      forgetSettled();
      taken = 0;
      for (const share of shares) {
        if (taken >= maxShares) break;
        const fits = share.messages.length <= room.messages && share.bytes <= room.bytes;
        if (!fits && !(force && taken === 0)) break;
        room.messages -= share.messages.length;
        room.bytes -= share.bytes;
        taken += 1;
      }
      return shares.slice(0, taken);
    },
    remove(removed) {
      for (const share of removed) share.done = true;
      maxShares = Infinity;
      forgetSettled();
    },
    halve() {
      maxShares = Math.max(1, taken >> 1);
    },
  };
}

function isOver({ done, unit }: Share): boolean {
  return done || unit.settled;
}
