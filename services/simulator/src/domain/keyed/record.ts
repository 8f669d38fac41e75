import type { ResponseCode } from '@gateway/contracts';
import { RESPONSE_CODES } from '@gateway/contracts';
import type { LedgerEntry } from '../ledger';

/** What every request has that moves money under an idempotency key. */
export interface KeyedRequest {
  idempotencyKey: string;
  /** The gateway's reference: its first 16 characters name the payment or payout. */
  reference: string;
  /** In 1/10000 of the currency; null where the request names none. */
  amountE4: number | null;
  currency: string | null;
}

interface Keyed {
  idempotencyKey: string;
  reference: string;
  /** Epoch ms at which this state was reached. */
  at: number;
}

/** `Approval` is what a commit writes, or would have written, beside the request. */
export type ApprovedRecord<Request, Approval> = Keyed & {
  state: 'approved';
  request: Request;
  approval: Approval;
  /** So many inquiries are still answered "unknown". */
  unknownInquiriesLeft: number;
};

/** Accepted but not committed; the first inquiry, answered "not found", sets the commit off. */
export type HeldRecord<Request, Approval> = Keyed & {
  state: 'held';
  request: Request;
  approval: Approval;
  /** The first inquiry has come: the commit is due, now or as soon as anyone looks again. */
  commitDue: boolean;
};

export type DeclinedRecord<Request> = Keyed & { state: 'declined'; request: Request; code: ResponseCode };

/** The key is refused for ever. Without a request: it was cancelled before one arrived. */
export type CancelledRecord<Request> = Keyed & { state: 'cancelled'; request: Request | null };

/** How a request ended: nothing changes it any more. */
export type OutcomeRecord<Request, Approval> = ApprovedRecord<Request, Approval> | DeclinedRecord<Request>;

/** All that a counterpart knows about one idempotency key. */
export type KeyedRecord<Request, Approval> =
  OutcomeRecord<Request, Approval> | HeldRecord<Request, Approval> | CancelledRecord<Request>;

/**
 * "Invalid acquirer reference": what a bank says to a request that its books do not allow. Seeing it means a gateway bug.
 */
export const NO_SUCH_TRANSACTION = RESPONSE_CODES.ACQUIRER_REFERENCE_INVALID;

/** Its bank's own name for a transaction. It follows from the key, so that no second index is needed to find it. */
export const TRANSACTION_PREFIX = 'SIM-';

export function transactionIdOf(idempotencyKey: string): string {
  return TRANSACTION_PREFIX + idempotencyKey;
}

export function approved<R extends KeyedRequest, A>(request: R, approval: A, now: number): ApprovedRecord<R, A> {
  const { idempotencyKey, reference } = request;
  return { state: 'approved', idempotencyKey, reference, at: now, request, approval, unknownInquiriesLeft: 0 };
}

export function held<R extends KeyedRequest, A>(request: R, approval: A, now: number): HeldRecord<R, A> {
  const { idempotencyKey, reference } = request;
  return { state: 'held', idempotencyKey, reference, at: now, request, approval, commitDue: false };
}

export function declined<R extends KeyedRequest>(request: R, code: ResponseCode, now: number): DeclinedRecord<R> {
  const { idempotencyKey, reference } = request;
  return { state: 'declined', idempotencyKey, reference, at: now, request, code };
}

/** What the ledger's line of any record says; which operation it was and what came of it, its counterpart knows. */
export function ledgerLineOf<R extends KeyedRequest, A>(
  record: KeyedRecord<R, A>,
): Omit<LedgerEntry, 'operation' | 'effect'> {
  const { idempotencyKey, reference, at, request } = record;
  const { amountE4 = null, currency = null } = request ?? {};
  return { at, idempotencyKey, reference, amountE4, currency, eci: null };
}
