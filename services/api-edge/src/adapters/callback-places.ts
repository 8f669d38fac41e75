import type { Registry } from '@gateway/service-kit';
import { createFairSlots, createTopGauge } from '@gateway/service-kit';
import type { CallbackPorts } from '../application/ports';

/** Requests that wait at once, of all accounts: each asks callback-dispatcher about once a second. */
const POLLS_MAX = 200;
/** Enough for a team that shares a sandbox account. */
const POLLS_PER_ACCOUNT_MAX = 4;

/** Places for requests that wait for callbacks. No account has more than its few, and nobody queues for one. */
export function createPollPlaces(metrics: Registry): CallbackPorts['pollPlaces'] {
  const places = createFairSlots({ max: POLLS_MAX, maxWaiting: 0, waitTimeoutMs: 0 });
  createTopGauge(metrics, {
    name: 'gateway_account_polls_concurrent',
    help: 'Requests of an account that wait for its next callback',
    label: 'account',
    read: () => places.held(),
  });
  return { take: ({ merchantAccount }) => places.take(merchantAccount, POLLS_PER_ACCOUNT_MAX) };
}

/** Lists at once, of all accounts: each reads the attempts of up to 50 callbacks, beside those that send callbacks. */
const LISTS_MAX = 8;
const LISTS_PER_ACCOUNT_MAX = 3;
const LISTS_WAITING_MAX = 100;
const LIST_WAIT_MS = 2_000;

/** Places for lists of callbacks. Accounts take turns, and none has more than its few. */
export function createListPlaces(): CallbackPorts['listPlaces'] {
  const places = createFairSlots({ max: LISTS_MAX, maxWaiting: LISTS_WAITING_MAX, waitTimeoutMs: LIST_WAIT_MS });
  return { take: ({ merchantAccount }) => places.take(merchantAccount, LISTS_PER_ACCOUNT_MAX) };
}
