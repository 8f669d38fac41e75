import type { ChallengeIds } from '../../domain/acs/challenge';
import { decideChallenge } from '../../domain/acs/challenge';
import type { ChallengeDecision, DecidedChallenge } from '../../domain/directory/authentication';
import { untilSettled } from '../until-settled';
import type { NoChallenge } from './find-challenge';
import { findChallenge } from './find-challenge';
import type { AcsPorts } from './ports';

/**
 * The cardholder's decision: the first one stays, whichever came since. Returns when the first attempt to tell the 3DS
 * server is over, so that the browser does not get there before the result.
 */
export function answerChallenge(
  ports: AcsPorts,
  ids: ChallengeIds,
  decision: ChallengeDecision,
): Promise<DecidedChallenge | NoChallenge> {
  return untilSettled(async (lost) => {
    const found = await findChallenge(ports, ids, { latest: lost > 0 });
    if (typeof found === 'string') return found;
    const { authentication } = found;
    if (authentication.state === 'decided') return authentication;
    const decided = await ports.authentications.replace(found, decideChallenge(authentication, decision, ports.now()));
    if (decided === undefined) return undefined;
    await ports.reportResult(decided);
    return decided.authentication;
  });
}
