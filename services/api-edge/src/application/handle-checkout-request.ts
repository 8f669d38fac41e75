import type { AnnounceOutcomeData } from '@gateway/contracts';
import { RESPONSE_CODES, isTestCurrency, newPaymentId, newReference, testMark } from '@gateway/contracts';
import { checkAccountRules } from '../domain/account-rules';
import type { CheckoutRequest } from '../domain/card-request';
import type { Incoming } from './admit';
import type { CheckoutPorts } from './checkout-ports';
import { pageUrlOf } from './checkout-ports';
import { checkoutEndpoint } from './endpoints';
import { handleRequest } from './handle-request';
import type { Account, Checkout, Idempotency, OperationEntry, OpenCheckout } from './ports';
import { repeatUntil } from './repeat-until';
import type { Answer, Session } from './responses';
import { checkoutResponse, failure } from './responses';
import { unregisteredReturns } from './returns';
import { isTestRequest } from './sandbox-quota';
import type { Submission } from './submit';
import { submit } from './submit';
import { SWEEP_AFTER_EXPIRY_MS } from './sweep-checkouts';

/** 128 bits: knowing the id is the permission to pay, so it must not be guessable. */
const PAGE_ID_BYTES = 16;

/** `POST /api/pf/checkout`: a page where the cardholder enters the card that the request leaves out. */
export function handleCheckoutRequest(ports: CheckoutPorts, incoming: Incoming): Promise<Answer> {
  return handleRequest(ports, incoming, checkoutEndpoint, {
    refusedFields: unregisteredReturns(ports),
    checkRules: checkAccountRules,
    carryOut: (session, account, request, idempotencies) =>
      submit(ports, session, checkoutSubmission(ports, session, account, request, idempotencies)),
  });
}

/** No command is published. The entry only takes the merchant's id, and the response is known before the insert. */
function checkoutSubmission(
  ports: CheckoutPorts,
  session: Session,
  account: Account,
  request: CheckoutRequest,
  idempotencies: readonly Idempotency[],
): Submission<OperationEntry> {
  const { merchantAccount } = account;
  const [idempotency] = idempotencies;
  const { transactionUniqueId, callbackUrl } = request;
  const answerOf = ({ id, expiresAt, acceptedAt }: OpenCheckout): Answer =>
    checkoutResponse(session, acceptedAt, { transactionUniqueId, url: pageUrlOf(ports, id), expiresAt });
  let checkout: OpenCheckout;
  return {
    merchantAccount,
    isTest: isTestRequest(account, request),
    idempotencies,
    async prepare() {
      checkout = newCheckout(ports, merchantAccount, request);
      // Before the entry. Until the response no one can know the page, so one without an entry just expires.
      const deadline = checkout.acceptedAt + ports.replyTimeoutMs;
      await repeatUntil(ports, deadline, 'the insert of a card-entry page', () =>
        ports.checkouts.insert(checkout, checkout.expiresAt + SWEEP_AFTER_EXPIRY_MS),
      );
      const kept = idempotency === undefined ? {} : { idempotency, response: answerOf(checkout).body };
      return { ...entryOf(ports, checkout), ...kept };
    },
    carryOut: async () => answerOf(checkout),
    unknown: () => failure(session, ports.now(), RESPONSE_CODES.OUTCOME_UNKNOWN),
    // Repeating the Idempotency-Key opens the page. Without a key no one can know its address, so nothing can be paid
    // there, and a merchant that waits for a callback gets ERROR 11. Otherwise the id stays free.
    late: (entry) =>
      callbackUrl === undefined || idempotency !== undefined
        ? undefined
        : { entry, afterwards: () => ports.bus.announceOutcome(lostPage(entry, request, callbackUrl)) },
  };
}

/** The end of a request whose page no one will ever see. */
function lostPage(entry: OperationEntry, request: CheckoutRequest, callbackUrl: string): AnnounceOutcomeData {
  const { paymentId, reference, merchantAccount, acceptedAt } = entry;
  const { transactionType, transactionUniqueId, amountE4, currency, notes } = request;
  const lost = { transactionType, transactionUniqueId, amountE4, currency, acceptedAt, notes };
  return { paymentId, reference, merchantAccount, callbackUrl, lostPage: lost };
}

function newCheckout(ports: CheckoutPorts, merchantAccount: string, request: CheckoutRequest): OpenCheckout {
  const acceptedAt = ports.now();
  return {
    id: Buffer.from(ports.randomBytes(PAGE_ID_BYTES)).toString('base64url'),
    merchantAccount,
    paymentId: newPaymentId(ports.randomBytes),
    request,
    acceptedAt,
    expiresAt: acceptedAt + ports.checkoutLifetimeMs,
    state: 'open',
  };
}

/** The entry that keeps the id of a page. */
export function entryOf(ports: Pick<CheckoutPorts, 'randomBytes'>, checkout: Checkout): OperationEntry {
  const { id, paymentId, merchantAccount, request, acceptedAt, expiresAt } = checkout;
  return {
    reference: newReference(paymentId, ports.randomBytes),
    paymentId,
    merchantAccount,
    space: 'card',
    transactionUniqueId: request.transactionUniqueId,
    operationType: request.transactionType,
    checkoutId: id,
    ...testMark(isTestCurrency(request.currency)),
    acceptedAt,
    deadline: expiresAt,
  };
}
