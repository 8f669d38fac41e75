import type {
  AuthenticationOutcome,
  ChallengeDecision,
  DecidedChallenge,
  OpenChallenge,
} from '../directory/authentication';
import { underWay } from '../directory/delivery';
import { eciOf } from '../directory/eci';
import { MESSAGE_VERSION } from '../directory/messages';

/** What names a challenge: whoever knows both ids may see and answer it. */
export interface ChallengeIds {
  acsTransID: string;
  threeDSServerTransID: string;
}

/** The cardholder's decision. The first attempt to send the result is the caller's. */
export function decideChallenge(challenge: OpenChallenge, decision: ChallengeDecision, now: number): DecidedChallenge {
  const { acsTransID, dsTransID, request, at } = challenge;
  const outcome = outcomeOf(challenge, decision);
  return {
    acsTransID,
    dsTransID,
    request,
    at,
    state: 'decided',
    decision,
    decidedAt: now,
    outcome,
    delivery: underWay(0, now),
  };
}

function outcomeOf(challenge: OpenChallenge, decision: ChallengeDecision): AuthenticationOutcome {
  const { authenticationValue, request } = challenge;
  switch (decision) {
    case 'success':
      return { transStatus: 'Y', eci: eciOf('authenticated', request.card.brand), authenticationValue };
    case 'failure':
      return { transStatus: 'N' };
    case 'cancel':
      return { transStatus: 'N', challengeCancel: '01' };
  }
}

/** What the browser carries back to the 3DS server. It proves nothing: the result message does. */
export function challengeResponse({ acsTransID, threeDSServerTransID }: ChallengeIds, decision: ChallengeDecision) {
  return {
    messageType: 'CRes',
    messageVersion: MESSAGE_VERSION,
    threeDSServerTransID,
    acsTransID,
    challengeCompletionInd: 'Y',
    transStatus: decision === 'success' ? 'Y' : 'N',
  };
}
