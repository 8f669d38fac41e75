import type { PayoutOutcome } from '@gateway/contracts';
import { activatedValues } from '@gateway/contracts';
import { customValues } from './custom-parameters';
import { outcomeOf } from './outcome';
import type { PageQuery, Ports } from './ports';

type Reading = Pick<Ports, 'payouts' | 'accounts'>;

/** The status of one of the account's payouts, with its activated custom parameters; undefined if there is none. */
export async function findOutcome(
  ports: Reading,
  merchantAccount: string,
  reference: string,
): Promise<PayoutOutcome | undefined> {
  const payout = await ports.payouts.load(reference);
  if (payout?.merchantAccount !== merchantAccount) return undefined;
  const account = await ports.accounts.find(merchantAccount);
  return outcomeOf(payout, activatedValues(account?.customParameters ?? [], customValues(payout)));
}

/** One page of an account's payouts. */
export async function listOutcomes(ports: Reading, query: PageQuery): Promise<PayoutOutcome[]> {
  return (await ports.payouts.page(query)).map((payout) => outcomeOf(payout));
}
