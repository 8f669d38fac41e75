import type { PayoutOutcome } from '@gateway/contracts';
import { RESPONSE_CODES, coded } from '@gateway/contracts';
import type { Subject } from '../domain/subject';
import type { Incoming } from './admit';
import { payoutCheckEndpoint } from './endpoints';
import { handleRequest } from './handle-request';
import { payoutCheckRecord } from './payout-responses';
import type { PayoutEntry, PayoutPorts, Ports } from './ports';
import type { Answer, Session } from './responses';
import { checkResponse } from './responses';

export type PayoutCheckPorts = Ports & Pick<PayoutPorts, 'payoutQueries'>;

/** `POST /api/mp/transaction`: the CHECK of a payout. Also for accounts that may no longer pay out. */
export function handlePayoutCheck(ports: PayoutCheckPorts, incoming: Incoming): Promise<Answer> {
  return handleRequest(ports, incoming, payoutCheckEndpoint, {
    checkRules: () => undefined,
    carryOut: (session, { merchantAccount }, request) => check(ports, session, merchantAccount, request),
  });
}

/** Every accepted payout is in the journal; its state comes from its owner. */
async function check(
  ports: PayoutCheckPorts,
  session: Session,
  merchantAccount: string,
  request: Subject,
): Promise<Answer> {
  const entry = await entryAsked(ports, merchantAccount, request);
  if (entry === undefined) return checkResponse(session, RESPONSE_CODES.TRANSACTION_NOT_FOUND, []);
  if (entry.abandoned === true)
    return checkResponse(session, RESPONSE_CODES.SUCCESS, [payoutCheckRecord(standingAs('error', entry))]);
  let payout: PayoutOutcome | undefined;
  try {
    payout = await ports.payoutQueries.outcome(merchantAccount, entry.reference);
  } catch (error) {
    ports.logger.warn('CHECK got no answer from the owner', { reference: entry.reference, error });
    // Not even "pending": an entry stays open for a while after its payout has ended.
    return checkResponse(session, RESPONSE_CODES.SERVICE_UNAVAILABLE, []);
  }
  return checkResponse(session, RESPONSE_CODES.SUCCESS, [payoutCheckRecord(payout ?? standingAs('pending', entry))]);
}

function entryAsked(
  { journal }: PayoutCheckPorts,
  merchantAccount: string,
  request: Subject,
): Promise<PayoutEntry | undefined> {
  return 'reference' in request
    ? journal.findByReference(merchantAccount, 'payout', request.reference)
    : journal.findByUniqueId(merchantAccount, 'payout', request.transactionUniqueId);
}

function standingAs(
  status: 'pending' | 'error',
  { reference, transactionUniqueId, token, acceptedAt }: PayoutEntry,
): Parameters<typeof payoutCheckRecord>[0] {
  const known = { reference, transactionUniqueId, token, timestamp: acceptedAt };
  return { ...known, status, ...coded(RESPONSE_CODES.OUTCOME_UNKNOWN) };
}
