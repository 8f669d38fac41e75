import type { AcquirerRecord, CancelledRecord } from './record';
import type { ApprovedResult, DeclinedResult } from './results';
import { approvedResult, declinedResult } from './results';

export type CancellationAnswer =
  /** Nothing happened under this key, and nothing ever will. */
  { status: 'cancelled' } | ({ status: 'already_processed' } & (ApprovedResult | DeclinedResult));

export interface CancellationDecision {
  answer: CancellationAnswer;
  /** Must be stored before the answer is given. */
  next?: CancelledRecord;
}

/** The gateway's operations have their reference as key: a key that nothing is known of is taken for one. */
export function decideCancellation(
  idempotencyKey: string,
  known: AcquirerRecord | undefined,
  now: number,
): CancellationDecision {
  const cancelled = { answer: { status: 'cancelled' } } as const;
  if (known === undefined) {
    return {
      ...cancelled,
      next: { state: 'cancelled', idempotencyKey, reference: idempotencyKey, at: now, request: null },
    };
  }
  switch (known.state) {
    case 'approved':
      return { answer: { status: 'already_processed', ...approvedResult(known) } };
    case 'declined':
      return { answer: { status: 'already_processed', ...declinedResult(known) } };
    case 'cancelled':
      return cancelled;
    case 'held': {
      const { reference, request } = known;
      return { ...cancelled, next: { state: 'cancelled', idempotencyKey, reference, at: now, request } };
    }
  }
}
