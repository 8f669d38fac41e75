import type { PayoutOutcome } from '@gateway/contracts';
import { activatedValues } from '@gateway/contracts';
import { standing } from '../domain/payout';
import { customValues } from './custom-parameters';
import type { PageQuery, Ports, ShownPayout } from './ports';

type Reading = Pick<Ports, 'payouts' | 'accounts'>;

/** How one payout of the account's own stands, with its activated custom parameters; undefined when there is none. */
export async function findOutcome(
  ports: Reading,
  merchantAccount: string,
  reference: string,
): Promise<PayoutOutcome | undefined> {
  const payout = await ports.payouts.load(reference);
  if (payout?.merchantAccount !== merchantAccount) return undefined;
  const account = await ports.accounts.find(merchantAccount);
  const custom = activatedValues(account?.customParameters ?? [], customValues(payout));
  return { ...outcomeOf(payout), ...(custom === undefined ? {} : { custom }) };
}

/** One page of an account's payouts. */
export async function listOutcomes(ports: Reading, query: PageQuery): Promise<PayoutOutcome[]> {
  return (await ports.payouts.page(query)).map(outcomeOf);
}

export function outcomeOf(payout: Omit<ShownPayout, '_id'>): PayoutOutcome {
  const { state } = payout;
  return {
    payoutId: payout.payoutId,
    reference: payout.reference,
    merchantAccount: payout.merchantAccount,
    transactionUniqueId: payout.transactionUniqueId,
    amountE4: payout.amountE4,
    feeE4: payout.feeE4,
    currency: payout.currency,
    token: payout.token,
    ...standing(state),
    timestamp: payout.acceptedAt,
    ...(state.kind === 'returned' ? { changeReason: `RETURNED ${state.reasonCode}` } : {}),
  };
}
