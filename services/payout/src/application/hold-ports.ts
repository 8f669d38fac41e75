import type { Scope } from '../domain/holds';

/** Something that an operator holds. */
export interface Hold {
  scope: Scope;
  /** Epoch ms. */
  since: number;
  /** The operator's name. */
  by: string;
}

/** More would make every submission read too much: hold the account, or everything. */
export const HOLDS_MAX = 1_000;

/** An operator who holds payouts waits for each of their figures this long, and can do without them. */
export const HELD_COUNT_TIMEOUT_MS = 5_000;

/** What operators hold. All replicas read it from the database, never from a cache. */
export interface Holds {
  /**
   * A read that begins after a payout's intent was stored either finds every hold that was answered by then, or the
   * operator who sets a hold later finds the intent.
   */
  read(): Promise<Hold[]>;
  /** `known`: it is held already. `full`: {@link HOLDS_MAX} are. */
  hold(scope: Scope, by: string): Promise<'held' | 'known' | 'full'>;
  /** False if there is no such hold. */
  release(scope: Scope): Promise<boolean>;
  /** Releases those of these scopes that are held. */
  releaseAll(scopes: readonly Scope[]): Promise<void>;
}
