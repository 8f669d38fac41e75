import type { FairWork } from '@gateway/service-kit';
import { createFairWork, newTraceparent, runWithTrace } from '@gateway/service-kit';
import { ask, leaseMs } from './authenticate-cardholder';
import type { Ports } from './ports';

/** Requests at once, in all and of one account. */
const PARALLEL_MAX = 64;
const PARALLEL_PER_ACCOUNT_MAX = 16;

/**
 * Takes up requests whose process died before an answer was on record, under the same transaction id, until their deadline
 * ends them. Any replica may; one at a time holds the claim.
 */
export function createAskAgain(ports: Ports, everyMs: number): FairWork {
  return createFairWork({
    name: 'asking the directory server again',
    everyMs,
    dueParties: (after, limit) => ports.authentications.accountsWithUnanswered(ports.now(), after, limit),
    claim: (account) => ports.authentications.claimUnanswered(account, leaseMs(ports)),
    work: (stored) =>
      runWithTrace({ correlationId: stored.correlationId, traceparent: newTraceparent() }, async () => {
        if (stored.command !== undefined) await ask(ports, stored, stored.command);
      }),
    onFailure: ({ reference }, error) =>
      ports.logger.warn('the directory server could not be asked; it comes round again', { reference, error }),
    parallel: PARALLEL_MAX,
    parallelPerParty: PARALLEL_PER_ACCOUNT_MAX,
    logger: ports.logger,
  });
}
