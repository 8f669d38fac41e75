/**
 * Claims due items one after another and works on a bounded number at once: when one is done, the next is claimed. Ends
 * when nothing is due, or soon after `stopping` returns true. A failing item does not affect others. Returns the number
 * of items claimed.
 */
export async function workOff<T>(options: {
  /** Null if nothing is due. If it throws, the run ends after the claimed items are done. */
  claim: () => Promise<T | null>;
  work: (claimed: T) => Promise<void>;
  onFailure: (claimed: T, error: unknown) => void;
  parallel: number;
  stopping: () => boolean;
}): Promise<number> {
  const { claim, work, onFailure, parallel, stopping } = options;
  const running = new Set<Promise<void>>();
  let begun = 0;

  function begin(claimed: T): void {
    begun += 1;
    const one: Promise<void> = work(claimed)
      .catch((error: unknown) => onFailure(claimed, error))
      .finally(() => running.delete(one));
    running.add(one);
  }

  try {
    for (;;) {
      if (running.size >= parallel) await Promise.race(running);
      const claimed = stopping() ? null : await claim();
      if (claimed === null) break;
      begin(claimed);
    }
  } finally {
    await Promise.all(running);
  }
  return begun;
}
