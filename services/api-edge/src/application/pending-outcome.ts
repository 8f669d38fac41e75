import type { OperationOutcome } from '@gateway/contracts';
import { RESPONSE_CODES, coded } from '@gateway/contracts';
import type { ListedEntry } from './ports';

/** The outcome of a journalled request for which its owner has not answered. */
export function pendingOutcome(entry: ListedEntry): OperationOutcome {
  const { paymentId, reference, baseReference, merchantAccount, transactionUniqueId, operationType, token } = entry;
  return {
    paymentId,
    reference,
    ...(baseReference === undefined ? {} : { baseReference }),
    merchantAccount,
    transactionUniqueId,
    transactionType: operationType,
    status: 'pending',
    ...coded(RESPONSE_CODES.OUTCOME_UNKNOWN),
    ...(token === undefined ? {} : { token }),
    authcode: null,
    timestamp: entry.acceptedAt,
  };
}
