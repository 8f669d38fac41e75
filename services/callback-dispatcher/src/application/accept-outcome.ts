import { isRetryable } from '@gateway/service-kit';
import type { Field, Outcome } from '../domain/callback';
import { callbackOf } from '../domain/callback';
import { customFieldsOf } from './custom-fields';
import type { Dispatcher } from './dispatcher';
import type { Arrived, Merchant, Ports } from './ports';
import { storeDelivery } from './store-delivery';

/**
 * Stores the callback of a committed outcome, once per event: as a delivery, or as incomplete if its custom values cannot
 * be read now. Throws a RetryableError if it cannot be stored; the event is then redelivered.
 */
export async function acceptOutcome(
  ports: Ports,
  dispatcher: Dispatcher,
  eventId: string,
  outcome: Outcome,
): Promise<void> {
  const { merchantAccount, dueClockMs } = outcome;
  const merchant = await ports.merchants.find(merchantAccount);
  const callback = callbackOf(outcome);
  const arrived: Arrived = { eventId, callback, ...(dueClockMs === undefined ? {} : { dueClockMs }) };
  const custom = await customFieldsNow(ports, arrived, merchant);
  if (custom === 'later') return ports.incompletes.keep(arrived);
  await storeDelivery(ports, dispatcher, arrived, merchant, custom);
}

/**
 * `later` if the owner does not say. An owner that is away must not stop the events of other accounts, which wait for the
 * same handlers.
 */
async function customFieldsNow(
  ports: Ports,
  { callback }: Arrived,
  merchant: Merchant | undefined,
): Promise<Field[] | 'later'> {
  try {
    return await customFieldsOf(ports, callback, merchant);
  } catch (error) {
    if (!isRetryable(error)) throw error;
    const { kind, reference } = callback;
    ports.logger.warn('a callback waits for its custom parameters', { kind, reference, error });
    return 'later';
  }
}
