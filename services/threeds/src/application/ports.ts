import type { Account } from '@gateway/accounts';
import type { Customer, SandboxClock, Secret } from '@gateway/contracts';
import type { DueByAccount, Handle, Stored } from '@gateway/mongo';
import type { DetachedWork, Logger, Tracer } from '@gateway/service-kit';
import type { CardData, CardOwner } from '@gateway/vault';
import type { Authentication, AuthenticationEvent } from '../domain/authentication';
import type { DirectoryAnswer } from '../domain/decide';
import type { Proofs } from './proofs';

export type StoredAuthentication = Stored<Authentication>;

/** By reference of the operation. Look-ups return null if there is none. */
export interface Authentications {
  load(reference: string): Promise<StoredAuthentication | null>;
  findByPage(pageId: string): Promise<StoredAuthentication | null>;
  findByTransaction(threeDSServerTransId: string): Promise<StoredAuthentication | null>;
  /** Challenges expired at `now`, oldest first. */
  findExpired(now: number, limit: number): Promise<StoredAuthentication[]>;
  /** Challenges in XTS that have not followed the clock of their account, at most `limit`. */
  behind(clock: SandboxClock, limit: number): Promise<StoredAuthentication[]>;
  /** Requests without a stored answer. */
  due: DueByAccount<StoredAuthentication>;
}

/** The variable fields of a request to the directory server. */
export interface DirectoryRequest {
  threeDSServerTransId: string;
  card: Secret<CardData>;
  customer: Customer;
  merchantAccount: string;
  /** At most 40 characters, as EMV 3-D Secure requires. */
  merchantName: string;
  midReference: string;
  amountE4: number;
  currency: string;
  /** Epoch ms. */
  acceptedAt: number;
  /** Called when it is the request's turn. */
  isTooLate: () => boolean;
}

export interface Directory {
  /** From the wait for a place to the end of the call. */
  readonly longestCallMs: number;
  /**
   * Prepares the call that authenticates the cardholder. A failed call is an answer, too. Throws if the request cannot
   * be expressed, e.g. for an unknown currency.
   */
  prepare(request: DirectoryRequest): () => Promise<DirectoryAnswer>;
}

export interface Cards {
  getCard(owner: CardOwner, token: string): Promise<Secret<CardData> | undefined>;
}

export interface Accounts {
  find(merchantAccount: string): Promise<Pick<Account, 'displayName' | 'returnHosts'> | undefined>;
}

export interface Ports {
  authentications: Authentications;
  /** The only way to change an authentication. */
  handle: Handle<Authentication, AuthenticationEvent>;
  cards: Cards;
  accounts: Accounts;
  directory: Directory;
  /** Calls to the directory server run after their message is done. */
  calls: Pick<DetachedWork, 'begin'>;
  proofs: Proofs;
  /** At least 128 random bits, base64url. */
  newPageId(): string;
  newId(): string;
  now(): number;
  /** Where browsers find the pages: scheme, host, port. */
  publicUrl: string;
  challengeTimeoutMs: number;
  tracer: Tracer;
  logger: Logger;
}
