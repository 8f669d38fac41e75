import { CHECKOUT_ATTEMPTS_MAX } from '@gateway/contracts';
import { RetryableError } from '@gateway/service-kit';
import type { Situation } from '../domain/checkout';
import { situationOf } from '../domain/checkout';
import type { Subject } from '../domain/subject';
import type { Incoming } from './admit';
import { attemptsOf } from './checkout-attempts';
import type { CheckoutPorts } from './checkout-ports';
import { checkoutExpiryEndpoint } from './endpoints';
import { entryOf } from './handle-checkout-request';
import { handleRequest } from './handle-request';
import type { Checkout, OperationEntry } from './ports';
import { repeatUntil } from './repeat-until';
import type { Answer, ClosedState, Session } from './responses';
import { checkoutClosedResponse, notFound } from './responses';

/** `POST /api/pf/checkout/expire`: closes a card-entry page at once. Repeating it is harmless. */
export function handleCheckoutExpiry(ports: CheckoutPorts, incoming: Incoming): Promise<Answer> {
  return handleRequest(ports, incoming, checkoutExpiryEndpoint, {
    checkRules: () => undefined,
    carryOut: (session, { merchantAccount }, request) => expire(ports, session, merchantAccount, request),
  });
}

async function expire(
  ports: CheckoutPorts,
  session: Session,
  merchantAccount: string,
  request: Subject,
): Promise<Answer> {
  const page = await pageOf(ports, merchantAccount, request);
  const checkout = page?.checkoutId === undefined ? undefined : await ports.checkouts.find(page.checkoutId);
  if (page === undefined || checkout === undefined)
    return notFound(session, ports.now(), 'reference' in request ? 'reference' : 'transaction_unique_id');
  const { transactionUniqueId } = page;
  const state = stateOf(await closeCheckout(ports, checkout));
  return checkoutClosedResponse(session, ports.now(), { transactionUniqueId, state });
}

/** The entry that reserves the page's id; its attempts have the same one. */
async function pageOf(
  { journal }: CheckoutPorts,
  merchantAccount: string,
  request: Subject,
): Promise<OperationEntry | undefined> {
  const id =
    'reference' in request
      ? (await journal.findByReference(merchantAccount, 'card', request.reference))?.transactionUniqueId
      : request.transactionUniqueId;
  return id === undefined ? undefined : journal.findByUniqueId(merchantAccount, 'card', id);
}

/** In the words of decisions.md, section 11. */
function stateOf(situation: Situation): ClosedState {
  if (situation.kind === 'waiting') return 'under_way';
  return situation.kind === 'finished' && situation.succeeded ? 'paid' : 'expired';
}

/**
 * First the page stops showing its form. Then the journal decides against a card that is being submitted: whoever takes
 * the number of the next attempt comes first. A submission that read the page before it was closed can have no other
 * number, because the form carries it.
 *
 * @returns what can still happen: nothing, unless an attempt is under way
 */
export async function closeCheckout(ports: CheckoutPorts, checkout: Checkout): Promise<Situation> {
  if (checkout.state === 'open') await ports.checkouts.close(checkout.id, ports.now());
  const before = await attemptsOf(ports, checkout);
  const situation = situationOf(before, true);
  const mayBeSubmitted = checkout.state === 'open' && before.length < CHECKOUT_ATTEMPTS_MAX;
  if (!mayBeSubmitted || (situation.kind === 'finished' && situation.succeeded)) return situation;
  if (await takeNumber(ports, checkout, before.length + 1)) return situation;
  return situationOf(await attemptsOf(ports, checkout), true);
}

/** False if it was taken: by an attempt, or by an earlier request to close the page. */
async function takeNumber(ports: CheckoutPorts, checkout: Checkout, attempt: number): Promise<boolean> {
  const entry = { ...entryOf(ports, checkout), attempt };
  const deadline = ports.now() + ports.replyTimeoutMs;
  const insertion = await repeatUntil(ports, deadline, 'closing a card-entry page', () =>
    ports.journal.insertAgain(entry),
  );
  if (insertion === 'reference-taken') throw new RetryableError('the reference was drawn before');
  return insertion === 'inserted';
}
