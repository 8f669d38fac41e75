import type { Logger } from '@gateway/service-kit';
import type { Deadline } from '../domain/deadline';

/** A deadline that this replica alone may ask for, until its lease has run out. */
export interface ClaimedDeadline extends Deadline {
  /** Of this very claim: who comes later has another one. */
  readonly claim: string;
}

export interface Deadlines {
  /** Keeps the deadline of an authorization, unless it is known already: open, or ended. */
  open(deadline: Omit<Deadline, 'asks'>): Promise<void>;
  /** Drops the deadline for good; {@link open} does nothing about this authorization any more. */
  end(reference: string): Promise<void>;
  /** Epoch ms since when the longest due one waits; undefined when nothing is due. */
  dueSince(now: number): Promise<number | undefined>;
  /** Takes what is due on lease for `leaseMs`, longest due first. Of all who ask at a time, each deadline goes to one. */
  claimDue(leaseMs: number, limit: number): Promise<ClaimedDeadline[]>;
  /** Gives claimed deadlines a new time, each as far as nobody else has claimed or ended it since. */
  postpone(asked: readonly { reference: string; claim: string; asks: number; dueAt: number }[]): Promise<void>;
}

/** Commands of card-processing, merchants' and ours. */
export interface CommandQueue {
  /** Done so far, ever. */
  done: number;
  waiting: number;
}

export interface Ports {
  deadlines: Deadlines;
  /** Asks card-processing to void an authorization. Resolves when the brokers have the command, else rejects. */
  askToExpire(deadline: Deadline): Promise<void>;
  /** How many commands card-processing has room for now. Rejects when that cannot be told. */
  room(): Promise<number>;
  /** Counts asks that the brokers have, and those that they have not. */
  asked(published: number, failed: number): void;
  now(): number;
  logger: Logger;
}
