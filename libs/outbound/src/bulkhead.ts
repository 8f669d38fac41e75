import type { Refusal } from './faults';

export interface BulkheadLimits {
  /** Concurrent calls. */
  readonly atOnce: number;
  /** Concurrent calls of one party. */
  readonly atOncePerParty: number;
  /** Calls waiting for a place. */
  readonly waiting: number;
  readonly waitingPerParty: number;
  /** Longest wait for a place. */
  readonly waitMs: number;
}

/** The right to make one call. Leaving twice has no further effect. */
export interface Place {
  leave(): void;
}

export interface PartyFigures {
  readonly party: string;
  readonly inUse: number;
  readonly waiting: number;
}

/** Bounds the concurrent calls to one counterpart, in total and per party. */
export interface Bulkhead {
  /** Resolves with a place, at once or after a wait, or with the reason why there is none. */
  enter(party: string): Promise<Place | Exclude<Refusal, 'circuit-open'>>;
  /** A free place; undefined if the party would have to wait. */
  tryEnter(party: string): Place | undefined;
  /** Number of places the party could take without waiting. */
  room(party: string): number;
  inUse(): number;
  waiting(): number;
  /** Parties with calls under way or waiting. */
  parties(): Iterable<PartyFigures>;
}

interface Waiter {
  readonly party: Party;
  readonly expiresAt: number;
  settle(result: Place | Exclude<Refusal, 'circuit-open'>): void;
}

interface Party {
  readonly name: string;
  inUse: number;
  /** In order of arrival. */
  readonly waiters: Set<Waiter>;
}

/**
 * A free place goes to the waiting party with the fewest calls under way, and among equals to the one served longest
 * ago. So a party with many waiting calls does not delay the others. When the queue is full, a new call replaces the last
 * one of the party with the most waiting calls.
 */
export function createBulkhead(limits: BulkheadLimits, now: () => number = Date.now): Bulkhead {
  /** Parties with calls under way or waiting, least recently served first. */
  const parties = new Map<string, Party>();
  let inUse = 0;
  let waiting = 0;

  function partyOf(name: string): Party {
    const known = parties.get(name);
    if (known !== undefined) return known;
    const party: Party = { name, inUse: 0, waiters: new Set() };
    parties.set(name, party);
    return party;
  }

  function forgetIfIdle(party: Party): void {
    if (party.inUse === 0 && party.waiters.size === 0) parties.delete(party.name);
  }

  function freeFor(party: Pick<Party, 'inUse'>): number {
    return Math.max(0, Math.min(limits.atOnce - inUse, limits.atOncePerParty - party.inUse));
  }

  function take(party: Party): Place {
    party.inUse += 1;
    inUse += 1;
    parties.delete(party.name);
    parties.set(party.name, party);
    let left = false;
    return {
      leave() {
        if (left) return;
        left = true;
        party.inUse -= 1;
        inUse -= 1;
        serveNext();
        forgetIfIdle(party);
      },
    };
  }

  function serveNext(): void {
    while (inUse < limits.atOnce) {
      const party = nextInTurn();
      const [waiter] = party?.waiters ?? [];
      if (party === undefined || waiter === undefined) return;
      remove(waiter);
      // The timer is late because the process was suspended. The caller's lease may have expired.
      if (now() >= waiter.expiresAt) waiter.settle('waited-too-long');
      else waiter.settle(take(party));
    }
  }

  function nextInTurn(): Party | undefined {
    let next: Party | undefined;
    for (const party of parties.values()) {
      if (party.waiters.size === 0 || party.inUse >= limits.atOncePerParty) continue;
      if (next === undefined || party.inUse < next.inUse) next = party;
    }
    return next;
  }

  function remove(waiter: Waiter): void {
    waiter.party.waiters.delete(waiter);
    waiting -= 1;
  }

  /** Drops a call of the party that fills the queue. Returns false if that is the newcomer itself. */
  function displaceFor(newcomer: Party): boolean {
    let largest = newcomer;
    for (const party of parties.values()) if (party.waiters.size > largest.waiters.size) largest = party;
    if (largest.waiters.size <= newcomer.waiters.size + 1) return false;
    const last = [...largest.waiters].at(-1);
    if (last === undefined) return false;
    remove(last);
    last.settle('bulkhead-full');
    return true;
  }

  function mayWait(party: Party): boolean {
    if (party.waiters.size >= limits.waitingPerParty) return false;
    return waiting < limits.waiting || displaceFor(party);
  }

  function wait(party: Party): ReturnType<Bulkhead['enter']> {
    return new Promise((resolve) => {
      const waiter: Waiter = {
        party,
        expiresAt: now() + limits.waitMs,
        settle(result) {
          clearTimeout(timer);
          resolve(result);
          forgetIfIdle(party);
        },
      };
      const timer = setTimeout(() => {
        remove(waiter);
        waiter.settle('waited-too-long');
      }, limits.waitMs);
      party.waiters.add(waiter);
      waiting += 1;
    });
  }

  function tryEnter(name: string): Place | undefined {
    return freeFor(parties.get(name) ?? { inUse: 0 }) > 0 ? take(partyOf(name)) : undefined;
  }

  return {
    async enter(name) {
      const place = tryEnter(name);
      if (place !== undefined) return place;
      const party = partyOf(name);
      if (mayWait(party)) return wait(party);
      forgetIfIdle(party);
      return 'bulkhead-full';
    },
    tryEnter,
    room: (name) => freeFor(parties.get(name) ?? { inUse: 0 }),
    inUse: () => inUse,
    waiting: () => waiting,
    *parties() {
      for (const { name, inUse: own, waiters } of parties.values()) {
        yield { party: name, inUse: own, waiting: waiters.size };
      }
    },
  };
}
