import { currentTrace } from '@gateway/service-kit';
import type { Callback, Field } from '../domain/callback';
import { withCustom } from '../domain/callback';
import type { Delivery, DeliveryEvent } from '../domain/delivery';
import { LEASE_MS } from './attempt-delivery';
import type { Dispatcher } from './dispatcher';
import type { Arrived, Merchant, Ports } from './ports';

/**
 * Stores a callback with its custom fields, once per event. If there is a place, one write stores it, takes its lease and
 * puts the first attempt on record, which follows.
 */
export async function storeDelivery(
  ports: Ports,
  dispatcher: Dispatcher,
  arrived: Arrived,
  merchant: Merchant | undefined,
  custom: readonly Field[],
): Promise<void> {
  const { eventId, callback } = arrived;
  const { merchantAccount } = callback;
  const created = { callback: withCustom(callback, custom), ...(await movedTime(ports, arrived)) };
  await store(ports, dispatcher, eventId, created);
  // Also for a known delivery: a crash may have come between the two writes.
  if (merchant?.isSandbox === true) await ports.feed.append({ id: eventId, merchantAccount, deliveryId: eventId });
}

/** What the moves of a sandbox account's clock leave for the retries of what happened in one of them. */
async function movedTime(
  { merchants }: Pick<Ports, 'merchants'>,
  { callback, dueClockMs }: Arrived,
): Promise<Pick<Delivery, 'clockMs' | 'aheadMs'>> {
  if (dueClockMs === undefined) return {};
  const clockMs = await merchants.clockAheadMs(callback.merchantAccount);
  return { clockMs, aheadMs: Math.max(0, clockMs - dueClockMs) };
}

type New = { callback: Callback } & Pick<Delivery, 'clockMs' | 'aheadMs'>;

async function store(ports: Ports, dispatcher: Dispatcher, eventId: string, created: New): Promise<void> {
  const { callback } = created;
  const now = ports.now();
  const hasPlace = dispatcher.reserve(callback.lane);
  try {
    const trace = currentTrace();
    const accepted: DeliveryEvent = {
      type: 'Accepted',
      ...created,
      at: now,
      claimableAt: hasPlace ? now + LEASE_MS : now,
      ...(hasPlace && { firstAttempt: { startedAt: now } }),
      correlationId: trace?.correlationId ?? callback.paymentId,
    };
    const { written, stored } = await ports.handle(eventId, (known) => (known === null ? [accepted] : []), {
      expectNew: true,
    });
    if (!hasPlace) return;
    if (written) return dispatcher.submit(stored);
  } catch (error) {
    if (hasPlace) dispatcher.giveBack(callback.lane);
    throw error;
  }
  dispatcher.giveBack(callback.lane);
}
