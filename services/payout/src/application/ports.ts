import type { Account } from '@gateway/accounts';
import type { DetachedWork, Logger, Tracer } from '@gateway/service-kit';
import type { DueByAccount, Handle, Stored } from '@gateway/mongo';
import type { Payout, PayoutEvent, PayoutRequest, PayoutStateKind } from '../domain/payout';
import type { WideScope } from '../domain/holds';
import type { BankConnector } from './bank-ports';
import type { Holds } from './hold-ports';
import type { Screening } from './screening-ports';

export type StoredPayout = Stored<Payout>;

/** A payout for queries, without the receiver and unpublished events. */
export type ShownPayout = Omit<Payout, 'instruction'> & { _id: string };

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
  due: DueByAccount<StoredPayout>;
  load(reference: string): Promise<StoredPayout | null>;
  page(query: PageQuery): Promise<ShownPayout[]>;
  /** Returns the references that exist, of at most {@link PAGE_LIMIT_MAX}. */
  onRecord(references: readonly string[]): Promise<string[]>;
  /** For operators, newest first. */
  list(query: ListQuery): Promise<ShownPayout[]>;
  /** Accounts with held payouts, in ascending order: those after `after`, at most `limit`. */
  heldAccounts(after: string, limit: number): Promise<string[]>;
  /** At most `limit` held payouts of an account in a currency, without those of `except`. */
  held(query: HeldQuery): Promise<StoredPayout[]>;
  /** References of at most `limit` payouts of the scope that wait in the store, for their turn or held. */
  notSubmitted(scope: WideScope, limit: number): Promise<string[]>;
  /** Returns the references of payouts that have not ended, of at most {@link PAGE_LIMIT_MAX}. */
  notEnded(references: readonly string[]): Promise<string[]>;
  /** How many payouts of the scope are in each open state. */
  countOpen(scope: WideScope): Promise<Partial<Record<PayoutStateKind, number>>>;
}

export interface HeldQuery {
  merchantAccount: string;
  currency: string;
  /** References. */
  except: readonly string[];
  limit: number;
}

export interface Accounts {
  find(merchantAccount: string): Promise<Account | undefined>;
  /** Not from a cache. */
  findLatest(merchantAccount: string): Promise<Account | undefined>;
}

/** A command with the id of its message. */
export interface ReceivedCommand {
  request: PayoutRequest;
  id: string;
}

/** Whether the database was restored, and an operator has not ended the recovery yet (ADR 0088). */
export interface RecoveryMode {
  /** True for a command from before the notice: its record may be lost. @param acceptedAt epoch ms */
  mayHaveBeenHandled(acceptedAt: number): boolean;
}

export interface Ports {
  payouts: Payouts;
  /** The only way to change a payout. */
  handle: Handle<Payout, PayoutEvent>;
  accounts: Pick<Accounts, 'find'>;
  screening: Screening;
  holds: Holds;
  /** Name of the connector for a currency's payouts. */
  bankFor(currency: string): string;
  /** By name. Undefined when no connector of that name is open. */
  bank(name: string): BankConnector | undefined;
  /** How long a claim of a due payout lasts. It covers an inquiry and a submission, or the latter would never be sent. */
  claimMs: number;
  /** Runs submissions to banks after the message is done. */
  calls: Pick<DetachedWork, 'begin'>;
  now(): number;
  recovery: RecoveryMode;
  tracer: Tracer;
  logger: Logger;
}
