import type { PayoutOutcome } from '@gateway/contracts';
import { RESPONSE_CODES, coded, formatAmountE4, unixSeconds } from '@gateway/contracts';
import type { Answer, Session } from './responses';
import { answer, checkRecord, checkStatus, envelope } from './responses';

/** The code of a payout whose outcome is not known yet. */
interface Accepted {
  reference: string;
  /** Epoch ms. */
  acceptedAt: number;
  /** `unknown`: it may or may not be recorded. */
  state: 'pending' | 'unknown';
  /** Activated custom parameters that already have a value. */
  custom?: Record<string, string>;
}

/** The SEPA payout response (decisions.md, section 7). It is never final. */
export function payoutResponse(session: Session, accepted: Accepted): Answer {
  const { reference, acceptedAt, custom } = accepted;
  const isPending = accepted.state === 'pending';
  const status = isPending ? 'pending' : 'error';
  const code = isPending ? RESPONSE_CODES.SUCCESS : RESPONSE_CODES.OUTCOME_UNKNOWN;
  return answer(session, { reference, timestamp: acceptedAt, status, ...coded(code) }, custom);
}

const PAYOUT = 'PAYOUT';

/** One record of a payout's CHECK response. */
export function payoutCheckRecord(payout: Parameters<typeof checkRecord>[0]): object {
  return checkRecord({ ...payout, transactionType: PAYOUT });
}

/** True if a query's amounts include the payout's fee. */
export type Amounts = 'with-fee' | 'without-fee';

/** One record of a query on demand. `time` is the time of acceptance. */
export function payoutQueryRecord(payout: PayoutOutcome, amounts: Amounts) {
  const { status, code, message } = checkStatus(payout);
  const amountE4 = amounts === 'with-fee' ? payout.amountE4 + payout.feeE4 : payout.amountE4;
  return {
    transaction_type: PAYOUT,
    status,
    mode: 'CC',
    reference: payout.reference,
    // The number nearest to a decimal of four places prints as that decimal.
    amount: Number(formatAmountE4(amountE4)),
    currency: payout.currency,
    ...(payout.changeReason === undefined ? {} : { change_reason_type: payout.changeReason }),
    merchant: null,
    user: null,
    card: null,
    bank: null,
    time: unixSeconds(payout.timestamp),
    token: payout.token,
    transaction_unique_id: payout.transactionUniqueId,
    code,
    message,
  };
}

/** The envelope of a query on demand. */
export function payoutQueryResponse(session: Session, now: number, transactions: readonly object[]): Answer {
  return {
    httpStatus: 200,
    body: {
      ...envelope(session),
      timestamp: unixSeconds(now),
      transactions,
      status: 'success',
      ...coded(RESPONSE_CODES.SUCCESS),
    },
  };
}
