import type { BucketSize } from '@gateway/service-kit';
import { createTokenBuckets } from '@gateway/service-kit';
import type { VolumeUse } from '../domain/earned-volume';
import { afterUse } from '../domain/earned-volume';
import { destinationOf } from '../domain/lane';
import type { Lane } from './lanes';

/** Attempts that nobody acknowledges. */
export interface StrangerBudget {
  /** At one host and port, of all accounts together. */
  perDestination: BucketSize;
  /** At all addresses of an account: many names may lead to one host. */
  perAccount: BucketSize;
}

/** The first ones at a destination contain a whole schedule of retries. */
export const STRANGER_BUDGET: StrangerBudget = {
  perDestination: { burst: 20, perSecond: 20 / 60 },
  perAccount: { burst: 100, perSecond: 100 / 60 },
};

/** Which deliveries may be taken into memory, to be attempted. */
export interface VolumeBudget {
  allows(lane: Lane): boolean;
  /** Takes one delivery; false if the lane has none left. Follow with `settle`. */
  take(lane: Lane): boolean;
  settle(lane: Lane, use: VolumeUse): void;
}

/**
 * An address that acknowledges earns its volume. Until then it draws on what all accounts share for its host and port, and
 * on what its account has for strangers. So other accounts' failures at a host cost nothing to those that it acknowledges.
 */
export function createVolumeBudget(options: {
  strangers: StrangerBudget;
  addressesMax: number;
  now: () => number;
}): VolumeBudget {
  const { strangers, addressesMax: maxKeys, now } = options;
  const ofDestinations = createTokenBuckets({ now, maxKeys });
  const ofAccounts = createTokenBuckets({ now, maxKeys });

  function isLent({ name, merchant }: Lane): boolean {
    const isFree = ofDestinations.wait(destinationOf(name), strangers.perDestination) === 0;
    return isFree && ofAccounts.wait(merchant.name, strangers.perAccount) === 0;
  }

  return {
    allows: (lane) => lane.volume.earned > 0 || isLent(lane),
    take(lane) {
      const { earned, borrowed } = lane.volume;
      if (earned > 0) {
        lane.volume = { earned: earned - 1, borrowed };
        return true;
      }
      if (!isLent(lane)) return false;
      ofDestinations.take(destinationOf(lane.name), strangers.perDestination);
      ofAccounts.take(lane.merchant.name, strangers.perAccount);
      lane.volume = { earned, borrowed: borrowed + 1 };
      return true;
    },
    settle(lane, use) {
      const { volume, returned } = afterUse(lane.volume, use);
      lane.volume = volume;
      if (!returned) return;
      ofDestinations.giveBack(destinationOf(lane.name));
      ofAccounts.giveBack(lane.merchant.name);
    },
  };
}
