import { untilWritten } from '@gateway/service-kit';
import type { AskedAuthentication } from '../domain/authentication';
import { decideUnprocessable } from '../domain/decide';
import { takeUp } from './authenticate-cardholder';
import type { Ports } from './ports';
import { record } from './record';

/**
 * Ends an authentication whose command can never be processed: error 3000. Nothing is overwritten where an answer stands
 * already, and from then on the command changes nothing, replayed or redelivered.
 */
export async function recordDeadLetter(
  ports: Ports,
  asked: AskedAuthentication,
  from: { correlationId: string; causationId?: string },
): Promise<void> {
  await untilWritten(async () => {
    const taken = await takeUp(ports, asked, from.correlationId);
    if (taken === undefined) return undefined;
    const { stored } = taken;
    const event = decideUnprocessable(stored);
    if (event !== undefined) return record(ports, stored, event, from.causationId);
    ports.publishEvents(stored);
    return stored;
  });
}
