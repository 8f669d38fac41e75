import type { Complete, PayoutAnswer, PayoutOutcome } from '@gateway/contracts';
import { given } from '@gateway/contracts';
import type { Payout } from '../domain/payout';
import { merchantStatus } from '../domain/payout';

/** The status of a payout. `custom`: the parameters that its account has activated. */
export function outcomeOf(payout: Payout, custom?: PayoutOutcome['custom']): PayoutOutcome {
  const { payoutId, merchantAccount, amountE4, feeE4, currency, state } = payout;
  const changeReason = state.kind === 'returned' ? `RETURNED ${state.reasonCode}` : undefined;
  const known = { payoutId, merchantAccount, amountE4, feeE4, currency, changeReason, custom };
  return given<PayoutOutcome>({ ...known, ...answerOf(payout) });
}

/** The fields that merchants see in answers and callbacks, as in the contracts' table. */
export function answerOf(payout: Payout): Complete<PayoutAnswer> {
  const { reference, transactionUniqueId, token, acceptedAt, state } = payout;
  return { reference, transactionUniqueId, token, timestamp: acceptedAt, ...merchantStatus(state) };
}
