import { decideDeadLetter } from '../domain/decide';
import type { PayoutRequest } from '../domain/payout';
import type { Ports } from './ports';
import { record } from './record';

/**
 * Ends on record a payout whose command can never be processed: error 3000. Nothing is overwritten where it is on record
 * already, and from then on the command is not run any more, replayed or redelivered.
 */
export async function recordDeadLetter(ports: Ports, request: PayoutRequest, causationId?: string): Promise<void> {
  const known = await ports.payouts.load(request.reference);
  const stored = known ?? (await record(ports, undefined, decideDeadLetter(request), {}, causationId));
  if (stored !== undefined) ports.publishEvents(stored);
}
