import type { AddressHealth, Reputation } from '../domain/address-health';
import { UNKNOWN_ADDRESS } from '../domain/address-health';
import type { Places } from '../domain/fair-share';
import { merchantOf } from '../domain/lane';
import type { StoredDelivery } from './ports';

export interface Merchant {
  readonly name: string;
  /** Least recently used first. */
  readonly lanes: Map<string, Lane>;
  /** Deliveries in memory, running ones included. */
  readonly held: Places;
  readonly running: Places;
  /** Lanes that could start a call, in turn. */
  readonly ready: Record<Reputation, Set<Lane>>;
}

export interface Lane {
  readonly name: string;
  readonly merchant: Merchant;
  health: AddressHealth;
  held: number;
  running: number;
  waiting: StoredDelivery[];
}

export interface LaneLimits {
  /** Addresses whose health is remembered. */
  addressesMax: number;
  addressesPerMerchantMax: number;
}

/** What this replica remembers of merchants and their addresses. */
export interface Lanes {
  /** A lane that is not remembered comes back new, and is not remembered for the asking. */
  peek(name: string): Lane;
  /** Remembers the lane as the one used last, and forgets others where the bounds demand it. */
  keep(lane: Lane): void;
  all(): Iterable<Lane>;
  merchants(): Iterable<Merchant>;
}

/**
 * Bounded twice, so that a merchant with very many addresses makes its own forgotten and nobody else's. A lane that
 * holds a delivery is never forgotten.
 */
export function createLanes(limits: LaneLimits): Lanes {
  const merchants = new Map<string, Merchant>();
  let size = 0;

  function forgetOne(of: Iterable<Merchant>): void {
    for (const merchant of of) {
      for (const lane of merchant.lanes.values()) {
        if (lane.held > 0) continue;
        merchant.lanes.delete(lane.name);
        size -= 1;
        if (merchant.lanes.size === 0) merchants.delete(merchant.name);
        return;
      }
    }
  }

  return {
    peek(name) {
      const merchantName = merchantOf(name);
      const merchant = merchants.get(merchantName) ?? newMerchant(merchantName);
      return merchant.lanes.get(name) ?? newLane(name, merchant);
    },
    keep(lane) {
      const { merchant } = lane;
      if (!merchant.lanes.delete(lane.name)) size += 1;
      merchant.lanes.set(lane.name, lane);
      merchants.delete(merchant.name);
      merchants.set(merchant.name, merchant);
      if (merchant.lanes.size > limits.addressesPerMerchantMax) forgetOne([merchant]);
      if (size > limits.addressesMax) forgetOne(merchants.values());
    },
    *all() {
      for (const { lanes } of merchants.values()) yield* lanes.values();
    },
    merchants: () => merchants.values(),
  };
}

function newMerchant(name: string): Merchant {
  return {
    name,
    lanes: new Map(),
    held: { proven: 0, unproven: 0 },
    running: { proven: 0, unproven: 0 },
    ready: { proven: new Set(), unproven: new Set() },
  };
}

function newLane(name: string, merchant: Merchant): Lane {
  return { name, merchant, health: UNKNOWN_ADDRESS, held: 0, running: 0, waiting: [] };
}
