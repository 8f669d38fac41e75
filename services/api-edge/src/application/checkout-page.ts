import { isAnswered, isTestCurrency, returnAddress } from '@gateway/contracts';
import { assertNever } from '@gateway/service-kit';
import type { RawFields } from '../domain/body';
import { boundedText } from '../domain/body';
import type { CardFormProblem, KeptValues } from '../domain/card-form';
import { readCardForm } from '../domain/card-form';
import type { FullCard } from '../domain/card-request';
import type { Attempt, Situation } from '../domain/checkout';
import { attemptsOf, situationOfCheckout } from './checkout-attempts';
import type { CheckoutPorts } from './checkout-ports';
import { pageUrlOf } from './checkout-ports';
import type { OperationRequest } from './commands';
import { offer, prepareOperation } from './offer';
import type { Checkout, OpenCheckout } from './ports';
import { outcomeOf } from './submit';

/** What the browser shows. */
export type PageAnswer =
  | { readonly kind: 'not-found' }
  | {
      readonly kind: 'form';
      readonly checkout: Checkout;
      readonly situation: Extract<Situation, { kind: 'form' }>;
      /** From the submitted form, if any. */
      readonly problems: readonly CardFormProblem[];
      readonly kept: KeptValues;
    }
  | { readonly kind: 'waiting'; readonly checkout: Checkout; readonly acsUrl?: string | undefined }
  | { readonly kind: 'expired'; readonly checkout: Checkout; readonly returnUrl: string }
  /** Nothing was charged, and nothing will be until the cardholder tries again. */
  | { readonly kind: 'unavailable' | 'closed'; readonly checkout: Checkout }
  /** The pages of this account are too busy: the request was not examined. */
  | { readonly kind: 'busy'; readonly checkout: Checkout }
  | { readonly kind: 'see-other'; readonly checkout: Checkout; readonly location: string };

/**
 * A page that is over sends browsers on to the merchant. After a day no cardholder comes back to it, and whoever passes
 * its address on wants our name in front of theirs. Of the time that has really passed: a moved clock ends no page.
 */
export const PAGE_KNOWN_MS = 24 * 3_600_000;

/** The number of an attempt has one digit. */
const ATTEMPT_LENGTH_MAX = 1;

const NOTHING_TYPED: KeptValues = { cardExp: '', cardHolder: '', fromOtherCard: false };

/**
 * The current card-entry page. `returnedReference` names the attempt whose challenge the browser comes from: it is not
 * sent there again, however long the following charge takes.
 */
export async function showCheckout(
  ports: CheckoutPorts,
  id: string,
  returnedReference: string | undefined,
): Promise<PageAnswer> {
  return withSlot(ports, id, (checkout) => showPage(ports, checkout, returnedReference));
}

/** Pages count for their account. */
async function withSlot(
  ports: CheckoutPorts,
  id: string,
  work: (checkout: Checkout) => Promise<PageAnswer>,
): Promise<PageAnswer> {
  const checkout = await ports.checkouts.find(id);
  if (checkout === undefined || ports.now() >= checkout.acceptedAt + PAGE_KNOWN_MS) return { kind: 'not-found' };
  const slot = await ports.takePageSlot(checkout.merchantAccount);
  if (slot === undefined) return { kind: 'busy', checkout };
  try {
    return await work(checkout);
  } finally {
    slot.release();
  }
}

async function showPage(
  ports: CheckoutPorts,
  checkout: Checkout,
  returnedReference: string | undefined,
): Promise<PageAnswer> {
  const situation = await situationOfCheckout(ports, checkout);
  switch (situation.kind) {
    case 'form':
      return { kind: 'form', checkout, situation, problems: [], kept: NOTHING_TYPED };
    case 'expired': {
      const { redirectUrl, transactionUniqueId } = checkout.request;
      return { kind: 'expired', checkout, returnUrl: returnAddress(redirectUrl, { transactionUniqueId }) };
    }
    case 'waiting':
      return situation.attempt.reference === returnedReference
        ? { kind: 'waiting', checkout, acsUrl: situation.acsUrl }
        : (elsewhere(checkout, situation) ?? { kind: 'waiting', checkout });
    case 'finished':
      return finished(checkout, situation.attempt);
    default:
      return assertNever(situation);
  }
}

function finished(checkout: Checkout, { reference }: Attempt): PageAnswer {
  const { redirectUrl, transactionUniqueId } = checkout.request;
  return { kind: 'see-other', checkout, location: returnAddress(redirectUrl, { reference, transactionUniqueId }) };
}

/** Leaves the page: to the issuer's challenge, or back to the merchant. */
function elsewhere(checkout: Checkout, situation: Situation): PageAnswer | undefined {
  if (situation.kind === 'finished') return finished(checkout, situation.attempt);
  if (situation.kind !== 'waiting' || situation.acsUrl === undefined) return undefined;
  return { kind: 'see-other', checkout, location: situation.acsUrl };
}

/** A form with a card, and the address that it came from. */
export interface SubmittedForm {
  readonly fields: RawFields;
  readonly browserIp: string;
}

/**
 * Handles a submitted card. The form carries the number of its attempt, and the journal admits each number once: a
 * double click, a reload and a form from the browser's history end where the first submission does.
 */
export async function submitCard(ports: CheckoutPorts, id: string, submitted: SubmittedForm): Promise<PageAnswer> {
  return withSlot(ports, id, (checkout) => submitTo(ports, checkout, submitted));
}

async function submitTo(ports: CheckoutPorts, checkout: Checkout, submitted: SubmittedForm): Promise<PageAnswer> {
  const { fields, browserIp } = submitted;
  const situation = await situationOfCheckout(ports, checkout);
  if (situation.kind === 'waiting') await untilTellable(ports, checkout, situation.attempt);
  if (checkout.state !== 'open' || situation.kind !== 'form') return goOn(ports, checkout);
  if (boundedText(fields.get('attempt'), ATTEMPT_LENGTH_MAX) !== String(situation.attempt))
    return goOn(ports, checkout);

  const form = readCardForm(fields);
  if (!form.ok) return { kind: 'form', checkout, situation, problems: form.problems, kept: form.kept };
  if (!(await ports.accountIsOpen(checkout.merchantAccount))) return { kind: 'closed', checkout };
  return attempt(ports, checkout, { n: situation.attempt, card: form.card, browserIp });
}

async function attempt(
  ports: CheckoutPorts,
  checkout: OpenCheckout,
  { n, card, browserIp }: { n: number; card: FullCard; browserIp: string },
): Promise<PageAnswer> {
  // Right before the attempt, because the sweeper counts from here how long it may take.
  if (ports.now() >= checkout.expiresAt) return goOn(ports, checkout);
  const { merchantAccount, paymentId } = checkout;
  const request = attemptRequest(ports, checkout, card);
  const isTest = isTestCurrency(checkout.request.currency);
  const offered = await offer(ports, () =>
    prepareOperation(ports, { merchantAccount, request, isTest, attempt: { n, paymentId, browserIp } }),
  );
  switch (offered.kind) {
    case 'unavailable':
      return { kind: 'unavailable', checkout };
    case 'accepted': {
      const outcome = await outcomeOf(ports, offered.entry);
      if (outcome !== undefined) ports.closer.close(offered.entry);
      return goOn(ports, checkout);
    }
    case 'refused': {
      // Another submission of the same form came first; its outcome counts.
      const first = (await attemptsOf(ports, checkout)).find((made) => made.n === n);
      if (first !== undefined) await untilTellable(ports, checkout, first);
      return goOn(ports, checkout);
    }
    case 'unknown':
      return toPage(ports, checkout);
    default:
      return assertNever(offered);
  }
}

/** The merchant's request with the card. After a challenge the browser returns to the page, which decides. */
function attemptRequest(ports: CheckoutPorts, { id, request }: OpenCheckout, instrument: FullCard): OperationRequest {
  const { redirectUrl: _, transactionType, ...charge } = request;
  return transactionType === 'SALE3D'
    ? { ...charge, transactionType, instrument, redirectUrl: pageUrlOf(ports, id) }
    : { ...charge, transactionType, instrument };
}

async function untilTellable(ports: CheckoutPorts, checkout: Checkout, { reference, outcome }: Attempt): Promise<void> {
  if (outcome === undefined || !isAnswered(outcome)) await ports.pending.wait(checkout.merchantAccount, reference);
}

/** The browser's next address after a POST: never directly to another form, so that a reload repeats nothing. */
async function goOn(ports: CheckoutPorts, checkout: Checkout): Promise<PageAnswer> {
  return elsewhere(checkout, await situationOfCheckout(ports, checkout)) ?? toPage(ports, checkout);
}

/** By path only: the browser is already there, under whatever host name. */
function toPage(ports: CheckoutPorts, checkout: Checkout): PageAnswer {
  return { kind: 'see-other', checkout, location: new URL(pageUrlOf(ports, checkout.id)).pathname };
}
