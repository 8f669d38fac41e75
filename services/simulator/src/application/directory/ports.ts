import type { Authentication } from '../../domain/directory/authentication';
import type { AttemptEnd } from '../../domain/directory/delivery';
import type { ResultRequest } from '../../domain/directory/messages';

/** An authentication with the version that guards its next change. */
export interface Stored<A extends Authentication = Authentication> {
  authentication: A;
  version: number;
}

/** Shared by directory server, ACS and all replicas. Writes are durable when they return. */
export interface Authentications {
  /** False when there is an authentication with this `threeDSServerTransID`. */
  insert(authentication: Authentication): Promise<boolean>;
  /** Conditional on nobody having changed it since `previous` was read: undefined when somebody did. */
  replace<A extends Authentication>(previous: Stored, next: A): Promise<Stored<A> | undefined>;
  /** Sees only what is durable. */
  find(acsTransID: string): Promise<Stored | undefined>;
  /** Sees what just refused a change, and waits until it is durable. */
  findLatest(acsTransID: string): Promise<Stored | undefined>;
  /** Sees what just refused an insert, and waits until it is durable. */
  findLatestOf(threeDSServerTransID: string): Promise<Stored | undefined>;
  /** Some of those whose result message may be sent now, the longest due first. */
  findDue(now: number): Promise<Stored[]>;
}

export interface DirectoryPorts {
  authentications: Authentications;
  /** Epoch ms. */
  now(): number;
  /** UUID, unpredictable. */
  newTransactionId(): string;
  /** Base64 of 20 random bytes. */
  newAuthenticationValue(): string;
  /** Sends a result message to a 3DS server, within a time-out. Never throws: whatever happens is an end. */
  sendResult(url: string, message: ResultRequest): Promise<AttemptEnd>;
}
