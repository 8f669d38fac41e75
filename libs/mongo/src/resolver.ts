import type { FairWork, Logger, Tracer } from '@gateway/service-kit';
import { createFairWork, inTrace } from '@gateway/service-kit';
import type { Traced } from './aggregate-store';
import type { DueByAccount } from './due-by-account';

/** For the write of the intent. A call that would outlast its lease all the same is not sent. */
const LEASE_MARGIN_MS = 2_000;
/** After a call that ended without an answer: nothing of ours is running any more. */
const FIRST_INQUIRY_AFTER_MS = 500;
const INQUIRY_BACKOFF_MAX_MS = 300_000;
/** From here on each failed inquiry is logged as an error that calls for an operator. */
export const INQUIRIES_BEFORE_ALARM = 10;
/** The shortest claim. It covers an inquiry and the call after it at counterparts with short time-outs. */
export const RESOLVER_LEASE_MS = 25_000;
/** Concurrent items of one replica, in total and per account. */
const PARALLEL_MAX = 64;
const PARALLEL_PER_ACCOUNT_MAX = 16;

/**
 * From the intent on, how long no other process may look for the outcome of a call.
 *
 * @param longestCallMs from asking for a place among the calls to the end of the call
 */
export function callLeaseMs(longestCallMs: number): number {
  return longestCallMs + LEASE_MARGIN_MS;
}

/**
 * How long a claim lasts that covers an inquiry and the call after it.
 *
 * @param longestCallMs of either, from asking for a place among the calls to the end of the call
 */
export function resolverLeaseMs(longestCallMs: number): number {
  return Math.max(RESOLVER_LEASE_MS, longestCallMs + callLeaseMs(longestCallMs));
}

/** How long to wait before the next inquiry about an unknown outcome. @param inquiries made so far without a result */
export function inquiryDelayMs(inquiries: number): number {
  return Math.min(FIRST_INQUIRY_AFTER_MS * 2 ** inquiries, INQUIRY_BACKOFF_MAX_MS);
}

export interface ResolverOptions<T> {
  name: string;
  /** Pause between two scans for due items. */
  everyMs: number;
  due: DueByAccount<T>;
  /** How long a claim keeps other replicas away. Default: {@link RESOLVER_LEASE_MS}. */
  leaseMs?: number;
  correlationId(claimed: T): string;
  /** If it throws, the item is due again when its claim expires. */
  resolve(claimed: T): Promise<void>;
  /** Concurrent items, in total and per account. Default: 64 and 16. */
  parallel?: number;
  parallelPerAccount?: number;
  now(): number;
  tracer: Tracer;
  logger: Logger;
}

/**
 * Claims aggregates when they are due and resolves them. Any replica may; the claim gives each item to one replica at a
 * time. Accounts take turns, so slow work for one account does not delay the others. The work continues the trace of
 * what it resolves.
 */
export function createResolver<T extends { _id: string } & Traced>(options: ResolverOptions<T>): FairWork {
  const { name, due, leaseMs = RESOLVER_LEASE_MS, resolve, tracer, logger } = options;
  return createFairWork({
    name,
    everyMs: options.everyMs,
    dueParties: (after, limit) => due.accounts(options.now(), after, limit),
    claim: (account) => due.claim(account, leaseMs),
    work: (claimed) =>
      inTrace(tracer, { name, correlationId: options.correlationId(claimed), parent: claimed.traceparent }, () =>
        resolve(claimed),
      ),
    onFailure: ({ _id: id }, error) => logger.warn(`${name} failed for one item; it is due again later`, { id, error }),
    parallel: options.parallel ?? PARALLEL_MAX,
    parallelPerParty: options.parallelPerAccount ?? PARALLEL_PER_ACCOUNT_MAX,
    logger,
  });
}
