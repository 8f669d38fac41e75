export interface FairSlotsOptions {
  /** Number of slots. */
  max: number;
  /** Slots that a key may hold. Its other takers wait, even beside free slots. Default: no limit. */
  maxPerKey?: number;
  /** Number of waiting takers, for all keys together. */
  maxWaiting: number;
  /** Longest wait for a slot. */
  waitTimeoutMs: number;
}

/** Calling `release` twice has no further effect. */
export interface Slot {
  release(): void;
}

/** `share`: the key has used its share, or holds `maxPerKey` slots. `full`: no slot became free in time. */
export type SlotRefusal = 'share' | 'full';

export interface FairSlots {
  /**
   * Takes a slot for a key, such as an account or a client's address.
   *
   * @param share how many of the key's takers may hold a slot or wait for one
   */
  take(key: string, share: number): Promise<Slot | SlotRefusal>;
  /** Slots held per key, without keys that hold none. */
  held(): Iterable<[key: string, count: number]>;
}

interface Waiter {
  admit(): void;
  refuse(): void;
}

interface Key {
  readonly name: string;
  held: number;
  /** In order of arrival. */
  readonly waiting: Set<Waiter>;
}

/**
 * Shares slots fairly between keys. When all slots are taken, the next free one goes to the waiting key that holds the
 * fewest, round-robin among equals. When the queue is full, the key with the most takers, holding or waiting, loses the
 * last waiting one.
 */
export function createFairSlots(options: FairSlotsOptions): FairSlots {
  const keys = new Map<string, Key>();
  /** Keys with waiting takers, the next in turn first. */
  const turns = new Set<Key>();
  const { maxPerKey = Infinity } = options;
  let held = 0;
  let waiting = 0;

  function hold(key: Key): Slot {
    key.held += 1;
    held += 1;
    let released = false;
    return {
      release() {
        if (released) return;
        released = true;
        key.held -= 1;
        held -= 1;
        forgetIdle(key);
        admitNext();
      },
    };
  }

  function mayHold(key: Key): boolean {
    return held < options.max && key.held < maxPerKey;
  }

  function admitNext(): void {
    const key = smallest([...turns].filter(mayHold), (one) => one.held);
    const [next] = key?.waiting ?? [];
    if (key === undefined || next === undefined) return;
    next.admit();
    // Moves the key to the end of the turn order.
    if (turns.delete(key) && key.waiting.size > 0) turns.add(key);
  }

  function wait(key: Key): Promise<Slot | SlotRefusal> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => waiter.refuse(), options.waitTimeoutMs).unref();
      function leave(): void {
        clearTimeout(timer);
        waiting -= 1;
        key.waiting.delete(waiter);
        if (key.waiting.size === 0) turns.delete(key);
      }
      const waiter: Waiter = {
        admit() {
          leave();
          resolve(hold(key));
        },
        refuse() {
          leave();
          forgetIdle(key);
          resolve(key.held >= maxPerKey ? 'share' : 'full');
        },
      };
      waiting += 1;
      key.waiting.add(waiter);
      turns.add(key);
    });
  }

  /** Drops the last waiting taker of the key with the most. Returns false if the newcomer would have as many. */
  function makeRoom(newcomer: Key): boolean {
    if (waiting < options.maxWaiting) return true;
    const loudest = smallest(turns, (one) => -takersOf(one));
    if (loudest === undefined || takersOf(loudest) <= takersOf(newcomer) + 1) return false;
    [...loudest.waiting].at(-1)?.refuse();
    return true;
  }

  function forgetIdle(key: Key): void {
    if (takersOf(key) === 0) keys.delete(key.name);
  }

  return {
    async take(name, share) {
      const key = keys.get(name) ?? { name, held: 0, waiting: new Set<Waiter>() };
      if (takersOf(key) >= share) return 'share';
      const isFree = mayHold(key);
      if (!isFree && !makeRoom(key)) return 'full';
      keys.set(name, key);
      return isFree ? hold(key) : wait(key);
    },

    *held() {
      for (const key of keys.values()) if (key.held > 0) yield [key.name, key.held];
    },
  };
}

function takersOf(key: Key): number {
  return key.held + key.waiting.size;
}

/** The first item with the smallest value. */
function smallest<T>(items: Iterable<T>, valueOf: (item: T) => number): T | undefined {
  let found: T | undefined;
  for (const item of items) if (found === undefined || valueOf(item) < valueOf(found)) found = item;
  return found;
}
