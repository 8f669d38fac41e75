import type { ResponseCode } from '@gateway/contracts';
import { RESPONSE_CODES } from '@gateway/contracts';

/** The rule that a command breaks, and the code for its merchant (decisions.md, section 4). */
const CODES = {
  'deadline-passed': RESPONSE_CODES.OUTCOME_UNKNOWN,
  'in-recovery': RESPONSE_CODES.SERVICE_UNAVAILABLE,
  'terminal-not-active': RESPONSE_CODES.MID_NOT_ACTIVE,
  'no-terminal-for-currency': RESPONSE_CODES.NO_MID_FOR_CURRENCY,
  'never-processable': RESPONSE_CODES.PROCESSING_ERROR,
  'too-many-operations': RESPONSE_CODES.PROCESSING_ERROR,
  'token-not-found': RESPONSE_CODES.TOKEN_NOT_FOUND,
  'reference-not-found': RESPONSE_CODES.REFERENCE_NOT_FOUND,
  'not-voidable': RESPONSE_CODES.NOT_VOIDABLE,
  'not-refundable': RESPONSE_CODES.NOT_REFUNDABLE,
  'hold-ended': RESPONSE_CODES.INTERVAL_EXCEEDED,
  'already-voided': RESPONSE_CODES.ALREADY_VOIDED,
  'already-refunded': RESPONSE_CODES.ALREADY_REFUNDED,
  'already-settled': RESPONSE_CODES.ALREADY_SETTLED,
  'settle-amount-too-high': RESPONSE_CODES.SETTLE_AMOUNT_INCORRECT,
  'amount-or-currency-differs': RESPONSE_CODES.AMOUNT_INCORRECT,
  cancelled: RESPONSE_CODES.CANCELLED_BY_CARDHOLDER,
  'checkout-ended': RESPONSE_CODES.TRANSACTION_EXPIRED,
  completed: RESPONSE_CODES.TRANSACTION_COMPLETED,
  'not-authenticated': RESPONSE_CODES.AUTHENTICATION_FAILED,
} as const satisfies Record<string, ResponseCode>;

export type Rejection = keyof typeof CODES;

export function codeOfRejection(rejection: Rejection): ResponseCode {
  return CODES[rejection];
}
