import type { LedgerEntry } from '../domain/ledger';
import { inOrder } from '../domain/ledger';

/** One counterpart's part of the ledger. */
export interface LedgerSource {
  entriesOfReference(reference: string): Promise<LedgerEntry[]>;
  entriesOfPayment(paymentId: string): Promise<LedgerEntry[]>;
}

export type LedgerQuery = { reference: string } | { paymentId: string };

/** What all counterparts did for one operation or one payment, oldest first. */
export async function readLedger(sources: readonly LedgerSource[], query: LedgerQuery): Promise<LedgerEntry[]> {
  const read = (source: LedgerSource): Promise<LedgerEntry[]> =>
    'reference' in query ? source.entriesOfReference(query.reference) : source.entriesOfPayment(query.paymentId);
  return inOrder((await Promise.all(sources.map(read))).flat());
}
