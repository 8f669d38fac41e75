import type { ExpireAuthorizationData } from '@gateway/contracts';
import { untilWritten } from '@gateway/service-kit';
import { decideExpiry } from '../domain/decide-expiry';
import { callAcquirer, callTimeoutMs } from './call-acquirer';
import type { Ports, StoredPayment } from './ports';
import { record } from './record';

/**
 * The hold of an authorization is over: unless it was settled or voided, a VOID goes the way that a merchant's does, with
 * nobody to reply to. Asked again it has no second effect: the state decides, and a call whose outcome is not known is
 * the resolver's.
 */
export async function expireAuthorization(
  ports: Ports,
  data: ExpireAuthorizationData,
  causationId: string,
): Promise<void> {
  const { payment, started } = await untilWritten(() => takeUp(ports, data, causationId));
  if (payment === null) {
    ports.logger.warn('an authorization to expire is not on record', { reference: data.reference });
    return;
  }
  ports.publishEvents(started ? await callAcquirer(ports, payment, { request: {}, causationId }) : payment);
}

interface TakenUp {
  payment: StoredPayment | null;
  /** True when this very run stored the intent. Only then is the acquirer called. */
  started: boolean;
}

async function takeUp(
  ports: Ports,
  { paymentId, merchantAccount, reference }: ExpireAuthorizationData,
  causationId: string,
): Promise<TakenUp | undefined> {
  const stored = await ports.payments.load(paymentId);
  if (stored?.merchantAccount !== merchantAccount) return { payment: null, started: false };
  const now = ports.now();
  const decided = decideExpiry(stored, { reference, now });
  if (decided === 'too-many-operations') {
    ports.logger.error('a hold cannot be voided any more; ask the acquirer', { reference });
    return { payment: stored, started: false };
  }
  if (decided.length === 0) return { payment: stored, started: false };
  const extras = { resolveAt: now + callTimeoutMs(ports, stored.route) };
  const payment = await record(ports, { id: paymentId, merchantAccount, stored }, decided, extras, causationId);
  return payment && { payment, started: true };
}
