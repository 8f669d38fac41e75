import type { Customer, Secret } from '@gateway/contracts';
import { RESPONSE_CODES } from '@gateway/contracts';
import { callLeaseMs, inquiryDelayMs } from '@gateway/mongo';
import type { Place } from '@gateway/outbound';
import type { CardData } from '@gateway/vault';
import { CVV_KEY_WAIT_MS } from '@gateway/vault';
import type { AcquirerAnswer, CallDeadline } from '../domain/decide';
import { decideAnswer, lateAnswer, leaseDeadline } from '../domain/decide';
import type { AuthenticationResult, PendingCall, Route } from '../domain/payment';
import { findOperation } from '../domain/payment';
import type { AcquirerRequest, Ports, StoredPayment } from './ports';

export interface CallContext {
  request: { amountE4?: number; customer?: Customer; withCvv?: boolean; card?: Secret<CardData> };
  causationId: string;
  /** Absent for the VOID of an expired hold: only the payment's state decides. */
  deadline?: CallDeadline;
  /** Reserved for the VOID of an expired hold. Always released. */
  place?: Place;
}

/**
 * Epoch ms from which another process may look for the outcome of a call that begins now.
 *
 * @param withCvv the call is preceded by reading a CVV, which may wait for its key
 */
export function leaseEnd(
  ports: Pick<Ports, 'connector' | 'now'>,
  route: Route | undefined,
  { withCvv }: { withCvv: boolean },
): number {
  const connector = route && ports.connector(route.acquirer);
  const cvvMs = withCvv ? CVV_KEY_WAIT_MS : 0;
  return ports.now() + callLeaseMs(cvvMs + (connector?.longestCallMs ?? 0));
}

/**
 * Makes the pending call of a payment whose intent this process has just stored, and records the answer. Run it in
 * `ports.calls`, because it may wait for its turn and for the acquirer.
 */
export async function callAcquirer(ports: Ports, payment: StoredPayment, context: CallContext): Promise<StoredPayment> {
  const { pending } = payment;
  if (pending === undefined) throw new Error('broken invariant: a call without an intent');
  if (pending.lost !== undefined) throw new Error(`broken invariant: ${pending.reference} may have been called`);
  const answer = await answerOf(ports, payment, pending, context).finally(() => context.place?.leave());
  return recordAnswer(ports, payment, pending.reference, answer, context.causationId);
}

async function answerOf(
  ports: Ports,
  payment: StoredPayment,
  pending: PendingCall,
  context: CallContext,
): Promise<AcquirerAnswer> {
  const connector = payment.route && ports.connector(payment.route.acquirer);
  if (connector === undefined) return { kind: 'not-executed', code: RESPONSE_CODES.BANK_CONNECTION_ERROR };
  const card = await cardOf(ports, pending, context);
  // The card was purged between the authentication and its sale.
  if (card === 'card-gone') return { kind: 'not-executed', code: RESPONSE_CODES.TOKEN_NOT_FOUND };
  if (card === 'cvv-gone') return { kind: 'not-executed', code: RESPONSE_CODES.PROCESSING_ERROR };
  const authentication = authenticationOf(payment, pending.reference);
  const deadlines = [
    ...(context.deadline === undefined ? [] : [context.deadline]),
    leaseDeadline(payment, connector.callMs),
  ];
  // A VOID has no amount of its own.
  const currency = findOperation(payment, pending.reference)?.currency ?? currencyOf(payment);
  return connector.operate(pending.kind, {
    reference: pending.reference,
    merchantAccount: payment.merchantAccount,
    currency,
    midReference: payment.route?.midReference ?? '',
    ...(context.request.amountE4 === undefined ? {} : { amountE4: context.request.amountE4 }),
    ...(context.request.customer === undefined ? {} : { customer: context.request.customer }),
    ...(pending.originalTransactionId === undefined ? {} : { originalTransactionId: pending.originalTransactionId }),
    ...(card === undefined ? {} : { card }),
    ...(authentication === undefined ? {} : { authentication }),
    ...(context.place === undefined ? {} : { place: context.place }),
    lateAnswer: () => lateAnswer(deadlines, ports.now()),
  });
}

/** A SALE3D's own authentication, or that of the AUTH3D which a purchase relies on. */
function authenticationOf(payment: StoredPayment, reference: string): AuthenticationResult | undefined {
  const operation = findOperation(payment, reference);
  const base = operation?.baseReference === undefined ? undefined : findOperation(payment, operation.baseReference);
  const { ids, eci, authenticationValue } = operation?.authentication ?? base?.authentication ?? {};
  if (ids === undefined || eci === undefined || authenticationValue === undefined) return undefined;
  return { ids, eci, authenticationValue };
}

function currencyOf({ state }: StoredPayment): string {
  return 'hold' in state ? (state.hold?.currency ?? '') : '';
}

/** Reads the CVV once, after the intent is stored. A process that finds the intent later never uses the CVV again. */
async function cardOf(
  ports: Ports,
  pending: PendingCall,
  { request }: CallContext,
): Promise<AcquirerRequest['card'] | 'card-gone' | 'cvv-gone'> {
  if (request.card === undefined) return needsCard(pending) ? 'card-gone' : undefined;
  if (request.withCvv !== true) return { data: request.card };
  const cvv = await ports.cards.takeCvv(pending.reference);
  return cvv === undefined ? 'cvv-gone' : { data: request.card, cvv };
}

function needsCard({ kind }: PendingCall): boolean {
  return kind === 'authorize' || kind === 'sale';
}

/** Records an answer. An operation that has ended since then does not change. */
export async function recordAnswer(
  ports: Ports,
  payment: StoredPayment,
  reference: string,
  answer: AcquirerAnswer,
  causationId?: string,
): Promise<StoredPayment> {
  const decideOn = (current: StoredPayment) => {
    const now = ports.now();
    const facts = { now, holdSeconds: holdSeconds(ports, current), inquireAt: now + inquiryDelayMs(0) };
    return decideAnswer(current, reference, answer, facts);
  };
  const { stored } = await ports.handle(payment, decideOn, { causationId });
  return stored;
}

function holdSeconds(ports: Ports, payment: StoredPayment): number {
  return payment.route?.holdSeconds ?? ports.holdSeconds;
}
