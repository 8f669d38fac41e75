import type { CallbackPage } from '@gateway/contracts';
import { paymentIdOf } from '@gateway/contracts';
import type { CallbackListRequest } from '../domain/callback-request';
import type { Incoming } from './admit';
import { callbackRecord, callbacksResponse, unknownCursor } from './callback-responses';
import { callbackListEndpoint } from './endpoints';
import { handleRequest } from './handle-request';
import { listInPlace } from './list-in-place';
import type { CallbackPageQuery, CallbackPorts, Ports } from './ports';
import type { Answer, Session } from './responses';
import { noAnswer } from './responses';

const SECOND_MS = 1_000;

export type CallbackListPorts = Ports & Pick<CallbackPorts, 'callbackQueries' | 'callbackListPlaces'>;

/** `POST /api/pf/callbacks`: the account's own callbacks with their attempts, newest first. For every account. */
export function handleCallbackList(ports: CallbackListPorts, incoming: Incoming): Promise<Answer> {
  return handleRequest(ports, incoming, callbackListEndpoint, {
    checkRules: () => undefined,
    carryOut: (session, account, request) =>
      listInPlace({ places: ports.callbackListPlaces, now: ports.now }, session, account, () =>
        list(ports, session, account.merchantAccount, request),
      ),
  });
}

async function list(
  ports: CallbackListPorts,
  session: Session,
  merchantAccount: string,
  request: CallbackListRequest,
): Promise<Answer> {
  const { of, from, cursor, limit } = request;
  const payments = of === undefined ? undefined : await paymentsOf(ports, merchantAccount, of);
  if (payments?.length === 0) return callbacksResponse(session, []);
  const query: CallbackPageQuery = {
    limit,
    ...(payments === undefined ? {} : { payments }),
    ...(from === undefined ? {} : { from: from * SECOND_MS }),
    ...(cursor === undefined ? {} : { before: cursor }),
  };
  let page: CallbackPage | undefined;
  try {
    page = await ports.callbackQueries.list(merchantAccount, query);
  } catch (error) {
    ports.logger.warn('a list of callbacks got no answer from the owner', { error });
    return noAnswer(session, ports.now());
  }
  if (page === undefined) return unknownCursor(session, ports.now());
  return callbacksResponse(session, page.callbacks.map(callbackRecord), page.next);
}

/** As the gateway makes them. Another text names none, and commas separate them in the query. */
const PAYMENT_ID = /^[0-9A-Z]{16}$/;

/** Card operations and payouts have ids of their own, so one id may name both. */
async function paymentsOf(
  { journal }: Pick<Ports, 'journal'>,
  merchantAccount: string,
  of: NonNullable<CallbackListRequest['of']>,
): Promise<string[]> {
  if ('reference' in of) return [paymentIdOf(of.reference)].filter((id) => PAYMENT_ID.test(id));
  const spaces = ['card', 'payout'] as const;
  const entries = await Promise.all(
    spaces.map((space) => journal.findByUniqueId(merchantAccount, space, of.transactionUniqueId)),
  );
  return entries.flatMap((entry) => (entry === undefined ? [] : [entry.paymentId]));
}
