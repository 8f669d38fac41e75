import { payOut } from '../../application/bank/pay-out';
import type { BankPorts } from '../../application/bank/ports';
import { returnPayout } from '../../application/bank/return-payout';
import { resultOf, statusOf } from '../../domain/bank/results';
import { readLimit, readPayout, readReasonCode } from './bank-request';
import type { OnAnswer } from './keyed-routes';
import { keyedRoutes } from './keyed-routes';
import type { Route } from './listener';
import { HttpProblem, json } from './listener';
import { readKey } from './request-fields';

const PAYOUTS = '/bank/v1/payouts';
const RETURNS = '/bank/v1/returns';

/** The SEPA bank's API: payouts, inquiry and cancellation by idempotency key, and what came back. */
export function bankRoutes(ports: BankPorts, onAnswer: OnAnswer): Route[] {
  return [
    ...keyedRoutes({
      path: PAYOUTS,
      ports,
      onAnswer,
      read: readPayout,
      operationOf: () => 'payout',
      perform: (order) => payOut(ports, order),
      resultOf,
      inquiryAnswer: statusOf,
      cancellationAnswer: statusOf,
    }),
    ...returnRoutes(ports, onAnswer),
  ];
}

function returnRoutes(ports: BankPorts, onAnswer: OnAnswer): Route[] {
  return [
    {
      method: 'POST',
      path: `${PAYOUTS}/:key/return`,
      handle: async (request) => {
        const key = readKey(request.params['key']);
        const returned = await returnPayout(ports, key, readReasonCode(await request.json()));
        onAnswer({ operation: 'return', answer: returned ? 'returned' : 'not-settled' });
        return returned ? json(200, { status: 'returned' }) : json(409, { error: 'not settled' });
      },
    },
    {
      method: 'GET',
      path: RETURNS,
      handle: async ({ query }) => {
        const returns = await ports.returns.unacknowledged(readLimit(query));
        return json(200, { returns: returns.map(({ reference, reasonCode, at }) => ({ reference, reasonCode, at })) });
      },
    },
    {
      method: 'POST',
      path: `${RETURNS}/:key/acknowledgement`,
      handle: async ({ params }) => {
        if (await ports.returns.acknowledge(readKey(params['key']))) return { kind: 'no-content' };
        throw new HttpProblem(404, 'nothing came back');
      },
    },
  ];
}
