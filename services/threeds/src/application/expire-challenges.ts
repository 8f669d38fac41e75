import { decideExpiry } from '../domain/decide';
import { listOf } from './authenticate-cardholder';
import type { Ports } from './ports';

/** Read and written together. */
const BATCH = 100;
/** A run that takes longer leaves the rest to the next one. */
const BATCHES_MAX = 50;

/**
 * Ends expired challenges, in batches, until one is not full; returns their number. Any replica may: the conditional
 * write decides between replicas, and between expiry and a result.
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
  const handled = await Promise.all(
    expired.map((stored) => ports.handle(stored, (current) => listOf(decideExpiry(current, now)))),
  );
  return { found: expired.length, ended: handled.filter(({ written }) => written).length };
}
