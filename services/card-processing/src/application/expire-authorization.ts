import type { ExpireAuthorizationData } from '@gateway/contracts';
import type { Place } from '@gateway/outbound';
import { untilWritten } from '@gateway/service-kit';
import { decideExpiry } from '../domain/decide-expiry';
import { callAcquirer, callTimeoutMs } from './call-acquirer';
import type { Ports, StoredPayment } from './ports';
import { record } from './record';

/**
 * The hold of an authorization is over: unless it was settled or voided, a VOID goes the way that a merchant's does, with
 * nobody to reply to. Asked again it has no second effect: the state decides, and a call whose outcome is not known is
 * the resolver's. Where no place is free among the calls for such VOIDs, nothing happens: auth-expiry asks again.
 */
export async function expireAuthorization(
  ports: Ports,
  data: ExpireAuthorizationData,
  causationId: string,
): Promise<void> {
  const { payment, place } = await untilWritten(() => takeUp(ports, data, causationId));
  if (payment === null) {
    ports.logger.warn('an authorization to expire is not on record', { reference: data.reference });
    return;
  }
  if (place === undefined) return ports.publishEvents(payment);
  await ports.calls.begin(async () =>
    ports.publishEvents(await callAcquirer(ports, payment, { request: {}, causationId, place })),
  );
}

interface TakenUp {
  payment: StoredPayment | null;
  /** For the call, when this very run stored the intent. */
  place?: Place;
}

async function takeUp(
  ports: Ports,
  { paymentId, merchantAccount, reference }: ExpireAuthorizationData,
  causationId: string,
): Promise<TakenUp | undefined> {
  const stored = await ports.payments.load(paymentId);
  if (stored?.merchantAccount !== merchantAccount) return { payment: null };
  const now = ports.now();
  const decided = decideExpiry(stored, { reference, now });
  if (decided === 'too-many-operations') {
    ports.logger.error('a hold cannot be voided any more; ask the acquirer', { reference });
    return { payment: stored };
  }
  if (decided.length === 0) return { payment: stored };
  const place = placeFor(ports, stored);
  if (place === undefined) return { payment: stored };
  const extras = { resolveAt: now + callTimeoutMs(ports, stored.route) };
  const target = { id: paymentId, merchantAccount, stored };
  const payment = await record(ports, target, decided, extras, causationId).catch((error: unknown) => {
    place.leave();
    throw error;
  });
  if (payment === undefined) place.leave();
  return payment && { payment, place };
}

/** Without a connector the VOID fails on record, which calls an operator. */
function placeFor(ports: Ports, { route, merchantAccount }: StoredPayment): Place | undefined {
  const connector = route && ports.connector(route.acquirer);
  return connector === undefined ? { leave: () => undefined } : connector.placeForExpiry(merchantAccount);
}
