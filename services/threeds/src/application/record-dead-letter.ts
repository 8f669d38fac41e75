import type { AskedAuthentication } from '../domain/authentication';
import { evolve } from '../domain/authentication';
import { decideUnprocessable } from '../domain/decide';
import { listOf, requestedNow } from './authenticate-cardholder';
import type { Ports } from './ports';

/**
 * Ends an authentication whose command can never be processed with error 3000, unless an answer is already stored. A
 * replayed or redelivered command then has no effect.
 */
export async function recordDeadLetter(
  ports: Ports,
  asked: AskedAuthentication,
  from: { correlationId: string; causationId?: string },
): Promise<void> {
  const requested = requestedNow(ports, asked, from.correlationId);
  await ports.handle(
    asked.reference,
    (known) => {
      const refused = listOf(decideUnprocessable(known ?? evolve(undefined, requested)));
      return known === null ? [requested, ...refused] : refused;
    },
    { causationId: from.causationId },
  );
}
