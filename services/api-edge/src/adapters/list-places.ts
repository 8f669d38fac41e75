import { createFairSlots } from '@gateway/service-kit';
import type { ListPlaces } from '../application/ports';

/** Lists at once, of all accounts: each reads up to a thousand records beside the owner's own work. */
const LISTS_MAX = 8;
const LISTS_PER_ACCOUNT_MAX = 3;
const WAITING_MAX = 400;
const WAITING_PER_ACCOUNT_MAX = 60;
const WAIT_MS = 2_000;

/** Places for one kind of list. Accounts take turns, and none has more than its few. */
export function createListPlaces(): ListPlaces {
  const places = createFairSlots({
    max: LISTS_MAX,
    maxPerKey: LISTS_PER_ACCOUNT_MAX,
    maxWaiting: WAITING_MAX,
    waitTimeoutMs: WAIT_MS,
  });
  const share = LISTS_PER_ACCOUNT_MAX + WAITING_PER_ACCOUNT_MAX;
  return { take: ({ merchantAccount }) => places.take(merchantAccount, share) };
}
