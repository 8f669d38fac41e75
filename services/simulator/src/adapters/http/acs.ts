import { answerChallenge } from '../../application/acs/answer-challenge';
import type { NoChallenge } from '../../application/acs/find-challenge';
import { findChallenge } from '../../application/acs/find-challenge';
import type { AcsPorts } from '../../application/acs/ports';
import { readChallengeRequest, readDecision } from './acs-messages';
import { alreadyAnsweredPage, challengePage, errorPage } from './acs-pages';
import type { HttpAnswer, HttpRequest, Route } from './listener';
import { HttpProblem } from './listener';

export const CHALLENGE_PATH = '/acs/v2/challenge';

/** base64url; long enough for a 3DS server that keeps a whole address in it. */
const SESSION_DATA = /^[A-Za-z0-9_-]{0,8192}={0,2}$/;

/**
 * The issuer's access control server: a page for the cardholder, and what its buttons lead to. `acsURL` is how browsers
 * reach {@link CHALLENGE_PATH}. Knowing the ids of a challenge is the permission to answer it.
 */
export function acsRoutes(ports: AcsPorts, acsURL: () => string): Route[] {
  const actionOf = ({ acsTransID }: { acsTransID: string }): string => `${acsURL()}/${acsTransID}/decision`;

  async function show(request: HttpRequest): Promise<HttpAnswer> {
    const form = await request.form();
    const ids = readChallengeRequest(form.get('creq'));
    const sessionData = readSessionData(form);
    const found = await findChallenge(ports, ids);
    if (typeof found === 'string') throw noChallenge(found);
    const challenge = found.authentication;
    const action = actionOf(challenge);
    const page =
      challenge.state === 'decided'
        ? alreadyAnsweredPage({ challenge, sessionData, action })
        : challengePage({ challenge, sessionData, action });
    return { kind: 'page', status: 200, page };
  }

  async function decide(request: HttpRequest): Promise<HttpAnswer> {
    const form = await request.form();
    const { ids, decision } = readDecision(request.params['acsTransID'] ?? '', form);
    const sessionData = readSessionData(form);
    const challenge = await answerChallenge(ports, ids, decision);
    if (typeof challenge === 'string') throw noChallenge(challenge);
    if (challenge.decision === decision) {
      return { kind: 'post-again', location: challenge.request.notificationURL };
    }
    const page = alreadyAnsweredPage({ challenge, sessionData, action: actionOf(challenge) });
    return { kind: 'page', status: 200, page };
  }

  return [
    { method: 'POST', path: CHALLENGE_PATH, handle: show, refusal },
    { method: 'POST', path: `${CHALLENGE_PATH}/:acsTransID/decision`, handle: decide, refusal },
  ];
}

function readSessionData(form: ReadonlyMap<string, string>): string {
  const sessionData = form.get('threeDSSessionData') ?? '';
  if (!SESSION_DATA.test(sessionData)) throw new HttpProblem(400, 'threeDSSessionData is malformed');
  return sessionData;
}

function noChallenge(reason: NoChallenge): HttpProblem {
  return reason === 'unknown'
    ? new HttpProblem(404, 'There is no such challenge, or it is too long ago.')
    : new HttpProblem(400, 'The ids do not belong to the same transaction.');
}

/** A browser gets a page, whatever happens. */
function refusal({ status, message }: HttpProblem): HttpAnswer {
  return { kind: 'page', status, page: errorPage(status, message) };
}
