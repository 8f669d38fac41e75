import type { FinalCode } from '@gateway/contracts';
import { RESPONSE_CODES } from '@gateway/contracts';

/** ISO 20022 ExternalStatusReason1Code of a rejection, and the closest code of the merchants' registry. */
const CODES = new Map<string, FinalCode<'bank-decline'>>(
  Object.entries({
    // Incorrect, invalid or closed account; holder deceased or unknown; name does not match the account.
    AC01: RESPONSE_CODES.BANK_ACCOUNT_INVALID,
    AC03: RESPONSE_CODES.BANK_ACCOUNT_INVALID,
    AC04: RESPONSE_CODES.BANK_ACCOUNT_INVALID,
    AC07: RESPONSE_CODES.BANK_ACCOUNT_INVALID,
    BE01: RESPONSE_CODES.BANK_ACCOUNT_INVALID,
    BE06: RESPONSE_CODES.BANK_ACCOUNT_INVALID,
    MD07: RESPONSE_CODES.BANK_ACCOUNT_INVALID,
    // Blocked account, not allowed for this kind of account, or bank not in the scheme.
    AC06: RESPONSE_CODES.TRANSACTION_NOT_PERMITTED,
    AG01: RESPONSE_CODES.TRANSACTION_NOT_PERMITTED,
    CNOR: RESPONSE_CODES.TRANSACTION_NOT_PERMITTED,
    DNOR: RESPONSE_CODES.TRANSACTION_NOT_PERMITTED,
    AG02: RESPONSE_CODES.BANK_TRANSACTION_TYPE_UNSUPPORTED,
    AM02: RESPONSE_CODES.BANK_AMOUNT_NOT_POSSIBLE,
    AM14: RESPONSE_CODES.BANK_AMOUNT_NOT_POSSIBLE,
    AM03: RESPONSE_CODES.BANK_CURRENCY_UNSUPPORTED,
    CURR: RESPONSE_CODES.BANK_CURRENCY_UNSUPPORTED,
    // About the debtor, that is, the gateway's own account.
    AM04: RESPONSE_CODES.INSUFFICIENT_FUNDS,
    // Address or other party data is missing or wrong, or regulation requires more.
    BE04: RESPONSE_CODES.BANK_DATA_MISSING,
    BE05: RESPONSE_CODES.BANK_DATA_MISSING,
    BE07: RESPONSE_CODES.BANK_DATA_MISSING,
    RR01: RESPONSE_CODES.BANK_DATA_MISSING,
    RR02: RESPONSE_CODES.BANK_DATA_MISSING,
    RR03: RESPONSE_CODES.BANK_DATA_MISSING,
    // Regulatory reasons, which banks do not explain. Do not retry.
    RR04: RESPONSE_CODES.BANK_RISK_DECLINE,
    FRAD: RESPONSE_CODES.BANK_FRAUD_DECLINE,
    FOCR: RESPONSE_CODES.AUTHORIZATION_REVOKED,
    // The bank does not accept the file or one of its identifiers.
    FF01: RESPONSE_CODES.INVALID_TRANSACTION,
    RC01: RESPONSE_CODES.INVALID_TRANSACTION,
    RC04: RESPONSE_CODES.INVALID_TRANSACTION,
    // Too late, at the bank or at a later one.
    TM01: RESPONSE_CODES.EXPIRED_AT_BANK,
    AB05: RESPONSE_CODES.EXPIRED_AT_BANK,
    AB06: RESPONSE_CODES.EXPIRED_AT_BANK,
    MS02: RESPONSE_CODES.DECLINED_BY_NETWORK,
    MS03: RESPONSE_CODES.DECLINED_BY_NETWORK,
    NARR: RESPONSE_CODES.DECLINED_BY_NETWORK,
  }),
);

/** The code of a rejection. The bank's own reason is stored as well, known or not. */
export function codeOfRejection(reason: string | undefined): FinalCode<'bank-decline'> {
  return CODES.get(reason ?? '') ?? RESPONSE_CODES.GENERAL_BANK_DECLINE;
}

/**
 * The bank already has this payout or file. The outcome of the first one stays open: treating the duplicate as a
 * decline could make the merchant pay twice.
 */
const DUPLICATE_REASONS = new Set(['AM05', 'DU01', 'DU02', 'DU03', 'DU04', 'DU05', 'DUPL']);

export function isDuplicateReason(reason: string): boolean {
  return DUPLICATE_REASONS.has(reason);
}

/** About the file or its identifiers, or in words that no program reads. */
const NOT_ABOUT_THE_PAYMENT = new Set(['FF01', 'RC01', 'RC04', 'NARR']);
/** Refused without saying why, as banks do to protect the receiver's data. Of a whole message they explain nothing. */
const UNEXPLAINED = new Set(['MS02', 'MS03']);

/**
 * True if all reasons are known ones that explain why a payment is not carried out. None explains nothing.
 *
 * @param general they are given for the whole message, not for one payment by name
 */
export function isAboutThePayment(reasons: readonly string[], { general }: { general: boolean }): boolean {
  const explains = (reason: string): boolean =>
    CODES.has(reason) && !NOT_ABOUT_THE_PAYMENT.has(reason) && !(general && UNEXPLAINED.has(reason));
  return reasons.length > 0 && reasons.every(explains);
}

/**
 * The bank could not read a file: its format, its syntax, its transmission, or its structure. Money that was settled does
 * not come back for that.
 */
const ABOUT_THE_FILE = new Set(['FF01', 'FF02', 'TA01', 'TD02', 'TD03', 'TS01']);

export function isAboutTheFile(reason: string): boolean {
  return ABOUT_THE_FILE.has(reason);
}
