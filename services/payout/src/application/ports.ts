import type { Account } from '@gateway/accounts';
import type { DetachedWork, Logger } from '@gateway/service-kit';
import type { NewMessage, Stored } from '@gateway/mongo';
import type { Payout, PayoutRequest, PayoutStateKind } from '../domain/payout';
import type { BankConnector } from './bank-ports';
import type { Screening } from './screening-ports';

/** What a payout's document holds beside outbox and version. Its id is the reference. */
export interface PayoutBody extends Payout {
  /** Whole unix seconds of `acceptedAt`: what queries are sorted and cut by. */
  time: number;
  /**
   * Epoch ms at which it is looked after; absent when nothing is left to do. A payout that waits for its turn is
   * submitted then, the bank of one that was submitted is asked, and one that ended without success gives its
   * reservations back.
   */
  resolveAt?: number;
  /** Times that the bank was asked in vain, in a row. */
  inquiries?: number;
}

export type StoredPayout = Stored<PayoutBody>;

/** What queries read: not whom the money goes to, and no events. */
export type ShownPayout = Omit<PayoutBody, 'instruction'> & { _id: string };

export const PAGE_LIMIT_MAX = 1_000;

/** Times are whole unix seconds, both ends inclusive. */
export interface PageQuery {
  merchantAccount: string;
  from: number;
  to: number;
  /** By time, then by reference. */
  order: 'asc' | 'desc';
  /** From 1. */
  page: number;
  /** At most {@link PAGE_LIMIT_MAX}. */
  limit: number;
}

export interface ListQuery {
  state?: PayoutStateKind;
  merchantAccount?: string;
  limit: number;
}

export interface Payouts {
  load(reference: string): Promise<StoredPayout | null>;
  insert(reference: string, body: PayoutBody, events: readonly NewMessage[]): Promise<StoredPayout | undefined>;
  update(previous: StoredPayout, body: PayoutBody, events: readonly NewMessage[]): Promise<StoredPayout | undefined>;
  /** Accounts with payouts that are due, in ascending order: those after `after`, at most `limit`. */
  accountsWithDue(now: number, after: string, limit: number): Promise<string[]>;
  /** Takes one payout of the account that is due, and keeps other replicas off it for `leaseMs`. */
  claimDue(merchantAccount: string, leaseMs: number): Promise<StoredPayout | null>;
  /** Takes this payout, due or not, if there is something left to do for it. */
  claim(reference: string, leaseMs: number): Promise<StoredPayout | null>;
  page(query: PageQuery): Promise<ShownPayout[]>;
  /** Which of the references, at most {@link PAGE_LIMIT_MAX}, are on record. */
  onRecord(references: readonly string[]): Promise<string[]>;
  /** For operators: the newest first. */
  list(query: ListQuery): Promise<ShownPayout[]>;
}

export interface Accounts {
  find(merchantAccount: string): Promise<Account | undefined>;
}

/** A command with the id of its message. */
export interface ReceivedCommand {
  request: PayoutRequest;
  id: string;
}

export interface Ports {
  payouts: Payouts;
  accounts: Accounts;
  screening: Screening;
  /** Name of the connector that a currency's payouts go through. */
  bankFor(currency: string): string;
  /** By name. Undefined when no connector of that name is open. */
  bank(name: string): BankConnector | undefined;
  /** Submissions to banks go on after their message is done. */
  calls: Pick<DetachedWork, 'begin'>;
  /** Has the payout's outbox published soon; never throws. */
  publishEvents(payout: StoredPayout): void;
  now(): number;
  newId(): string;
  logger: Logger;
}
