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
