import type { Customer, Secret } from '@gateway/contracts';
import { RESPONSE_CODES } from '@gateway/contracts';
import type { Place } from '@gateway/outbound';
import { untilWritten } from '@gateway/service-kit';
import type { CardData } from '@gateway/vault';
import type { AcquirerAnswer, CallDeadline } from '../domain/decide';
import { decideAnswer, lateAnswer } from '../domain/decide';
import type { AuthenticationResult, PendingCall, Route } from '../domain/payment';
import { findOperation } from '../domain/payment';
import type { AcquirerRequest, Ports, StoredPayment } from './ports';
import { record } from './record';

/** The acquirer is asked soon about a call that ended without an answer: nothing of ours is under way any more. */
const FIRST_INQUIRY_AFTER_MS = 500;

/** How long after its time a call may still be under way in a process that is slow. */
const LEASE_MARGIN_MS = 2_000;

export interface CallContext {
  request: { amountE4?: number; customer?: Customer; withCvv?: boolean; card?: Secret<CardData> };
  causationId: string;
  /** The end of a hold has none: the payment's state decides. */
  deadline?: CallDeadline;
  /** For the end of a hold. It is left whatever happens. */
  place?: Place;
}

/** From the intent on, how long nobody else may look for the outcome of a call. */
export function callTimeoutMs(ports: Pick<Ports, 'connector'>, route: Route | undefined): number {
  const connector = route && ports.connector(route.acquirer);
  return (connector?.longestCallMs ?? 0) + LEASE_MARGIN_MS;
}

/**
 * Makes the pending call of a payment whose intent was stored just now, and stores what came of it. The call may wait for
 * its turn and for the acquirer, so it belongs into `ports.calls`: nobody's message waits for it.
 */
export async function callAcquirer(ports: Ports, payment: StoredPayment, context: CallContext): Promise<StoredPayment> {
  const { pending } = payment;
  if (pending === undefined) throw new Error('broken invariant: a call without an intent');
  const answer = await answerOf(ports, payment, pending, context).finally(() => context.place?.leave());
  return recordAnswer(ports, payment, pending.reference, answer, context.causationId);
}

async function answerOf(
  ports: Ports,
  payment: StoredPayment,
  pending: PendingCall,
  context: CallContext,
): Promise<AcquirerAnswer> {
  const { deadline } = context;
  const connector = payment.route && ports.connector(payment.route.acquirer);
  if (connector === undefined) return { kind: 'not-executed', code: RESPONSE_CODES.BANK_CONNECTION_ERROR };
  const card = await cardOf(ports, pending, context);
  // Purged between the authentication and its sale.
  if (card === 'card-gone') return { kind: 'not-executed', code: RESPONSE_CODES.TOKEN_NOT_FOUND };
  if (card === 'cvv-gone') return { kind: 'not-executed', code: RESPONSE_CODES.PROCESSING_ERROR };
  const authentication = authenticationOf(payment, pending.reference);
  // A VOID has none of its own.
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
    ...(deadline === undefined ? {} : { lateAnswer: () => lateAnswer(deadline, ports.now()) }),
  });
}

/** A SALE3D's own authentication, or that of the AUTH3D which a charge relies on. */
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

/** Reads the CVV, once, after the intent is stored: whoever finds the intent later never calls with it again. */
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

/** Feeds an answer back in. An operation that has ended meanwhile stays as it ended. */
export async function recordAnswer(
  ports: Ports,
  payment: StoredPayment,
  reference: string,
  answer: AcquirerAnswer,
  causationId?: string,
): Promise<StoredPayment> {
  let current: StoredPayment | null = payment;
  return untilWritten(async () => {
    current ??= await ports.payments.load(payment._id);
    if (current === null) throw new Error(`broken invariant: payment ${payment._id} has vanished`);
    const now = ports.now();
    const events = decideAnswer(current, reference, answer, { now, holdSeconds: holdSeconds(ports, current) });
    if (events.length === 0) return current;
    const target = { id: current._id, merchantAccount: current.merchantAccount, stored: current };
    const stored = await record(
      ports,
      target,
      events,
      { resolveAt: now + FIRST_INQUIRY_AFTER_MS, inquiries: 0 },
      causationId,
    );
    current = null;
    return stored;
  });
}

function holdSeconds(ports: Ports, payment: StoredPayment): number {
  return payment.route?.holdSeconds ?? ports.holdSeconds;
}
