import { decideExpiry } from '../domain/decide';
import type { Ports } from './ports';
import { record } from './record';

/** Looked at in one round; the next round takes the rest. */
const BATCH = 100;

/**
 * Ends the challenges that nobody has finished in time; returns how many. Any replica may: the conditional write decides
 * between replicas, and between the end of time and a result.
 */
export async function expireChallenges(ports: Ports): Promise<number> {
  const now = ports.now();
  const expired = await ports.authentications.findExpired(now, BATCH);
  const written = await Promise.all(
    expired.map(async (stored) => {
      const event = decideExpiry(stored, now);
      return event && (await record(ports, stored, event));
    }),
  );
  return written.filter((one) => one !== undefined).length;
}
