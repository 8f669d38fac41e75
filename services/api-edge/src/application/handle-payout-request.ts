import type { Account } from '@gateway/accounts';
import { formatAmountE4, newPaymentId, newReference, testMark } from '@gateway/contracts';
import { checkPayoutRules } from '../domain/account-rules';
import { payoutFeeE4 } from '../domain/payout-fee';
import type { PayoutRequest } from '../domain/payout-request';
import type { Incoming } from './admit';
import type { Endpoint } from './endpoint';
import { handleRequest } from './handle-request';
import { publishUntilDeadline } from './offer';
import { payoutResponse } from './payout-responses';
import type { Bus, Idempotency, PayoutCommand, PayoutEntry, PayoutPorts } from './ports';
import type { Answer, Session } from './responses';
import { isTestRequest } from './sandbox-quota';
import type { Submission, SubmitPorts } from './submit';
import { submit } from './submit';

export type InitiatePorts = SubmitPorts & PayoutPorts & { bus: Bus<PayoutCommand> };

/** `POST /api/mp/payout`. Its answers do not repeat the request's fields. */
export function handlePayoutRequest(
  ports: InitiatePorts,
  incoming: Incoming,
  endpoint: Endpoint<PayoutRequest>,
): Promise<Answer> {
  return handleRequest(ports, incoming, endpoint, {
    checkRules: checkPayoutRules,
    carryOut: (session, account, request, idempotencies) =>
      submit(ports, session, payoutSubmission(ports, session, account, request, idempotencies)),
  });
}

/**
 * The answer is known before the insert: once the entry is in the journal and confirmed, the payout is accepted, with or
 * without the bus.
 */
function payoutSubmission(
  ports: InitiatePorts,
  session: Session,
  account: Account,
  request: PayoutRequest,
  idempotencies: readonly Idempotency[],
): Submission<PayoutEntry> {
  const [idempotency] = idempotencies;
  const answerTo = (entry: PayoutEntry, state: 'pending' | 'unknown'): Answer => {
    const { reference, acceptedAt, command } = entry;
    const custom = command === undefined ? {} : feeParameter(account, command);
    return payoutResponse(session, { reference, acceptedAt, state, custom });
  };
  return {
    merchantAccount: account.merchantAccount,
    isTest: isTestRequest(account, request),
    idempotencies,
    async prepare() {
      const entry = entryOf(ports, account, request);
      return idempotency === undefined ? entry : { ...entry, idempotency, response: answerTo(entry, 'pending').body };
    },
    async carryOut(entry) {
      void publishUntilDeadline(ports, entry);
      return answerTo(entry, 'pending');
    },
    unknown: (entry) => answerTo(entry, 'unknown'),
    late: (entry) => ({ entry: abandoned(entry, answerTo(entry, 'unknown')) }),
  };
}

/** Late payouts are executed, but not one that was recorded, or may have been, after its merchant got 11. */
function abandoned({ command: _c, unconfirmed: _u, ...entry }: PayoutEntry, told: Answer): PayoutEntry {
  return { ...entry, abandoned: true, ...(entry.idempotency === undefined ? {} : { response: told.body }) };
}

function entryOf(ports: InitiatePorts, account: Account, request: PayoutRequest): PayoutEntry {
  const { merchantAccount } = account;
  const { transactionUniqueId } = request;
  const paymentId = newPaymentId(ports.randomBytes);
  const reference = newReference(paymentId, ports.randomBytes);
  const { token, otherTokens } = ports.receiverTokens(merchantAccount, request.receiver.iban);
  const acceptedAt = ports.now();
  const known = { reference, merchantAccount, transactionUniqueId, token, acceptedAt };
  const mark = testMark(isTestRequest(account, request));
  const others = otherTokens.length === 0 ? {} : { otherTokens: [...otherTokens] };
  return {
    ...known,
    ...mark,
    paymentId,
    space: 'payout',
    unconfirmed: true,
    // For this replica's own publishing only. The command has no deadline: an accepted payout stays accepted.
    deadline: acceptedAt + ports.replyTimeoutMs,
    command: {
      type: 'InitiatePayout',
      data: { ...known, ...mark, ...others, payoutId: paymentId, ...termsOf(account, request) },
    },
  };
}

function termsOf(account: Account, { amountE4, currency, receiver, description, callbackUrl, custom }: PayoutRequest) {
  return {
    amountE4,
    feeE4: payoutFeeE4(account.payoutFee, amountE4, currency),
    currency,
    instant: account.payoutInstant ?? false,
    receiver,
    description,
    callbackUrl,
    ...(custom === undefined ? {} : { custom }),
  };
}

/** The one custom parameter with a value from the start, for some currencies. */
function feeParameter({ customParameters }: Account, { data }: PayoutCommand): Record<string, string> {
  const name = `custom_fee_${data.currency.toLowerCase()}`;
  return customParameters.some((activated) => activated === name) ? { [name]: formatAmountE4(data.feeE4) } : {};
}
