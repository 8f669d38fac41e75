import { queries } from '@gateway/contracts';
import type { AskOwner } from '@gateway/service-kit';
import { RetryableError } from '@gateway/service-kit';
import type { SandboxLedger } from '../../application/handle-ledger-request';

/** Asks the simulator what its banks did. */
export function createSandboxLedger(ask: AskOwner): SandboxLedger {
  return async (reference) => {
    const found = await ask(queries.sandboxLedger, { reference });
    if (found === undefined) throw new RetryableError('simulator answers 404 to a query for its ledger');
    return found.entries;
  };
}
