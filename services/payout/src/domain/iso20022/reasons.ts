/** Our code for a rejection whose reason we do not know: `General bank decline`. */
const GENERAL_DECLINE = 3140;
const UNSPECIFIED = 3100;
const INSUFFICIENT_FUNDS = 3101;
const AMOUNT_NOT_POSSIBLE = 3106;
const DATA_MISSING = 3110;
const TYPE_NOT_SUPPORTED = 3113;
const CURRENCY_NOT_SUPPORTED = 3114;
const RISK = 3120;
const FRAUD = 3128;
const REVOKED = 3130;
const EXPIRED_AT_BANK = 3134;
const INVALID_TRANSACTION = 3150;
const NOT_PERMITTED = 3157;
const INVALID_OR_CLOSED_ACCOUNT = 3170;

/** ISO 20022 ExternalStatusReason1Code of a rejection, and what the merchants' registry has nearest to it. */
const CODES = new Map(
  Object.entries({
    // Incorrect, invalid or closed account; holder deceased or unknown, or another name than the account's.
    AC01: INVALID_OR_CLOSED_ACCOUNT,
    AC03: INVALID_OR_CLOSED_ACCOUNT,
    AC04: INVALID_OR_CLOSED_ACCOUNT,
    AC07: INVALID_OR_CLOSED_ACCOUNT,
    BE01: INVALID_OR_CLOSED_ACCOUNT,
    BE06: INVALID_OR_CLOSED_ACCOUNT,
    MD07: INVALID_OR_CLOSED_ACCOUNT,
    // Blocked account, forbidden for this kind of account, or a bank that is not in the scheme.
    AC06: NOT_PERMITTED,
    AG01: NOT_PERMITTED,
    CNOR: NOT_PERMITTED,
    DNOR: NOT_PERMITTED,
    AG02: TYPE_NOT_SUPPORTED,
    AM02: AMOUNT_NOT_POSSIBLE,
    AM14: AMOUNT_NOT_POSSIBLE,
    AM03: CURRENCY_NOT_SUPPORTED,
    CURR: CURRENCY_NOT_SUPPORTED,
    // Of the debtor, so of the gateway's own account.
    AM04: INSUFFICIENT_FUNDS,
    // Address or other data about a party is missing or wrong, or regulation asks for more of it.
    BE04: DATA_MISSING,
    BE05: DATA_MISSING,
    BE07: DATA_MISSING,
    RR01: DATA_MISSING,
    RR02: DATA_MISSING,
    RR03: DATA_MISSING,
    // Regulatory reasons that no bank explains; never to be tried again.
    RR04: RISK,
    FRAD: FRAUD,
    FOCR: REVOKED,
    // The file or one of its identifiers is not as the bank wants it.
    FF01: INVALID_TRANSACTION,
    RC01: INVALID_TRANSACTION,
    RC04: INVALID_TRANSACTION,
    // Too late, at the bank or at one behind it.
    TM01: EXPIRED_AT_BANK,
    AB05: EXPIRED_AT_BANK,
    AB06: EXPIRED_AT_BANK,
    MS02: UNSPECIFIED,
    MS03: UNSPECIFIED,
    NARR: UNSPECIFIED,
  }),
);

/** Our 31xx code for a rejection. The bank's own reason is kept beside it, known or not. */
export function codeOfRejection(reason: string | undefined): number {
  return CODES.get(reason ?? '') ?? GENERAL_DECLINE;
}

/**
 * The bank has this payout or file already, it says. What became of the first one is another question, so this is no
 * word about the payout: taking it as a decline would have the merchant pay twice.
 */
const DUPLICATE_REASONS = new Set(['AM05', 'DU01', 'DU02', 'DU03', 'DU04', 'DU05', 'DUPL']);

export function isDuplicateReason(reason: string): boolean {
  return DUPLICATE_REASONS.has(reason);
}
