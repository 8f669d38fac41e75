import type { AnnounceOutcomeData } from '@gateway/contracts';
import { messageOfCode } from '@gateway/contracts';
import { tellsMerchant } from './checkout';
import type { Payment, PaymentEvent } from './payment';
import { findOperation } from './payment';
import { codeOfRejection } from './rejections';

/**
 * A merchant whose response was 11 gets the outcome by one callback (decisions.md, section 10). Empty if a callback
 * is sent anyway, or if the request is a repetition. Attempts on a card-entry page follow `tellsMerchant`.
 */
export function decideAnnouncement(
  payment: Payment,
  { reference, callbackUrl }: { reference: string; callbackUrl: string },
): PaymentEvent[] {
  const operation = findOperation(payment, reference);
  if (operation === undefined || operation.checkoutAttempt !== undefined) return [];
  if (operation.announced === true || tellsMerchant(payment, operation)) return [];
  return [{ type: 'OutcomeAnnounced', reference, callbackUrl }];
}

/** Records the operation of a card-entry page that was never opened as an error, which its callback reports. */
export function lostPage({ reference, callbackUrl, lostPage: page }: AnnounceOutcomeData): PaymentEvent[] {
  if (page === undefined) return [];
  const { transactionType: type, notes, ...known } = page;
  const code = codeOfRejection('deadline-passed');
  const end = { status: 'error', code, message: messageOfCode(code), authcode: null } as const;
  const custom = notes.custom === undefined ? {} : { custom: notes.custom };
  const operation = { reference, type, ...known, ...end, ...custom, callbackUrl, announced: true } as const;
  return [{ type: 'OperationRecorded', operation }];
}
