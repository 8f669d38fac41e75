import type { CancelledRecord, KeyedRecord, OutcomeRecord } from './record';

export type CancellationAnswer<Request, Approval> =
  /** Nothing happened under this key, and nothing ever will. */
  | { kind: 'cancelled' }
  /** Too late. */
  | { kind: 'outcome'; record: OutcomeRecord<Request, Approval> };

export interface CancellationDecision<Request, Approval> {
  answer: CancellationAnswer<Request, Approval>;
  /** Must be stored before the answer is given. */
  next?: CancelledRecord<Request>;
}

/** The gateway's requests have their reference as key: a key that nothing is known of is taken for one. */
export function decideCancellation<R, A>(
  idempotencyKey: string,
  known: KeyedRecord<R, A> | undefined,
  now: number,
): CancellationDecision<R, A> {
  const answer = { kind: 'cancelled' } as const;
  if (known === undefined) {
    return { answer, next: { state: 'cancelled', idempotencyKey, reference: idempotencyKey, at: now, request: null } };
  }
  switch (known.state) {
    case 'approved':
    case 'declined':
      return { answer: { kind: 'outcome', record: known } };
    case 'cancelled':
      return { answer };
    case 'held': {
      const { reference, request } = known;
      return { answer, next: { state: 'cancelled', idempotencyKey, reference, at: now, request } };
    }
  }
}
