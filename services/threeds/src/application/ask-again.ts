import { createResolver } from '@gateway/mongo';
import type { FairWork } from '@gateway/service-kit';
import { ask, leaseMs } from './authenticate-cardholder';
import type { Ports } from './ports';

/** Repeats requests whose process died before storing an answer, with the same transaction id, until their deadline. */
export function createAskAgain(ports: Ports, everyMs: number): FairWork {
  return createResolver({
    name: 'asking the directory server again',
    everyMs,
    due: ports.authentications.due,
    leaseMs: leaseMs(ports),
    correlationId: ({ correlationId }) => correlationId,
    resolve: async (stored) => {
      if (stored.command !== undefined) await ask(ports, stored, stored.command);
    },
    now: ports.now,
    tracer: ports.tracer,
    logger: ports.logger,
  });
}
