import type { Scope } from '../domain/holds';
import type { BatchState } from '../domain/iso20022/batch';

/** A file of payouts as an operator sees it. */
export interface BatchSummary {
  messageId: string;
  debtor: string;
  instant: boolean;
  /** `open`: payouts that wait for the next cut-off; there is no file yet. */
  state: 'open' | BatchState;
  /** Why it is `held`. */
  problem?: string;
  payouts: number;
  totalE4: number;
  /** Unix milliseconds. */
  createdAt: number;
  /** When the bank's last report was read; absent before the first one. */
  reportedAt?: number;
}

/** A file of a bank's that could not be applied as a whole. */
export interface ReportException {
  file: string;
  /** Unix milliseconds. */
  at: number;
  /** The bank's own id of the report, if it could be read. */
  messageId?: string;
  problems: readonly string[];
}

/** The operator's commands for a connector that collects payouts into files. */
export interface BatchOperations {
  /** Closes every open batch now. If there is much to write, some are still `frozen` on return. */
  cut(): Promise<BatchSummary[]>;
  /** The newest batches first. */
  batches(limit: number): Promise<BatchSummary[]>;
  /** The newest first. */
  exceptions(limit: number): Promise<ReportException[]>;
  /** Message id of the file that a payout is in; undefined while it is in none. */
  batchOf(reference: string): Promise<string | undefined>;
  /** References of at most `limit` payouts of the scope in open batches. Throws for a limit below 1. */
  waiting(scope: Scope, limit: number): Promise<string[]>;
  /** Payouts of the scope in open batches, and in those that a hold opens again because their files are not begun. */
  countWaiting(scope: Scope): Promise<number>;
  /** Takes a payout out of its open batch, for good. False if it is in none: then a file may contain it. */
  withdraw(reference: string): Promise<boolean>;
  /**
   * Writes a batch's file once more, with the same message id, unless its bank has reported on it or it is still being
   * written. Undefined if there is no such batch.
   */
  rewrite(messageId: string): Promise<BatchSummary | 'not-to-be-written' | undefined>;
}
