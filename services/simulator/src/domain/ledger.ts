/** One line of what a counterpart really did: the truth that tests compare with the gateway's record. */
export interface LedgerEntry {
  /** Epoch ms at which it took effect: for a late commit, when it committed. */
  at: number;
  /** Null for a key that was cancelled before its request arrived. */
  operation: string | null;
  idempotencyKey: string;
  reference: string;
  /** Null if the operation has no amount and none can be derived. */
  amountE4: number | null;
  currency: string | null;
  /** Null if the request had none. */
  eci: string | null;
  effect: string;
}

/** Oldest first. Entries of the same millisecond are sorted by key, so the order is stable. */
export function inOrder(entries: readonly LedgerEntry[]): LedgerEntry[] {
  return [...entries].sort((a, b) => a.at - b.at || compare(a.idempotencyKey, b.idempotencyKey));
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
