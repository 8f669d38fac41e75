import type { ChallengeIds } from '../../domain/acs/challenge';
import type { DecidedChallenge, OpenChallenge } from '../../domain/directory/authentication';
import type { AcsPorts } from './ports';

/** `unknown`: no such challenge. `misfit`: there is one, but it belongs to another transaction of the 3DS server. */
export type NoChallenge = 'unknown' | 'misfit';

export interface FoundChallenge {
  authentication: OpenChallenge | DecidedChallenge;
  version: number;
}

/** The challenge that a browser names. */
export async function findChallenge(
  { authentications }: AcsPorts,
  { acsTransID, threeDSServerTransID }: ChallengeIds,
  options: { latest: boolean } = { latest: false },
): Promise<FoundChallenge | NoChallenge> {
  const stored = await (options.latest ? authentications.findLatest(acsTransID) : authentications.find(acsTransID));
  if (stored === undefined || stored.authentication.state === 'answered') return 'unknown';
  const { authentication, version } = stored;
  return authentication.request.threeDSServerTransID === threeDSServerTransID ? { authentication, version } : 'misfit';
}
