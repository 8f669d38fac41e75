import type { DecidedChallenge } from '../../domain/directory/authentication';
import type { Authentications, Stored } from '../directory/ports';

export interface AcsPorts {
  authentications: Authentications;
  /** Epoch ms. */
  now(): number;
  /** Has the directory server make the first attempt to send a result; later ones are its own affair. */
  reportResult(challenge: Stored<DecidedChallenge>): Promise<void>;
}
