import { decideExpiry } from '../domain/decide';
import type { Ports } from './ports';
import { record } from './record';

/** Read and written together. */
const BATCH = 100;
/** A run that goes on for longer than this leaves the rest to the next one. */
const BATCHES_MAX = 50;

/**
 * Ends the challenges that nobody has finished in time, batch after batch while there are full ones; returns how many.
 * Any replica may: the conditional write decides between replicas, and between the end of time and a result.
 */
export async function expireChallenges(ports: Ports, isStopping: () => boolean): Promise<number> {
  let ended = 0;
  for (let batches = 0; batches < BATCHES_MAX && !isStopping(); batches += 1) {
    const batch = await expireSome(ports);
    ended += batch.ended;
    if (batch.found < BATCH) break;
  }
  return ended;
}

async function expireSome(ports: Ports): Promise<{ found: number; ended: number }> {
  const now = ports.now();
  const expired = await ports.authentications.findExpired(now, BATCH);
  const written = await Promise.all(
    expired.map(async (stored) => {
      const event = decideExpiry(stored, now);
      return event && (await record(ports, stored, event));
    }),
  );
  return { found: expired.length, ended: written.filter((one) => one !== undefined).length };
}
