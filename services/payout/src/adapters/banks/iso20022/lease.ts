import { duplicateKeyIndex } from '@gateway/mongo';
import type { Records } from './records';

/** Lets one replica at a time do a work that needs an order. */
export interface WorkLease {
  /** True while the work is ours, for `LEASE_MS` from now on. */
  take(): Promise<boolean>;
  release(): Promise<void>;
}

const LEASE_MS = 30_000;

export function createWorkLease(options: {
  leases: Records['leases'];
  work: string;
  owner: string;
  now: () => number;
}): WorkLease {
  const { leases, work, owner, now } = options;
  return {
    async take() {
      try {
        await leases.updateOne(
          { _id: work, $or: [{ owner }, { until: { $lte: now() } }] },
          { $set: { owner, until: now() + LEASE_MS } },
          { upsert: true },
        );
        return true;
      } catch (error) {
        // It is there and another's: the insert of a second one is refused.
        if (duplicateKeyIndex(error) === undefined) throw error;
        return false;
      }
    },
    async release() {
      await leases.deleteOne({ _id: work, owner });
    },
  };
}
