import { inTrace } from '@gateway/service-kit';
import { decideDeadLetter } from '../domain/decide';
import type { PayoutRequest } from '../domain/payout';
import type { Ports } from './ports';

/**
 * Ends a payout whose command can never be processed with error 3000, unless the payout already exists. If the command
 * is replayed or redelivered afterwards, it has no effect.
 */
export async function recordDeadLetter(ports: Ports, request: PayoutRequest, causationId?: string): Promise<void> {
  await inTrace(ports.tracer, { name: 'end a dead-lettered payout', correlationId: request.payoutId }, () =>
    ports.handle(request.reference, (known) => (known === null ? decideDeadLetter(request) : []), { causationId }),
  );
}
