import type { Account, OpenLogins } from '@gateway/accounts';
import { displayNameOf, isOpen } from '@gateway/accounts';
import type { Registry, Slot, SlotRefusal } from '@gateway/service-kit';
import { createFairSlots, createTopGauge } from '@gateway/service-kit';
import type { CheckoutPorts } from '../application/checkout-ports';

/** No account has more than this part of all slots, so no single one can take them all. */
const MAX_PART_OF_ACCOUNT = 0.5;
const WAIT_TIMEOUT_MS = 2_000;

export interface AccountSlotsOptions {
  /** Slots in all; as many requests may wait for one. */
  max: number;
  metrics: Registry;
  gauge: { name: string; help: string };
}

export interface AccountSlots {
  take(account: Pick<Account, 'merchantAccount' | 'maxConcurrentRequests'>): Promise<Slot | SlotRefusal>;
}

/** Slots for requests under way, shared fairly between accounts, with the accounts that hold most as a metric. */
export function createAccountSlots({ max, metrics, gauge }: AccountSlotsOptions): AccountSlots {
  const slots = createFairSlots({ max, maxWaiting: max, waitTimeoutMs: WAIT_TIMEOUT_MS });
  const maxPerAccount = Math.ceil(max * MAX_PART_OF_ACCOUNT);
  createTopGauge(metrics, { ...gauge, label: 'account', read: () => slots.held() });
  return {
    take: ({ merchantAccount, maxConcurrentRequests }) =>
      slots.take(merchantAccount, Math.min(maxConcurrentRequests, maxPerAccount)),
  };
}

/** Which accounts have pages, under which names, and slots for requests to them. */
export function createPageAdmission(
  { directory, logos }: Pick<OpenLogins, 'directory' | 'logos'>,
  options: AccountSlotsOptions,
): Pick<CheckoutPorts, 'accountIsOpen' | 'merchant' | 'takePageSlot'> {
  const slots = createAccountSlots(options);
  return {
    async accountIsOpen(merchantAccount) {
      const account = await directory.find(merchantAccount);
      return account !== undefined && isOpen(account);
    },
    async merchant(merchantAccount) {
      const [account, logo] = await Promise.all([directory.find(merchantAccount), logos.find(merchantAccount)]);
      return { name: account === undefined ? merchantAccount : displayNameOf(account), logo };
    },
    async takePageSlot(merchantAccount) {
      const account = await directory.find(merchantAccount);
      const slot = account === undefined ? 'full' : await slots.take(account);
      return typeof slot === 'string' ? undefined : slot;
    },
  };
}
