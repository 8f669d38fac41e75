import type { PayoutOutcome } from '@gateway/contracts';
import { checkPayoutWindow } from '../domain/payout-fields';
import type { PayoutQuery } from '../domain/payout-request';
import type { Incoming } from './admit';
import type { Endpoint } from './endpoint';
import { handleRequest } from './handle-request';
import { listInPlace } from './list-in-place';
import type { Amounts } from './payout-responses';
import { payoutQueryRecord, payoutQueryResponse } from './payout-responses';
import type { ListPlaces, PayoutPorts, Ports } from './ports';
import type { Answer, Session } from './responses';
import { noAnswer } from './responses';

export type PayoutQueryPorts = Ports & Pick<PayoutPorts, 'payoutQueries'> & { payoutListPlaces: ListPlaces };

/** `POST /api/mp/transactions` and `/ra`, which differ in what an amount includes. */
export function handlePayoutQuery(
  ports: PayoutQueryPorts,
  incoming: Incoming,
  endpoint: Endpoint<PayoutQuery>,
  amounts: Amounts,
): Promise<Answer> {
  return handleRequest(ports, incoming, endpoint, {
    checkRules: checkPayoutWindow,
    carryOut: (session, account, query) =>
      listInPlace({ places: ports.payoutListPlaces, now: ports.now }, session, account, () =>
        list(ports, session, account.merchantAccount, query, amounts),
      ),
  });
}

async function list(
  ports: PayoutQueryPorts,
  session: Session,
  merchantAccount: string,
  query: PayoutQuery,
  amounts: Amounts,
): Promise<Answer> {
  let payouts: PayoutOutcome[];
  try {
    payouts = await ports.payoutQueries.list(merchantAccount, query);
  } catch (error) {
    ports.logger.warn('a listing got no answer from the owner', { error });
    return noAnswer(session, ports.now());
  }
  const records = payouts.map((payout) => payoutQueryRecord(payout, amounts));
  return payoutQueryResponse(session, ports.now(), records);
}
