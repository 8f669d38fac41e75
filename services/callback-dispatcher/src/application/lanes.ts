import type { AddressHealth, Reputation } from '../domain/address-health';
import { UNKNOWN_ADDRESS } from '../domain/address-health';
import type { Volume } from '../domain/earned-volume';
import { unknownVolume } from '../domain/earned-volume';
import type { Places } from '../domain/fair-share';
import { merchantOf } from '../domain/lane';
import type { StoredDelivery } from './ports';

export interface Merchant {
  readonly name: string;
  /** Least recently used first. */
  readonly lanes: Map<string, Lane>;
  /** Deliveries in memory, including running ones. */
  readonly held: Places;
  readonly running: Places;
  /** Lanes that could start a call, in order of turns. */
  readonly ready: Record<Reputation, Set<Lane>>;
}

export interface Lane {
  readonly name: string;
  readonly merchant: Merchant;
  health: AddressHealth;
  volume: Volume;
  held: number;
  running: number;
  waiting: StoredDelivery[];
}

export interface LaneLimits {
  /** Addresses whose health is remembered. */
  addressesMax: number;
  addressesPerMerchantMax: number;
}

/** This replica's memory of merchants and their addresses. */
export interface Lanes {
  /** Returns a new lane if it is unknown, without storing it. */
  peek(name: string): Lane;
  /** Stores the lane as the most recently used one, and evicts others beyond the bounds. */
  keep(lane: Lane): void;
  all(): Iterable<Lane>;
  merchants(): Iterable<Merchant>;
}

/**
 * Bounded per merchant as well, so that a merchant with very many addresses evicts only its own. A lane that holds a
 * delivery is never evicted.
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
  return { name, merchant, health: UNKNOWN_ADDRESS, volume: unknownVolume(), held: 0, running: 0, waiting: [] };
}
