import type { Account } from '@gateway/accounts';
import type { AuthenticateCardholderData, Customer, Secret } from '@gateway/contracts';
import type { NewMessage, Stored } from '@gateway/mongo';
import type { DetachedWork, Logger } from '@gateway/service-kit';
import type { CardData } from '@gateway/vault';
import type { Authentication, AuthenticationEvent } from '../domain/authentication';
import type { DirectoryAnswer } from '../domain/decide';
import type { Proofs } from './proofs';

/** What the document of an authentication holds beside outbox and version. */
export interface AuthenticationBody extends Authentication {
  /** Of the command, so that what follows from a browser or a clock can be followed too. */
  correlationId: string;
  /** The command, as long as the directory server is to be asked: any replica can go on with it. */
  command?: { data: AuthenticateCardholderData; id: string };
  /** Epoch ms at which another replica may ask; present with `command`. */
  resolveAt?: number;
}

export type StoredAuthentication = Stored<AuthenticationBody>;

/** By reference of the operation. Each look-up gives null where there is none. */
export interface Authentications {
  load(reference: string): Promise<StoredAuthentication | null>;
  findByPage(pageId: string): Promise<StoredAuthentication | null>;
  findByTransaction(threeDSServerTransId: string): Promise<StoredAuthentication | null>;
  /** Challenges whose time was over at `now`, the oldest first. */
  findExpired(now: number, limit: number): Promise<StoredAuthentication[]>;
  /** Accounts with requests that nobody answers for, in ascending order: those after `after`, at most `limit`. */
  accountsWithUnanswered(now: number, after: string, limit: number): Promise<string[]>;
  /** Takes one of the account's, and keeps other replicas off it for `leaseMs`. */
  claimUnanswered(merchantAccount: string, leaseMs: number): Promise<StoredAuthentication | null>;
  insert(
    reference: string,
    body: AuthenticationBody,
    events: readonly NewMessage[],
  ): Promise<StoredAuthentication | undefined>;
  update(
    previous: StoredAuthentication,
    body: AuthenticationBody,
    events: readonly NewMessage[],
  ): Promise<StoredAuthentication | undefined>;
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
  cards: Cards;
  accounts: Accounts;
  directory: Directory;
  /** Calls to the directory server go on after their message is done. */
  calls: Pick<DetachedWork, 'begin'>;
  proofs: Proofs;
  /** Has the outbox of an authentication published soon; never throws. */
  publishEvents(authentication: StoredAuthentication): void;
  /** Counts what has been written. */
  recorded(event: AuthenticationEvent): void;
  /** At least 128 random bits, base64url. */
  newPageId(): string;
  newId(): string;
  now(): number;
  /** Where browsers find the pages: scheme, host, port. */
  publicUrl: string;
  challengeTimeoutMs: number;
  logger: Logger;
}
