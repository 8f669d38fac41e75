import type { Reputation } from './address-health';

/** Taken places, by the reputation of their address. */
export type Places = Record<Reputation, number>;

export interface PlaceLimits {
  /** Of all merchants together. */
  total: number;
  perMerchant: number;
  /** Of a merchant's places, those for addresses that may hang. */
  unprovenPerMerchant: number;
}

/** Share of all places for addresses that may hang. */
const UNPROVEN_SHARE = 0.5;

export function sumOf({ proven, unproven }: Places): number {
  return proven + unproven;
}

/** Free places, regardless of the merchant. */
export function freePlaces(reputation: Reputation, all: Places, { total }: PlaceLimits): number {
  const free = total - sumOf(all);
  return reputation === 'proven' ? free : Math.min(free, Math.ceil(total * UNPROVEN_SHARE) - all.unproven);
}

/**
 * Places that a merchant may take now. It stays within its bound and never holds more than it leaves free: however many
 * merchants take all they can get, the next one still finds places.
 */
export function placesLeft(reputation: Reputation, own: Places, all: Places, limits: PlaceLimits): number {
  const left = fairShare(limits.perMerchant, sumOf(own), freePlaces('proven', all, limits));
  if (reputation === 'proven') return left;
  const free = freePlaces('unproven', all, limits);
  return Math.min(left, fairShare(limits.unprovenPerMerchant, own.unproven, free));
}

function fairShare(bound: number, taken: number, free: number): number {
  return Math.max(0, Math.min(bound - taken, Math.ceil((free - taken) / 2)));
}
