import { messageOf } from '@gateway/service-kit';
import { nextAsk } from '../domain/deadline';
import type { Allowance } from './allowance';
import type { ClaimedDeadline, Ports } from './ports';

/** Deadlines in memory at a time. */
export const BATCH_MAX = 500;
/** Longer than a publication, with its time-out, and a write can take. */
export const LEASE_MS = 30_000;
/** From here on, about six hours after the first, each ask is logged as an error for an operator. */
const ASKS_BEFORE_ALARM = 35;

/**
 * Asks for the end of every due authorization, or for the callback before it. Stays within the allowance and
 * card-processing's room, because merchants wait in the same queue. Any replica may do so: the lease keeps others off
 * while the command is on its way. If the process dies in between, another one asks again. The command may then go out
 * twice, which is harmless, because the payment's state decides. So there is no outbox: the deadline stays until
 * card-processing reports the end. Returns the number of asks.
 */
export async function askDue(ports: Ports, allowance: Allowance): Promise<number> {
  if (ports.recovering()) return 0;
  if ((await ports.deadlines.dueSince(ports.now())) === undefined) return 0;
  const budget = Math.min(allowance.available(), await ports.room());
  let asked = 0;
  while (asked < budget) {
    const limit = Math.min(budget - asked, BATCH_MAX);
    const claimed = await ports.deadlines.claimDue(LEASE_MS, limit);
    allowance.spend(claimed.length);
    await ask(ports, claimed);
    asked += claimed.length;
    if (claimed.length < limit) break;
  }
  return asked;
}

/** Deadlines whose command was not accepted stay leased, and are due again when the lease ends. */
async function ask(ports: Ports, claimed: readonly ClaimedDeadline[]): Promise<void> {
  const publications = await Promise.allSettled(claimed.map((deadline) => ports.askToExpire(deadline)));
  const published = claimed.filter((_deadline, index) => publications[index]?.status === 'fulfilled');
  const failure = publications.find((publication) => publication.status === 'rejected');
  ports.asked(published.length, claimed.length - published.length);
  if (failure !== undefined) {
    const failed = claimed.length - published.length;
    ports.logger.warn('expiries could not be requested; they are retried when their lease ends', {
      failed,
      reason: messageOf(failure.reason),
    });
  }
  const now = ports.now();
  const next = published.map((deadline) => {
    const { reference, claim } = deadline;
    return { reference, claim, ...nextAsk(deadline, { now, random: ports.random() }) };
  });
  if (next.length > 0) await ports.deadlines.postpone(next);
  for (const { reference, asks: before, expiresAt } of published) {
    const asks = before + 1;
    if (asks >= ASKS_BEFORE_ALARM && now >= expiresAt)
      ports.logger.error('an authorization does not end; see its payment', { reference, asks });
  }
}
