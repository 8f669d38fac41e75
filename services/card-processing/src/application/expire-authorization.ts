import type { ExpireAuthorizationData } from '@gateway/contracts';
import type { Place } from '@gateway/outbound';
import type { ExpiryObstacle } from '../domain/decide-expiry';
import { decideExpiry, decideExpiryInRecovery } from '../domain/decide-expiry';
import type { PaymentEvent } from '../domain/payment';
import { callAcquirer, leaseEnd } from './call-acquirer';
import type { Ports, StoredPayment } from './ports';

/**
 * Voids an authorization whose hold has expired, like a merchant's VOID but without a reply, and announces the callbacks
 * that are due. Does nothing if it was settled or voided. Idempotent: the resolver handles a call with an unknown outcome.
 * Voids nothing either without a free place among the calls for such VOIDs, nor in a recovery: auth-expiry asks again.
 */
export async function expireAuthorization(
  ports: Ports,
  { paymentId, merchantAccount, reference }: ExpireAuthorizationData,
  causationId: string,
): Promise<void> {
  const taken: { place: Place | undefined } = { place: undefined };

  const decideOn = (payment: StoredPayment | null) => {
    if (payment?.merchantAccount !== merchantAccount) return 'not-on-record';
    const ask = { reference, now: ports.now(), leaseEnd: leaseEnd(ports, payment.route, { withCvv: false }) };
    if (ports.recovery.current() !== undefined) {
      return decideExpiryInRecovery(payment, ask, ports.recovery.mayHaveBeenHandled);
    }
    const decided = decideExpiry(payment, ask);
    if (typeof decided === 'string' || !decided.some(beginsVoid)) return decided;
    taken.place ??= placeFor(ports, payment);
    return taken.place === undefined ? decided.filter((event) => !beginsVoid(event)) : decided;
  };

  const { written, stored, rejection } = await ports
    .handle<'not-on-record' | ExpiryObstacle>(paymentId, decideOn, { causationId })
    .catch((error: unknown) => {
      taken.place?.leave();
      throw error;
    });
  if (rejection === 'not-on-record') {
    ports.logger.warn('an authorization to expire is not on record', { reference });
  } else if (rejection === 'too-many-operations') {
    ports.logger.error('a hold can no longer be voided; ask the acquirer', { reference });
  }
  if (!written || stored.pending === undefined || stored.pending.lost !== undefined) return taken.place?.leave();
  const context = { request: {}, causationId, ...(taken.place === undefined ? {} : { place: taken.place }) };
  await ports.calls.begin(async () => void (await callAcquirer(ports, stored, context)));
}

function beginsVoid({ type }: PaymentEvent): boolean {
  return type === 'OperationStarted';
}

/** Without a connector the VOID is recorded as failed, which alerts an operator. */
function placeFor(ports: Ports, { route, merchantAccount }: StoredPayment): Place | undefined {
  const connector = route && ports.connector(route.acquirer);
  return connector === undefined ? { leave: () => undefined } : connector.placeForExpiry(merchantAccount);
}
