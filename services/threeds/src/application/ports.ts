import type { Account } from '@gateway/accounts';
import type { Customer, Secret } from '@gateway/contracts';
import type { DueByAccount, Handle, Stored } from '@gateway/mongo';
import type { DetachedWork, Logger } from '@gateway/service-kit';
import type { CardData } from '@gateway/vault';
import type { Authentication, AuthenticationEvent } from '../domain/authentication';
import type { DirectoryAnswer } from '../domain/decide';
import type { Proofs } from './proofs';

export type StoredAuthentication = Stored<Authentication>;

/** By reference of the operation. Each look-up gives null where there is none. */
export interface Authentications {
  load(reference: string): Promise<StoredAuthentication | null>;
  findByPage(pageId: string): Promise<StoredAuthentication | null>;
  findByTransaction(threeDSServerTransId: string): Promise<StoredAuthentication | null>;
  /** Challenges whose time was over at `now`, the oldest first. */
  findExpired(now: number, limit: number): Promise<StoredAuthentication[]>;
  /** Requests without an answer on record. */
  due: DueByAccount<StoredAuthentication>;
}

/** What the directory server is told beside what is always the same. */
export interface DirectoryRequest {
  threeDSServerTransId: string;
  card: Secret<CardData>;
  customer: Customer;
  merchantAccount: string;
  midReference: string;
  amountE4: number;
  currency: string;
  /** Epoch ms. */
  acceptedAt: number;
  /** Asked when the request has its turn. */
  isTooLate: () => boolean;
}

export interface Directory {
  /** From asking for a place among the calls to the end of the call. */
  readonly longestCallMs: number;
  /**
   * The call that asks whether the cardholder is authenticated. Whatever the directory server does is an answer. Throws
   * for a request that cannot be put into words.
   */
  prepare(request: DirectoryRequest): () => Promise<DirectoryAnswer>;
}

export interface Cards {
  getCard(merchantAccount: string, token: string): Promise<Secret<CardData> | undefined>;
}

export interface Accounts {
  find(merchantAccount: string): Promise<Pick<Account, 'returnHosts'> | undefined>;
}

export interface Ports {
  authentications: Authentications;
  /** The only way in which an authentication changes. */
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
  logger: Logger;
}
