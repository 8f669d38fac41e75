import type { Logger } from '@gateway/service-kit';
import type { Deadline } from '../domain/deadline';

/** A deadline that only this replica may ask for, until its lease ends. */
export interface ClaimedDeadline extends Deadline {
  /** Unique to this claim. */
  readonly claim: string;
  /** W3C: the trace of the authorization. */
  readonly traceparent?: string;
}

export interface Deadlines {
  /**
   * Stores the deadline of an authorization, unless it is already known, open or ended.
   *
   * @param deadline.dueAt epoch ms of the first ask; default: the end
   */
  open(deadline: Omit<Deadline, 'asks'> & { dueAt?: number | undefined }): Promise<void>;
  /** Sets a sooner end of an open authorization's hold. What is being asked for just now is left alone. */
  move(deadline: Omit<Deadline, 'asks'> & { dueAt?: number | undefined }): Promise<void>;
  /** The callback before the end is announced: the next ask is at the end, unless that is over. */
  announced(reference: string, expiresAt: number): Promise<void>;
  /** Ends the deadline; {@link open} has no effect on this authorization afterwards. */
  end(reference: string): Promise<void>;
  /** Epoch ms at which the most overdue one fell due; undefined if nothing is due. */
  dueSince(now: number): Promise<number | undefined>;
  /** Claims due deadlines for `leaseMs`, most overdue first. Concurrent callers get different ones. */
  claimDue(leaseMs: number, limit: number): Promise<ClaimedDeadline[]>;
  /** Sets a new time for claimed deadlines, unless another replica has claimed or ended them since. */
  postpone(asked: readonly { reference: string; claim: string; asks: number; dueAt: number }[]): Promise<void>;
}

/** Commands waiting for card-processing, merchants' and ours. */
export interface CommandQueue {
  /** Commands handled so far, in total. */
  done: number;
  waiting: number;
}

export interface Ports {
  deadlines: Deadlines;
  /**
   * Asks card-processing to void an authorization, or to announce that its hold ends soon. Resolves when the brokers have
   * the command, else rejects.
   */
  askToExpire(deadline: ClaimedDeadline): Promise<void>;
  /** The database was restored and may lack events, until an operator ends the recovery (ADR 0088). */
  recovering(): boolean;
  /** Number of commands that card-processing has room for now. Rejects if that is not known. */
  room(): Promise<number>;
  /** Counts asks that the brokers accepted, and those that they did not. */
  asked(published: number, failed: number): void;
  now(): number;
  /** From 0 up to 1. */
  random(): number;
  logger: Logger;
}
