import type { PayoutRecord } from '@gateway/contracts';
import { callbackValues, given, modeOf } from '@gateway/contracts';
import type { Announcement } from '@gateway/mongo';
import type { Payout, PayoutEvent, ScreeningRecord } from '../domain/payout';
import { answerOf } from './outcome';

/** The message for other services; undefined for events that concern only this service and its operators. */
export function announce(payout: Payout, event: PayoutEvent, { at }: { at: number }): Announcement | undefined {
  switch (event.type) {
    case 'SubmissionStarted':
    case 'PayoutHeld':
    case 'PayoutReleased':
    case 'BankSaidMore':
    case 'InquiryFailed':
    case 'ReservationsReleased':
      return undefined;
    default:
      return { type: event.type, data: { ...payoutRecord(payout, event, at), ...details(event) } };
  }
}

/** Sends no callback for a return: the merchant's callback has already reported the success. */
function tellsMerchant({ type }: PayoutEvent): boolean {
  return type === 'PayoutSettled' || type === 'PayoutDeclined' || type === 'PayoutFrauded' || type === 'PayoutFailed';
}

/** What only some events say. A payout on its way has code 11 until its end, but nothing has timed out. */
function details(event: PayoutEvent) {
  switch (event.type) {
    case 'PayoutAccepted':
      return { message: 'Payout accepted' };
    case 'PayoutScreened':
      return { message: 'Payout screened', ...verdict(event.screening) };
    case 'PayoutSubmitted':
      return { message: 'Payout submitted to the bank' };
    case 'PayoutReturned':
      return { returnReason: event.reasonCode };
    default:
      return {};
  }
}

function verdict(screening: ScreeningRecord) {
  if (screening.passed) return { passed: true };
  return { passed: false, rule: screening.rule, reason: screening.reason };
}

function payoutRecord(payout: Payout, event: PayoutEvent, at: number): PayoutRecord {
  const { payoutId, merchantAccount, acceptedAt, amountE4, feeE4, currency, instant, receiverCountry } = payout;
  return given<PayoutRecord>({
    ...callbackValues(answerOf(payout)),
    ...{ payoutId, merchantAccount, acceptedAt, amountE4, feeE4, currency, instant, receiverCountry },
    bank: payout.bank,
    mode: modeOf(payout, currency),
    callbackUrl: tellsMerchant(event) ? payout.callbackUrl : undefined,
    occurredAt: at,
    custom: payout.custom,
  });
}
