import type { OperationOutcome } from '@gateway/contracts';
import { RESPONSE_CODES, paymentIdOf, maskCardNumbers } from '@gateway/contracts';
import type { CheckRequest } from '../domain/card-request';
import { situationOf } from '../domain/checkout';
import { isAttempt } from './checkout-attempts';
import { pendingOutcome } from './pending-outcome';
import type { Checkout, Checkouts, ListedEntry, Ports } from './ports';
import type { Answer, CheckoutStatus, Session } from './responses';
import { checkRecord, checkResponse } from './responses';

/** decisions.md, section 4: the VOID at the end of a hold is named after its AUTH. */
const EXPIRY_PREFIX = 'expiry-';

/**
 * CHECK: the requested operation, then those based on it, directly or not, oldest first. The id of a card-entry page
 * covers all its attempts; before the first one, nothing was submitted. The answer says whether more may follow.
 */
export async function check(
  ports: CheckPorts,
  session: Session,
  merchantAccount: string,
  request: CheckRequest,
): Promise<Answer> {
  const reference = await referenceAsked(ports, merchantAccount, request);
  if (reference === undefined) return checkResponse(session, RESPONSE_CODES.TRANSACTION_NOT_FOUND, []);
  const { entries, page } = await read(ports, merchantAccount, reference);
  const journalled = entries.filter(isOperation);
  let operations: OperationOutcome[];
  try {
    operations = withUnderWay(await onRecord(ports, merchantAccount, reference, journalled), journalled);
  } catch (error) {
    ports.logger.warn('CHECK got no answer from the owner', { reference: maskCardNumbers(reference), error });
    // Not even "pending" about an open request: its entry stays open for a while after the merchant got the outcome.
    return checkResponse(session, RESPONSE_CODES.SERVICE_UNAVAILABLE, []);
  }
  const asked = operations.filter((operation) => isAsked(operation, request));
  const found =
    asked.length === 0
      ? checkResponse(session, RESPONSE_CODES.TRANSACTION_NOT_FOUND, [])
      : checkResponse(session, RESPONSE_CODES.SUCCESS, withDependents(asked, operations).map(checkRecord));
  return page === undefined ? found : { ...found, checkoutStatus: statusOfPage(page, entries, operations) };
}

export type CheckPorts = Ports & { readonly checkouts: Pick<Checkouts, 'find'> };

/** `gone`: a day after its end. */
type Page = Checkout['state'] | 'gone';

/**
 * The entries of a payment, and the state of its card-entry page. The page is read before the entries that count: once it
 * has ended, no other attempt can follow those.
 */
async function read(
  ports: CheckPorts,
  merchantAccount: string,
  reference: string,
): Promise<{ entries: ListedEntry[]; page?: Page }> {
  const entries = await journalledOf(ports, merchantAccount, reference);
  const checkoutId = entries.find((entry) => entry.checkoutId !== undefined)?.checkoutId;
  if (checkoutId === undefined) return { entries };
  const checkout = await ports.checkouts.find(checkoutId);
  const page = checkout === undefined ? 'gone' : checkout.state;
  return { entries: await journalledOf(ports, merchantAccount, reference), page };
}

/** `ended` once nobody can pay there any more, and every outcome is known. A time that is over is not yet an end: sweepers see to it. */
function statusOfPage(
  page: Page,
  entries: readonly ListedEntry[],
  operations: readonly OperationOutcome[],
): CheckoutStatus {
  const outcomes = new Map(operations.map((operation) => [operation.reference, operation]));
  const isClosed = entries.some((entry) => entry.checkoutId !== undefined && entry.attempt !== undefined);
  const attempts = entries
    .filter(isAttempt)
    .map(({ attempt: n, reference }) => ({ n, reference, outcome: outcomes.get(reference) }));
  const { kind } = situationOf(attempts, page !== 'open' || isClosed);
  return kind === 'finished' || kind === 'expired' ? 'ended' : 'open';
}

/** False for the entry that keeps the id of a card-entry page: only the attempts on it are operations. */
function isOperation({ checkoutId }: ListedEntry): boolean {
  return checkoutId === undefined;
}

/** The owner's record of the payment. A refused attempt may have a record of its own. */
async function onRecord(
  ports: Ports,
  merchantAccount: string,
  reference: string,
  journalled: readonly ListedEntry[],
): Promise<OperationOutcome[]> {
  const payment = await ports.queries.payment(merchantAccount, reference);
  const known = new Set(payment.map((operation) => operation.reference));
  const elsewhere = await Promise.all(
    journalled
      .filter((entry) => isAttempt(entry) && !known.has(entry.reference))
      .map((entry) => ports.queries.outcome(merchantAccount, entry.reference)),
  );
  return [...payment, ...elsewhere.filter((outcome) => outcome !== undefined)];
}

async function referenceAsked(
  ports: Ports,
  merchantAccount: string,
  { by }: CheckRequest,
): Promise<string | undefined> {
  if ('reference' in by) return by.reference;
  const entry = await ports.journal.findByUniqueId(merchantAccount, 'card', by.transactionUniqueId);
  if (entry !== undefined) return entry.reference;
  return by.transactionUniqueId.startsWith(EXPIRY_PREFIX)
    ? by.transactionUniqueId.slice(EXPIRY_PREFIX.length)
    : undefined;
}

function isAsked(operation: OperationOutcome, { by }: CheckRequest): boolean {
  return 'reference' in by
    ? operation.reference === by.reference
    : operation.transactionUniqueId === by.transactionUniqueId;
}

/** Read before asking the owner: an entry that the owner takes up in between is then in both, never in neither. */
async function journalledOf(ports: Ports, merchantAccount: string, reference: string): Promise<ListedEntry[]> {
  const [payment, own] = await Promise.all([
    ports.journal.findByPayment(merchantAccount, paymentIdOf(reference)),
    ports.journal.findByReference(merchantAccount, 'card', reference),
  ]);
  return own === undefined ? payment : [own, ...payment.filter((entry) => entry.reference !== reference)];
}

/** The owner's records and, as pending, requests still on their way to it. */
function withUnderWay(onRecord: readonly OperationOutcome[], journalled: readonly ListedEntry[]): OperationOutcome[] {
  const known = new Set(onRecord.map((operation) => operation.reference));
  const underWay = journalled.filter((entry) => !known.has(entry.reference)).map(pendingOutcome);
  return [...onRecord, ...underWay].sort((a, b) => a.timestamp - b.timestamp);
}

/** Both oldest first, by the clocks of the accepting replicas, so a dependent may come before its base. */
function withDependents(
  asked: readonly OperationOutcome[],
  operations: readonly OperationOutcome[],
): OperationOutcome[] {
  const included = new Set(asked.map(({ reference }) => reference));
  let before: number;
  do {
    before = included.size;
    for (const { reference, baseReference } of operations) {
      if (baseReference !== undefined && included.has(baseReference)) included.add(reference);
    }
  } while (included.size > before);
  const dependents = operations.filter((operation) => included.has(operation.reference) && !asked.includes(operation));
  return [...asked, ...dependents];
}
