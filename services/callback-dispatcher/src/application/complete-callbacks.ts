import { createResolver } from '@gateway/mongo';
import type { FairWork } from '@gateway/service-kit';
import type { CallbackKind } from '../domain/callback';
import { customFieldsOf } from './custom-fields';
import type { Dispatcher } from './dispatcher';
import type { IncompleteCallback, Ports } from './ports';
import { storeDelivery } from './store-delivery';

/** Longer than a query and three writes usually take. */
const LEASE_MS = 5_000;
const AT_ONCE = 16;
const AT_ONCE_PER_ACCOUNT = 8;

/**
 * Reads the custom values of incomplete callbacks until their owner names them, and makes deliveries of them. Owners have
 * one each, so one that is away does not delay the callbacks of the other.
 */
export function createCompleter(
  ports: Ports,
  dispatcher: Dispatcher,
  { kind, everyMs }: { kind: CallbackKind; everyMs: number },
): FairWork {
  const due = ports.incompletes.due[kind];
  const gate = ports.ownerGates[kind];
  return createResolver<IncompleteCallback>({
    name: `reading custom parameters (${kind})`,
    everyMs,
    due: { ...due, accounts: async (...range) => (gate.isClosed() ? [] : due.accounts(...range)) },
    leaseMs: LEASE_MS,
    correlationId: ({ correlationId }) => correlationId,
    resolve: (incomplete) => complete(ports, dispatcher, incomplete),
    parallel: AT_ONCE,
    parallelPerAccount: AT_ONCE_PER_ACCOUNT,
    now: ports.now,
    tracer: ports.tracer,
    logger: ports.logger,
  });
}

/**
 * Does nothing while the owner is not to be asked: it is due again when its claim ends. A crash before the removal repeats
 * this: the delivery is known then.
 */
async function complete(ports: Ports, dispatcher: Dispatcher, incomplete: IncompleteCallback): Promise<void> {
  const { _id: eventId, callback, dueClockMs } = incomplete;
  const merchant = await ports.merchants.find(callback.merchantAccount);
  const custom = await customFieldsOf(ports, callback, merchant);
  if (custom === 'later') return;
  const arrived = { eventId, callback, ...(dueClockMs === undefined ? {} : { dueClockMs }) };
  await storeDelivery(ports, dispatcher, arrived, merchant, custom);
  await ports.incompletes.remove(eventId);
}
