import { currentTrace } from '@gateway/service-kit';
import type { Callback, Field, Outcome } from '../domain/callback';
import { callbackOf } from '../domain/callback';
import type { Delivery, DeliveryEvent } from '../domain/delivery';
import { LEASE_MS } from './attempt-delivery';
import type { Dispatcher } from './dispatcher';
import type { Merchant, Ports } from './ports';

/**
 * Stores the callback of a committed outcome, once per event. If there is a place, one write stores it, takes its lease and
 * puts the first attempt on record, which follows. Throws a RetryableError if it cannot be stored; the event is then
 * redelivered.
 */
export async function acceptOutcome(
  ports: Ports,
  dispatcher: Dispatcher,
  eventId: string,
  outcome: Outcome,
): Promise<void> {
  const { merchantAccount } = outcome;
  const merchant = await ports.merchants.find(merchantAccount);
  const callback = callbackOf(outcome, await customFields(ports, outcome, merchant));
  await store(ports, dispatcher, eventId, { callback, ...(await movedTime(ports, outcome)) });
  // Also for a known delivery: a crash may have come between the two writes.
  if (merchant?.isSandbox === true) await ports.feed.append({ id: eventId, merchantAccount, deliveryId: eventId });
}

/** What the moves of a sandbox account's clock leave for the retries of what happened in one of them. */
async function movedTime(
  { merchants }: Pick<Ports, 'merchants'>,
  { merchantAccount, dueClockMs }: Outcome,
): Promise<Pick<Delivery, 'clockMs' | 'aheadMs'>> {
  if (dueClockMs === undefined) return {};
  const clockMs = await merchants.clockAheadMs(merchantAccount);
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

/** decisions.md, section 8: only parameters that the account has activated and the outcome has a value for. */
async function customFields(ports: Ports, outcome: Outcome, merchant: Merchant | undefined): Promise<Field[]> {
  const { kind, reference } = outcome;
  if (merchant === undefined || merchant.customParameters.length === 0) return [];
  const values = await ports.customValues(outcome);
  if (values === undefined) {
    ports.logger.warn('the owner of an outcome does not know what it has published; no custom parameters', {
      kind,
      reference,
    });
  }
  return merchant.customParameters.flatMap((name) => {
    const value = values?.[name];
    return value === undefined ? [] : [[name, value] as const];
  });
}
