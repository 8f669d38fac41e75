import type { ChallengeIds } from '../../domain/acs/challenge';
import { challengeResponse } from '../../domain/acs/challenge';
import type { ChallengeDecision } from '../../domain/directory/authentication';
import { CHALLENGE_DECISIONS } from '../../domain/directory/authentication';
import { MESSAGE_VERSION } from '../../domain/directory/messages';
import { HttpProblem } from './listener';

const BASE64URL = /^[A-Za-z0-9_-]+$/;
const WINDOW_SIZE = /^0[1-5]$/;

/** Messages of the browser's: base64url of JSON. Throws a 400 for anything else. */
function decoded(field: string, text: string | undefined): Record<string, unknown> {
  try {
    if (text === undefined || !BASE64URL.test(text)) throw new Error('not base64url');
    const message = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as unknown;
    if (typeof message !== 'object' || message === null) throw new Error('not an object');
    return message as Record<string, unknown>;
  } catch {
    throw new HttpProblem(400, `${field} is missing or malformed`);
  }
}

/** The ids in a `creq`. Throws a 400 when it is not a CReq of the version that is spoken here. */
export function readChallengeRequest(creq: string | undefined): ChallengeIds {
  const { messageType, messageVersion, acsTransID, threeDSServerTransID, challengeWindowSize } = decoded('creq', creq);
  if (messageType !== 'CReq' || messageVersion !== MESSAGE_VERSION) throw new HttpProblem(400, 'creq is not a CReq');
  if (typeof challengeWindowSize !== 'string' || !WINDOW_SIZE.test(challengeWindowSize)) {
    throw new HttpProblem(400, 'creq has no window size');
  }
  if (typeof acsTransID !== 'string' || typeof threeDSServerTransID !== 'string') {
    throw new HttpProblem(400, 'creq has no transaction ids');
  }
  return { acsTransID, threeDSServerTransID };
}

/** The `cres` that goes with a decision. */
export function writeChallengeResponse(ids: ChallengeIds, decision: ChallengeDecision): string {
  return Buffer.from(JSON.stringify(challengeResponse(ids, decision))).toString('base64url');
}

/**
 * A button's form: the decision, and which challenge it is about. Throws a 400 when `cres` is not what the page gave
 * out for this decision: it goes on to the 3DS server as it came.
 */
export function readDecision(
  acsTransID: string,
  form: ReadonlyMap<string, string>,
): { ids: ChallengeIds; decision: ChallengeDecision } {
  const decision = CHALLENGE_DECISIONS.find((known) => known === form.get('decision'));
  if (decision === undefined) throw new HttpProblem(400, 'decision is missing or unknown');
  const cres = form.get('cres');
  const { threeDSServerTransID } = decoded('cres', cres);
  if (typeof threeDSServerTransID !== 'string') throw new HttpProblem(400, 'cres has no transaction id');
  const ids = { acsTransID, threeDSServerTransID };
  if (writeChallengeResponse(ids, decision) !== cres) throw new HttpProblem(400, 'cres does not fit the decision');
  return { ids, decision };
}
