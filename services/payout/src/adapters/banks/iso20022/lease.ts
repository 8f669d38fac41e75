import type { Clock } from '@gateway/mongo';
import { duplicateKeyIndex, isPast, leaseEnd } from '@gateway/mongo';
import type { Records } from './records';

/** Lets one replica at a time do work that must happen in order. */
export interface WorkLease {
  /** True if this replica holds the lease, for `LEASE_MS` from now on. */
  take(): Promise<boolean>;
  release(): Promise<void>;
}

const LEASE_MS = 30_000;

export function createWorkLease(options: {
  leases: Records['leases'];
  work: string;
  owner: string;
  clock: Clock;
}): WorkLease {
  const { leases, work, owner, clock } = options;

  /** The condition is part of the update, because the filter of an upsert cannot contain `$expr`. */
  function takeIfFree() {
    const isFree = { $or: [{ $eq: ['$owner', owner] }, isPast('until', clock)] };
    const next = (field: string, value: unknown) => ({ $cond: [isFree, value, `$${field}`] });
    return [{ $set: { owner: next('owner', owner), until: next('until', leaseEnd(clock, LEASE_MS)) } }];
  }

  return {
    async take() {
      try {
        const upsert = { upsert: true, returnDocument: 'after' } as const;
        const lease = await leases.findOneAndUpdate({ _id: work }, takeIfFree(), upsert);
        return lease?.owner === owner;
      } catch (error) {
        // Another replica inserted it at the same moment.
        if (duplicateKeyIndex(error) === undefined) throw error;
        return false;
      }
    },
    async release() {
      await leases.deleteOne({ _id: work, owner });
    },
  };
}
