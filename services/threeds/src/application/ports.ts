import type { Account } from '@gateway/accounts';
import type { Customer } from '@gateway/contracts';
import type { NewMessage, Stored } from '@gateway/mongo';
import type { Logger, Secret } from '@gateway/service-kit';
import type { CardData } from '@gateway/vault';
import type { Authentication, AuthenticationEvent } from '../domain/authentication';
import type { DirectoryAnswer } from '../domain/decide';
import type { Proofs } from './proofs';

/** What the document of an authentication holds beside outbox and version. */
export interface AuthenticationBody extends Authentication {
  /** Of the command, so that what follows from a browser or a clock can be followed too. */
  correlationId: string;
}

export type StoredAuthentication = Stored<AuthenticationBody>;

/** By reference of the operation. Each look-up gives null where there is none. */
export interface Authentications {
  load(reference: string): Promise<StoredAuthentication | null>;
  findByPage(pageId: string): Promise<StoredAuthentication | null>;
  findByTransaction(threeDSServerTransId: string): Promise<StoredAuthentication | null>;
  /** Challenges whose time was over at `now`, the oldest first. */
  findExpired(now: number, limit: number): Promise<StoredAuthentication[]>;
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
}

export interface Directory {
  /**
   * Asks whether the cardholder is authenticated, within a time-out. Whatever the directory server does is an answer;
   * throws only for a request that cannot be put into words.
   */
  authenticate(request: DirectoryRequest): Promise<DirectoryAnswer>;
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
