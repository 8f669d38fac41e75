import type { PayoutRecord } from '@gateway/contracts';
import type { NewMessage } from '@gateway/mongo';
import type { Cause } from '@gateway/service-kit';
import type { Payout, PayoutEvent } from '../domain/payout';
import { standing } from '../domain/payout';

interface Context {
  now: number;
  newId: () => string;
  cause: Cause;
}

/** What the world is told about a domain event; undefined for the intent and a bank's remarks, which are ours alone. */
export function announcement(payout: Payout, event: PayoutEvent, context: Context): NewMessage | undefined {
  if (event.type === 'SubmissionStarted' || event.type === 'BankSaidMore') return undefined;
  return {
    id: context.newId(),
    at: context.now,
    ...context.cause,
    type: event.type,
    data: { ...payoutRecord(payout, event, context.now), ...details(event) },
  };
}

/** A return is no outcome: the merchant's callback has told the success before. */
function tellsMerchant({ type }: PayoutEvent): boolean {
  return type === 'PayoutSettled' || type === 'PayoutDeclined' || type === 'PayoutFrauded' || type === 'PayoutFailed';
}

function details(event: PayoutEvent) {
  if (event.type === 'PayoutReturned') return { returnReason: event.reasonCode };
  if (event.type !== 'PayoutScreened') return {};
  const { screening } = event;
  if (screening.passed) return { passed: true };
  return { passed: false, rule: screening.rule, reason: screening.reason };
}

function payoutRecord(payout: Payout, event: PayoutEvent, now: number): PayoutRecord {
  return {
    payoutId: payout.payoutId,
    reference: payout.reference,
    merchantAccount: payout.merchantAccount,
    transactionUniqueId: payout.transactionUniqueId,
    acceptedAt: payout.acceptedAt,
    amountE4: payout.amountE4,
    feeE4: payout.feeE4,
    currency: payout.currency,
    token: payout.token,
    instant: payout.instant,
    receiverCountry: payout.receiverCountry,
    ...(payout.bank === undefined ? {} : { bank: payout.bank }),
    ...standing(payout.state),
    ...(payout.callbackUrl !== undefined && tellsMerchant(event) ? { callbackUrl: payout.callbackUrl } : {}),
    occurredAt: now,
    ...(payout.custom === undefined ? {} : { custom: payout.custom }),
  };
}
