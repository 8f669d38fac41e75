import { createResolver } from '@gateway/mongo';
import type { FairWork } from '@gateway/service-kit';
import { isRetryable } from '@gateway/service-kit';
import { customFieldsOf } from './custom-fields';
import type { Dispatcher } from './dispatcher';
import type { IncompleteCallback, Ports } from './ports';
import { storeDelivery } from './store-delivery';

/** Longer than a query and three writes usually take. */
const LEASE_MS = 5_000;
const AT_ONCE = 16;
const AT_ONCE_PER_ACCOUNT = 8;
/** Without a scan after a failure: an owner that is away must not be asked about thousands of callbacks at once. */
const PAUSE_MS = 2_000;

/** Reads the custom values of incomplete callbacks until their owner names them, and makes deliveries of them. */
export function createCompleter(ports: Ports, dispatcher: Dispatcher, everyMs: number): FairWork {
  const { due } = ports.incompletes;
  let pausesUntil = 0;
  return createResolver<IncompleteCallback>({
    name: 'reading custom parameters',
    everyMs,
    due: {
      ...due,
      accounts: async (now, after, limit) => (now < pausesUntil ? [] : due.accounts(now, after, limit)),
    },
    leaseMs: LEASE_MS,
    correlationId: ({ correlationId }) => correlationId,
    async resolve(incomplete) {
      try {
        await complete(ports, dispatcher, incomplete);
      } catch (error) {
        if (isRetryable(error)) pausesUntil = ports.now() + PAUSE_MS;
        throw error;
      }
    },
    parallel: AT_ONCE,
    parallelPerAccount: AT_ONCE_PER_ACCOUNT,
    now: ports.now,
    tracer: ports.tracer,
    logger: ports.logger,
  });
}

/** A crash before the removal repeats this: the delivery is known then. */
async function complete(ports: Ports, dispatcher: Dispatcher, incomplete: IncompleteCallback): Promise<void> {
  const { _id: eventId, callback, dueClockMs } = incomplete;
  const merchant = await ports.merchants.find(callback.merchantAccount);
  const custom = await customFieldsOf(ports, callback, merchant);
  const arrived = { eventId, callback, ...(dueClockMs === undefined ? {} : { dueClockMs }) };
  await storeDelivery(ports, dispatcher, arrived, merchant, custom);
  await ports.incompletes.remove(eventId);
}
