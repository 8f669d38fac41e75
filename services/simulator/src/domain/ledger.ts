/** One line of what a counterpart really did. Tests read these: they are the truth that the gateway's record must match. */
export interface LedgerEntry {
  /** Epoch ms at which it took effect: for a late commit, the commit and not the request. */
  at: number;
  /** Null for a key that was cancelled before any request with it arrived: nobody knows what it would have been. */
  operation: string | null;
  idempotencyKey: string;
  reference: string;
  /** Null where the operation carried no amount and nothing tells it. */
  amountE4: number | null;
  currency: string | null;
  /** Null where the request named none. */
  eci: string | null;
  effect: string;
}

/** Oldest first; entries of the same millisecond in the order of their keys, so that two readings agree. */
export function inOrder(entries: readonly LedgerEntry[]): LedgerEntry[] {
  return [...entries].sort((a, b) => a.at - b.at || compare(a.idempotencyKey, b.idempotencyKey));
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
