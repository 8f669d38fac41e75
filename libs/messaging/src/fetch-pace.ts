/** Waits before a fetch that follows one with messages, for each broker. */
export interface FetchPace {
  wait(nodeId: string): Promise<void>;
  /** Call after each fetch. */
  fetched(nodeId: string, batches: number): void;
}

/**
 * Under load a broker answers a fetch with the first message that arrives, and a fetch costs both sides more than a
 * message does. So after messages the next fetch waits for `gatherMs`, and brings all that came meanwhile. A message that
 * comes alone does not wait.
 */
export function createFetchPace(gatherMs: number): FetchPace {
  const lastMs = new Map<string, number>();
  return {
    async wait(nodeId) {
      const leftMs = (lastMs.get(nodeId) ?? -Infinity) + gatherMs - performance.now();
      if (leftMs > 0) await new Promise((resolve) => setTimeout(resolve, leftMs));
    },
    fetched(nodeId, batches) {
      if (batches > 0) lastMs.set(nodeId, performance.now());
    },
  };
}
